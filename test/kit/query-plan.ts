import { callerOf, type Caller } from '#entities/kit/caller.ts';
import type { Database } from '#entities/kit/database.ts';
import { newId } from '#entities/kit/ids.ts';

/** A node of PostgreSQL's plan, as EXPLAIN (FORMAT JSON) prints it. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The plan of a statement as the product would run it for this caller: role, tenant settings and bound values are its own. */
export async function planOf(
  database: Database,
  caller: Caller,
  statement: Statement,
  options: { readonly analyze?: boolean } = {},
): Promise<PlanNode> {
  const unit = database.unitOfWork({ caller: callerOf(caller), requestId: `plan-${newId()}` });
  try {
    const session = await unit.readAs('app');
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `explain (format json${options.analyze ? ', analyze, buffers, timing off' : ''}) ${statement.text}`,
      statement.values,
    );
    return (rows[0] as (typeof rows)[number])['QUERY PLAN'][0].Plan;
  } finally {
    await unit.rollback();
  }
}

/** All nodes that read a table or an index. */
export function scansOf(node: PlanNode): PlanNode[] {
  const below = (node.Plans ?? []).flatMap(scansOf);
  return node['Relation Name'] !== undefined || node['Index Name'] !== undefined ? [node, ...below] : below;
}

/** Rows that were looked at, whether they were wanted or not. */
export function rowsRead(plan: PlanNode): number {
  return scansOf(plan)
    .filter((scan) => scan['Relation Name'] !== undefined)
    .map((scan) => ((scan['Actual Rows'] ?? 0) + (scan['Rows Removed by Filter'] ?? 0)) * (scan['Actual Loops'] ?? 0))
    .reduce((sum, rows) => sum + rows, 0);
}

/** Pages that were looked at, from memory or from disk. */
export function pagesRead(plan: PlanNode): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}
