import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { lockUnapplied, markApplied } from '#entities/kit/outbox/desired-tuples.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { Tuple } from '#entities/kit/model/tuples.ts';

interface TupleRelayOptions {
  readonly database: Database;
  readonly store: AuthorizationStore;
  /** `authz.maxbatchwritesize`. */
  readonly maxBatch: () => number;
}

/**
 * Brings the authorization store to the desired tuples. A tuple stays locked until its write has ended, so no relay writes an
 * older state after a newer one (docs/decisions/tuple-order.md).
 */
export class TupleRelay {
  readonly #options: TupleRelayOptions;
  #running: Promise<number> | undefined;
  #next: Promise<number> | undefined;

  constructor(options: TupleRelayOptions) {
    this.#options = options;
  }

  /**
   * Applies all pending tuples that are not locked. A process does this once at a time: callers that come meanwhile share the
   * next run, so a slow store occupies one connection and not all of them.
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
    // Tuples that a request is changing stay unapplied; without this they would be read again and again.
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
    const limit = maxBatch();
    return database.transact({ caller: systemCaller('tuple relay'), requestId: `tuples-${newId()}` }, async (unit) => {
      const tuples = await lockUnapplied(unit, limit, except);
      if (tuples.length === 0) return { count: 0, held: [], isDone: true };
      failpoint('tuples-before-write');
      await store.write(
        tuples.filter((tuple) => tuple.present),
        tuples.filter((tuple) => !tuple.present),
      );
      failpoint('tuples-after-write');
      const { hasChanged, skipped: held } = await markApplied(unit, tuples);
      return { count: tuples.length, held, isDone: tuples.length < limit && !hasChanged };
    });
  }
}

interface Batch {
  readonly count: number;
  /** Tuples that were written but stay unapplied, because a request is changing them. */
  readonly held: readonly Tuple[];
  readonly isDone: boolean;
}
