import type { AuthorizationStore } from '#activities/clients/fga/authorization-store.ts';
import { systemCaller } from '#entities/kit/caller.ts';
import type { Database } from '#entities/kit/database.ts';
import { markApplied, unappliedTuples } from '#entities/kit/desired-tuples.ts';
import { failpoint } from '#entities/kit/failpoint.ts';
import { newId } from '#entities/kit/ids.ts';

export interface TupleRelayOptions {
  readonly database: Database;
  readonly store: AuthorizationStore;
  /** `authz.maxbatchwritesize`. */
  readonly maxBatch: () => number;
}

/**
 * Brings the authorization store to the desired tuples. The rows stay locked while they are written there, so an older
 * state can never land after a newer one.
 */
export class TupleRelay {
  readonly #options: TupleRelayOptions;

  constructor(options: TupleRelayOptions) {
    this.#options = options;
  }

  /**
   * Applies all that is free to be applied.
   * @returns how many tuples were written
   * @throws AppError authorization_unavailable; the rows then stay as they are
   */
  async apply(): Promise<number> {
    let applied = 0;
    for (;;) {
      const count = await this.#applyBatch();
      applied += count;
      if (count < this.#options.maxBatch()) return applied;
    }
  }

  async #applyBatch(): Promise<number> {
    const { database, store, maxBatch } = this.#options;
    return database.transact({ caller: systemCaller('tuple relay'), requestId: `tuples-${newId()}` }, async (unit) => {
      const tuples = await unappliedTuples(unit, maxBatch());
      if (tuples.length === 0) return 0;
      failpoint('tuples-before-write');
      await store.write(
        tuples.filter((tuple) => tuple.present),
        tuples.filter((tuple) => !tuple.present),
      );
      failpoint('tuples-after-write');
      await markApplied(unit, tuples);
      return tuples.length;
    });
  }
}
