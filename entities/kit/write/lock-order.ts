import { sql } from 'kysely';
import { compareText } from '../base/compare-text.ts';
import { isId } from '../base/ids.ts';
import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { lockOf } from '../read/rows.ts';
import { Viewer } from '../read/viewer.ts';
import { visible } from '../read/visibility.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import { dependentPredicate, dependentsOf, type Dependent } from './cascade.ts';
import { maxRows } from './change-counters.ts';
import { followsOf, leavesOf } from './change-behaviour.ts';
import type { ChangeWork } from './change-work.ts';
import { lockHierarchies } from './references.ts';

/** Records that an operation will change or delete. */
export interface LockTarget {
  readonly module: EntityModule;
  readonly ids: readonly string[];
  readonly operation: 'edit' | 'remove';
  readonly values: Readonly<Record<string, unknown>>;
}

/** Most dependents that are locked before a deletion begins; the cascade locks those of larger deletions in pieces. */
const maxDependents = 10_000;

interface Located {
  readonly kind: string;
  readonly id: string;
}

/**
 * Locks the records that an operation will change, and the dependents of those that it will delete, in one order: by table, then by
 * id. Hierarchies are locked before. Concurrent operations that lock in this order wait for each other, but cannot deadlock
 * (docs/decisions/lock-order.md). It decides nothing: records that the caller cannot view are left out, and who may change the
 * others is decided under the lock.
 */
export async function lockInOrder(work: ChangeWork, caller: Caller, targets: readonly LockTarget[]): Promise<void> {
  // The operation will be refused.
  if (targets.reduce((sum, { ids }) => sum + ids.length, 0) > maxRows) return;
  for (const { module, values } of targets.toSorted((a, b) => compareText(a.module.kind, b.module.kind)))
    await lockHierarchies(work, caller, module, values);
  const roots = await visibleRecords(work, caller, targets);
  const removed = new Set(targets.flatMap(({ operation, ids }) => (operation === 'remove' ? ids : [])));
  const dependents = await dependentsBelow(
    work,
    roots.filter(({ id }) => removed.has(id)),
  );
  // Changes of one record lock it themselves.
  if (roots.length + dependents.length > 1)
    await lockAll(work, [...roots, ...dependents], new Set([...removed, ...dependents.map(({ id }) => id)]));
}

/** Whether the deletion of a record of this kind can delete others. */
export function hasDependents(registry: Registry, module: EntityModule): boolean {
  return dependentsOf(registry, module).length > 0;
}

async function visibleRecords(
  work: ChangeWork,
  caller: Caller,
  targets: readonly LockTarget[],
): Promise<readonly Located[]> {
  const viewer = Viewer.of(work.registry, caller);
  const parts = [...Map.groupBy(targets, ({ module }) => module)].map(([module, own]) => {
    // Malformed ids match no record.
    const ids = [...new Set(own.flatMap((target) => target.ids))].filter((id) => isId(id));
    return sql`select ${module.kind}::text as kind, ${column('row', 'id')} as id from ${sql.table(module.table)} as row
      where ${column('row', 'id')} = any(${ids}) and ${visible(module, 'row', viewer)}`;
  });
  const session = await work.readAs(databaseRoleOf(caller));
  const { text, values } = compileSql(sql.join(parts, sql` union all `));
  return (await session.query<{ kind: string; id: string }>(text, values)).rows;
}

/** The records that are deleted together with these, or none when there are too many to lock them in advance. */
async function dependentsBelow(work: ChangeWork, roots: readonly Located[]): Promise<readonly Located[]> {
  const steps = stepsBelow(work.registry, new Set(roots.map(({ kind }) => kind)));
  if (steps.length === 0) return [];
  // Of the system role: dependents may belong to organizations that the caller is not in.
  const { text, values } = compileSql(sql`with recursive owned (kind, id) as (
      select * from unnest(${roots.map(({ kind }) => kind)}::text[], ${roots.map(({ id }) => id)}::text[])
      union
      select below.kind, below.id from owned cross join lateral (${sql.join(steps, sql` union all `)} offset 0) as below)
    select kind, id from owned limit ${maxDependents + roots.length + 1}`);
  const rows = await work.rowsAsSystem<{ kind: string; id: string }>(text, values);
  const known = new Set(roots.map(({ id }) => id));
  return rows.length > maxDependents + roots.length ? [] : rows.filter(({ id }) => !known.has(id));
}

/** Statements that select the direct dependents of the record `owned`, for all kinds that can be reached from these. */
function stepsBelow(registry: Registry, kinds: ReadonlySet<string>): Sql[] {
  const steps: Sql[] = [];
  const reached = new Set(kinds);
  for (const kind of reached) {
    const owner = registry.byKind(kind);
    const leaves = leavesOf(owner);
    for (const dependent of dependentsOf(registry, owner)) {
      if (leaves?.(dependent.module)) continue;
      reached.add(dependent.module.kind);
      const follows = followsOf(dependent.module);
      // Records that follow others are changed by those who have locked the others.
      const isLocked = follows ? sql`not (${sql.raw(follows.which)})` : sql`true`;
      steps.push(sql`select ${dependent.module.kind}::text as kind, ${column('row', 'id')} as id
        from ${sql.table(dependent.module.table)} as row ${ownerJoin(owner, dependent)}
        and owned.kind = ${kind} and ${column('row', 'deletedAt')} is null and ${isLocked}`);
    }
  }
  return steps;
}

function ownerJoin(owner: EntityModule, dependent: Dependent): Sql {
  const [pair, ...others] = dependent.by;
  if (pair?.owner === 'id' && others.length === 0) return sql`where ${column('row', pair.field)} = owned.id`;
  return sql`join ${sql.table(owner.table)} as owner on ${dependentPredicate(dependent, 'row', 'owner')}
    where owner.id = owned.id`;
}

/**
 * One statement for each table, sent without waiting for each other; they run in this order.
 * @param removed ids of the records that are deleted
 */
async function lockAll(work: ChangeWork, records: readonly Located[], removed: ReadonlySet<string>): Promise<void> {
  const tables = [...Map.groupBy(records, ({ kind }) => kind)]
    .map(([kind, own]) => ({ table: work.registry.byKind(kind).table, ids: own.map(({ id }) => id) }))
    .toSorted((a, b) => compareText(a.table, b.table));
  const session = await work.readAs('system');
  await Promise.all(
    tables.map(({ table, ids }) => {
      const operation = ids.some((id) => removed.has(id)) ? 'remove' : 'edit';
      const { text, values } = compileSql(sql`select 1 from ${sql.table(table)} as row
        where ${column('row', 'id')} = any(${ids}) order by ${column('row', 'id')} ${lockOf(operation)}`);
      return session.query(text, values);
    }),
  );
}
