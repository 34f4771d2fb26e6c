import { setTimeout as pause } from 'node:timers/promises';
import { allowKey, type AllowCache } from '#activities/clients/cache/allow-cache.ts';
import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import type { AuthorizationState } from '#entities/kit/access/authorization-state.ts';
import type { Authorizer, CheckRequest, CheckResult } from '#entities/kit/access/authorizer.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { TupleRelay } from '../tuples/tuple-relay.ts';

/** Longest time a decision waits for changed rights to reach the store, in milliseconds. */
const timeoutMs = 1_000;

/** Pause between two reads of the authorization state while waiting, in milliseconds. */
const pauseMs = 20;

interface StoreAuthorizerOptions {
  readonly store: Pick<AuthorizationStore, 'check'>;
  readonly tuples: Pick<TupleRelay, 'apply'>;
  readonly allows: AllowCache;
}

/**
 * Decides single checks: from the allow cache, else by the authorization store. Changed rights that have not
 * reached the store are applied first, so nothing is allowed that the rows no longer allow.
 */
export class StoreAuthorizer implements Authorizer {
  readonly #options: StoreAuthorizerOptions;

  constructor(options: StoreAuthorizerOptions) {
    this.#options = options;
  }

  async decide(request: CheckRequest, readState: () => Promise<AuthorizationState>): Promise<CheckResult> {
    const { store, allows } = this.#options;
    const state = await this.#settled(readState, await readState(), ({ isStale }) => isStale);
    if (state.isStale) throw unavailable();
    const key = allowKey(request, state.revisions);
    if (await allows.has(key)) return { isAllowed: true, by: 'cache' };
    let isAllowed = await store.check(request);
    if (!isAllowed && state.hasPending) {
      // A tuple that allows it may still be pending: tuples of new records are not waited for above.
      await this.#settled(readState, state, ({ hasPending }) => hasPending);
      isAllowed = await store.check(request);
    }
    if (isAllowed) await allows.add(key);
    return { isAllowed, by: 'store' };
  }

  /** Applies pending tuples until none is left or the time is up; other processes may be applying some of them. */
  async #settled(
    readState: () => Promise<AuthorizationState>,
    first: AuthorizationState,
    isPending: (state: AuthorizationState) => boolean,
  ): Promise<AuthorizationState> {
    const endsAt = performance.now() + timeoutMs;
    for (let state = first; ; state = await readState()) {
      if (!isPending(state) || performance.now() > endsAt) return state;
      if (state !== first) await pause(pauseMs);
      await this.#applyUntil(endsAt);
    }
  }

  /** Applies pending tuples and waits for that until `endsAt`. */
  async #applyUntil(endsAt: number): Promise<void> {
    const applied = this.#options.tuples.apply().catch((cause: unknown) => {
      throw unavailable(cause);
    });
    await withTimeout(applied, endsAt - performance.now(), () => undefined);
  }
}

function unavailable(cause?: unknown): AppError {
  return new AppError(
    'authorization_unavailable',
    'Changed rights have not reached the authorization store yet; try again in a moment.',
    { cause, details: { retryAfterSeconds: 1 } },
  );
}
