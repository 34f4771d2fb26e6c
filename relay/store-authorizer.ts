import { rememberedKey, type RememberedAllows } from '#activities/clients/cache/remembered-allows.ts';
import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import type { AuthorizationState } from '#entities/kit/authorization-state.ts';
import type { Authorizer, Question, Verdict } from '#entities/kit/authorizer.ts';
import { AppError } from '#entities/kit/errors.ts';
import type { TupleRelay } from './tuple-relay.ts';

export interface StoreAuthorizerOptions {
  readonly store: Pick<AuthorizationStore, 'check'>;
  readonly tuples: Pick<TupleRelay, 'apply'>;
  readonly allows: RememberedAllows;
}

/**
 * Single decisions: from what is remembered, else from the authorization store (design, Authorization). Rights that changed and
 * have not reached the store are brought there first, so nothing is allowed that the rows do not allow any more.
 */
export class StoreAuthorizer implements Authorizer {
  readonly #options: StoreAuthorizerOptions;

  constructor(options: StoreAuthorizerOptions) {
    this.#options = options;
  }

  async decide(question: Question, readState: () => Promise<AuthorizationState>): Promise<Verdict> {
    const { store, allows } = this.#options;
    const state = await this.#caughtUp(readState);
    const key = rememberedKey(question, state.revisions);
    if (await allows.has(key)) return { isAllowed: true, by: 'cache' };
    let isAllowed = await store.check(question);
    if (!isAllowed && state.hasWaiting) {
      // What speaks for the caller may be on its way: tuples of new records are not waited for before.
      await this.#apply();
      isAllowed = await store.check(question);
    }
    if (isAllowed) await allows.add(key);
    return { isAllowed, by: 'store' };
  }

  async #caughtUp(readState: () => Promise<AuthorizationState>): Promise<AuthorizationState> {
    const state = await readState();
    if (!state.isBehind) return state;
    await this.#apply();
    const now = await readState();
    if (now.isBehind) throw unavailable();
    return now;
  }

  async #apply(): Promise<void> {
    try {
      await this.#options.tuples.apply();
    } catch (error) {
      throw unavailable(error);
    }
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    'authorization_unavailable',
    'Rights have changed and the authorization store does not know yet; try again in a moment.',
    { cause, details: { retryAfterSeconds: 1 } },
  );
}
