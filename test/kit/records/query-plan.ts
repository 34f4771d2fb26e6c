import { escapeLiteral } from 'pg';
import { callerOf, type Caller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { newId } from '#entities/kit/base/ids.ts';

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

/**
 * The plan of a statement as the product would run it for this caller: role, tenant settings and bound values are its own.
 * @param options.kept the plan for any values, to which PostgreSQL may change after it prepared a statement and ran it a few times
 */
export async function planOf(
  database: Database,
  caller: Caller,
  statement: Statement,
  options: { readonly analyze?: boolean; readonly kept?: boolean; readonly role?: 'app' | 'system' } = {},
): Promise<PlanNode> {
  const unit = database.unitOfWork({ caller: callerOf(caller), requestId: `plan-${newId()}` });
  try {
    const session = await unit.readAs(options.role ?? 'app');
    const explain = `explain (format json${options.analyze ? ', analyze, buffers, timing off' : ''})`;
    if (options.kept) {
      await session.query('set local plan_cache_mode = force_generic_plan');
      await session.query(`prepare kept as ${statement.text}`);
    }
    const values = options.kept ? [] : statement.values;
    const translateWriteError = options.kept ? `execute kept${literals(statement.values)}` : statement.text;
    const { rows } = await session.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
      `${explain} ${translateWriteError}`,
      values,
    );
    if (options.kept) await session.query('deallocate kept');
    return (rows[0] as (typeof rows)[number])['QUERY PLAN'][0].Plan;
  } finally {
    await unit.rollback();
  }
}

/** Values as EXECUTE takes them, which cannot be given any to bind. */
function literals(values: readonly unknown[]): string {
  return values.length === 0 ? '' : `(${values.map(literal).join(', ')})`;
}

function literal(value: unknown): string {
  if (value === null) return 'null';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return escapeLiteral(Array.isArray(value) ? `{${text.slice(1, -1)}}` : text);
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
