import { setTimeout } from 'node:timers/promises';
import { rememberedKey, type AllowCache } from '#activities/clients/cache/allow-cache.ts';
import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import type { AuthorizationState } from '#entities/kit/access/authorization-state.ts';
import type { Authorizer, CheckRequest, CheckResult } from '#entities/kit/access/authorizer.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { TupleRelay } from '../tuples/tuple-relay.ts';

/** Longest that a decision waits for changed rights to reach the store, and between two looks, in milliseconds. */
const patienceMs = 1_000;
const pauseMs = 20;

export interface StoreAuthorizerOptions {
  readonly store: Pick<AuthorizationStore, 'check'>;
  readonly tuples: Pick<TupleRelay, 'apply'>;
  readonly allows: AllowCache;
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

  async decide(question: CheckRequest, readState: () => Promise<AuthorizationState>): Promise<CheckResult> {
    const { store, allows } = this.#options;
    const state = await this.#settled(readState, await readState(), ({ isStale }) => isStale);
    if (state.isStale) throw unavailable();
    const key = rememberedKey(question, state.revisions);
    if (await allows.has(key)) return { isAllowed: true, by: 'cache' };
    let isAllowed = await store.check(question);
    if (!isAllowed && state.hasPending) {
      // What speaks for the caller may be on its way: tuples of new records are not waited for before.
      await this.#settled(readState, state, ({ hasPending }) => hasPending);
      isAllowed = await store.check(question);
    }
    if (isAllowed) await allows.add(key);
    return { isAllowed, by: 'store' };
  }

  /** Applies what waits, until it does not any more or patience ends: other processes may have some of it in hand. */
  async #settled(
    readState: () => Promise<AuthorizationState>,
    first: AuthorizationState,
    waits: (state: AuthorizationState) => boolean,
  ): Promise<AuthorizationState> {
    const endsAt = performance.now() + patienceMs;
    for (let state = first; ; state = await readState()) {
      if (!waits(state) || performance.now() > endsAt) return state;
      if (state !== first) await setTimeout(pauseMs);
      await this.#applyUntil(endsAt);
    }
  }

  /** Waits for what waits to be applied; past the end it goes on without anybody, and its failure is nobody's. */
  async #applyUntil(endsAt: number): Promise<void> {
    const applied = this.#options.tuples.apply().catch((cause: unknown) => {
      throw unavailable(cause);
    });
    const patience = new AbortController();
    const over = setTimeout(Math.max(0, endsAt - performance.now()), undefined, { signal: patience.signal });
    // The race listens to both, so the one that loses may fail without being unhandled.
    await Promise.race([applied, over]).finally(() => patience.abort());
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    'authorization_unavailable',
    'Rights have changed and the authorization store does not know yet; try again in a moment.',
    { cause, details: { retryAfterSeconds: 1 } },
  );
}
