import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { lockUnapplied, markApplied } from '#entities/kit/outbox/desired-tuples.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';

export interface TupleRelayOptions {
  readonly database: Database;
  readonly store: AuthorizationStore;
  /** `authz.maxbatchwritesize`. */
  readonly maxBatch: () => number;
}

/**
 * Brings the authorization store to the desired tuples. Whoever writes a tuple keeps the other relays from it until the
 * write has ended, so an older state never lands after a newer one (docs/decisions/tuple-order.md).
 */
export class TupleRelay {
  readonly #options: TupleRelayOptions;
  #running: Promise<number> | undefined;
  #next: Promise<number> | undefined;

  constructor(options: TupleRelayOptions) {
    this.#options = options;
  }

  /**
   * Applies all that is free to be applied. One run at a time in a process: callers that come meanwhile share the one after
   * it, so that a slow store holds one connection and not all of them.
   * @returns how many tuples were written
   * @throws AppError authorization_unavailable; the rows then stay as they are
   */
  apply(): Promise<number> {
    if (!this.#running) {
      this.#running = this.#applyAll().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    this.#next ??= this.#running
      .catch(() => 0)
      .then(() => {
        this.#next = undefined;
        return this.apply();
      });
    return this.#next;
  }

  async #applyAll(): Promise<number> {
    let applied = 0;
    // What a request is changing would come again at once, for as long as that takes.
    const held: Tuple[] = [];
    for (;;) {
      const batch = await this.#applyBatch(held);
      applied += batch.count;
      held.push(...batch.held);
      if (batch.isDone) return applied;
    }
  }

  async #applyBatch(except: readonly Tuple[]): Promise<Batch> {
    const { database, store, maxBatch } = this.#options;
    const most = maxBatch();
    return database.transact({ caller: systemCaller('tuple relay'), requestId: `tuples-${newId()}` }, async (unit) => {
      const tuples = await lockUnapplied(unit, most, except);
      if (tuples.length === 0) return { count: 0, held: [], isDone: true };
      failpoint('tuples-before-write');
      await store.write(
        tuples.filter((tuple) => tuple.present),
        tuples.filter((tuple) => !tuple.present),
      );
      failpoint('tuples-after-write');
      const { hasChanged, held } = await markApplied(unit, tuples);
      return { count: tuples.length, held, isDone: tuples.length < most && !hasChanged };
    });
  }
}

interface Batch {
  readonly count: number;
  /** Tuples that were written and stay unapplied. */
  readonly held: readonly Tuple[];
  readonly isDone: boolean;
}
