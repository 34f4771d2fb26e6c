import type { Config } from '#config/objects/root.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { BackfillPage } from '#entities/organizations/backfill-rows.ts';

/**
 * Gives existing records what a new release needs, once. Files named `….backfill.ts` are found in `activities/backfills`. A page is one
 * transaction, whose changes are recorded in history and announce no events.
 */
export interface Backfill {
  /** In kebab-case; it never changes. */
  readonly name: string;
  /** Raised when all records are to be looked at again. */
  readonly version: number;
  /** One line for operators. */
  readonly description: string;
  /** Whether the configuration wants it. While it does not, the backfill waits. */
  readonly isWanted: (config: Config) => boolean;
  /** Ids of the next records, in their order. */
  readonly find: (unit: UnitOfWork, page: BackfillPage) => Promise<readonly string[]>;
  /**
   * Changes those of the records that still lack something: it locks them before it decides, and leaves what people have changed.
   * @returns how many records it changed or created
   */
  readonly apply: (unit: UnitOfWork, ids: readonly string[]) => Promise<number>;
}

export function defineBackfill(backfill: Backfill): Backfill {
  return backfill;
}
