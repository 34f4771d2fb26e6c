import type { PlanCache } from '../read/plan-cache.ts';
import type { Statement } from '../storage/sql.ts';
import type { Work } from '../storage/work.ts';

/** What reads for answers need of a unit of work. */
export interface AnswerWork extends Work {
  readonly plans: PlanCache;
  /**
   * Runs the only statement of this unit of work and ends it: begin, statement and end travel together. If work has already
   * started, falls back to the normal transaction.
   * @param statement whose values are all text
   * @returns rows of values as text
   * @throws AppError, see `Transaction.query`
   */
  readInOneStatement(statement: Statement): Promise<readonly (readonly (string | null)[])[]>;
}
