import { sql } from 'kysely';
import type { Sql } from '../storage/sql.ts';

/**
 * A lateral statement, or that of an EXISTS, that is run once for each row. The planner overestimates the rows of a recursive query:
 * without `offset 0` it may scan the whole organization at each step, in particular with a generic plan.
 */
export function perRow(statement: Sql): Sql {
  return sql`${statement} offset 0`;
}
