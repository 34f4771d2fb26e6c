import type { ReadStatement } from '../read/answer-statements.ts';
import type { PlanCache } from '../read/plan-cache.ts';
import type { Statement } from '../storage/sql.ts';
import type { Work } from '../storage/work.ts';

/** A statement that is sent with a single-statement read. */
export interface SidecarStatement {
  /** All its result columns are text. */
  readonly statement: Statement;
  /** Is given its rows. */
  readonly take: (rows: readonly (readonly (string | null)[])[]) => void;
}

/** The part of a unit of work that `Answers` needs. */
export interface AnswerWork extends Work {
  readonly plans: PlanCache;
  /**
   * Runs the only statement of this unit of work and ends it, in one round trip (storage/one-round-trip.ts). If work has already
   * started, falls back to the normal transaction.
   * @param statement all its result columns are text
   * @returns rows of text values
   * @throws AppError, see `Transaction.query`
   */
  readInOneStatement(
    statement: ReadStatement,
    sidecar?: SidecarStatement,
  ): Promise<readonly (readonly (string | null)[])[]>;
}
