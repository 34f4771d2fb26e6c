import { sql } from 'kysely';
import { actorOf } from '../../model/caller.ts';
import type { EntityModule } from '../../model/define.ts';
import type { Following } from '../../model/record-rules.ts';
import { organizationOf, type RecordedChange } from '../../model/recorded-changes.ts';
import type { Registry } from '../../model/registry.ts';
import { column } from '../../storage/column.ts';
import { compileSql, type Sql } from '../../storage/sql.ts';
import type { RoleSession } from '../../storage/transaction.ts';
import { recordChanges } from '../change-log.ts';
import type { ChangeWork } from '../change-work.ts';
import { linesOf } from '../../outbox/comparison.ts';
import { insertRows } from '../insert-rows.ts';
import { erasedSecrets } from '../sealed-values.ts';
import { updateRows } from '../update-rows.ts';

/** A kind some of whose records follow those of another one. */
export interface Follower {
  readonly module: EntityModule;
  readonly follows: Following;
}

/** The kinds that follow this one. */
export function followersOf(registry: Registry, { kind }: EntityModule): Follower[] {
  return registry.modules.flatMap((module) =>
    module.follows?.kind === kind ? [{ module, follows: module.follows }] : [],
  );
}

/**
 * Brings what follows new and changed records in line with them (`follows`), in the same transaction. The caller of a change has locked the
 * record, so nobody else changes its followers. Followers of a deleted record are deleted as its dependents (cascade.ts).
 * @param session of the system role: the caller has no right to these records
 * @param changes that were written in this transaction
 */
export async function alignFollowers(
  session: RoleSession,
  changes: readonly RecordedChange[],
  work: ChangeWork,
): Promise<void> {
  const kept = changes.filter(({ operation }) => operation !== 'deleted');
  for (const [module, own] of Map.groupBy(kept, (change) => change.module)) {
    for (const follower of followersOf(work.registry, module)) {
      const idsOf = (operation: string) => own.filter((change) => change.operation === operation).map(({ id }) => id);
      const updated = idsOf('updated');
      // Nothing follows a record that is new.
      const removed = updated.length === 0 ? [] : await removeSurplus(session, module, follower, updated, work);
      const added = await addMissing(session, module, follower, [...updated, ...idsOf('created')], work);
      const made = [...removed, ...added];
      if (made.length > 0) await recordChanges(session, made, [], work);
    }
  }
}

async function removeSurplus(
  session: RoleSession,
  module: EntityModule,
  { module: follower, follows }: Follower,
  ids: readonly string[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const stamp = stampOf(work);
  const rows = await updateRows(session, follower, {
    values: { deletedAt: stamp.at, deletedBy: stamp.actor, ...erasedSecrets(follower) },
    which: sql`row.deleted_at is null and (${sql.raw(follows.which)}) and exists (
      select 1 from ${sql.table(module.table)} as followed where followed.id = any(${ids}) and ${belongs(follows)}
        and not exists (${wanted(follows)}))`,
    stamp,
  });
  return rows.map((row) => ({
    module: follower,
    operation: 'deleted',
    id: row['id'] as string,
    recordVersion: row['recordVersion'] as number,
    organizationId: organizationOf(follower, row),
    changedFields: [],
    before: { ...row, deletedAt: null },
    after: row,
  }));
}

async function addMissing(
  session: RoleSession,
  module: EntityModule,
  follower: Follower,
  ids: readonly string[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const { text, values } = compileSql(missing(module, follower, sql`followed.id = any(${ids})`));
  const { rows } = await session.query<Record<string, unknown>>(text, values);
  return insertRows(session, follower.module, rows, stampOf(work));
}

/** The values of records that should be there, by field. */
function missing(module: EntityModule, { module: follower, follows }: Follower, which: Sql): Sql {
  const columns = [
    ...follows.by.map((name) => sql`${column('followed', name)} as ${sql.id(name)}`),
    ...Object.entries(follows.values).map(([name, value]) => sql`${sql.raw(value)} as ${sql.id(name)}`),
  ];
  return sql`select ${sql.join(columns)} from ${sql.table(module.table)} as followed join ${sql.raw(follows.from)}
    where followed.deleted_at is null and ${which} and not exists (select 1 from ${sql.table(follower.table)} as row
      where row.deleted_at is null and ${belongs(follows)} and ${isWanted(follows)})`;
}

/** Selects what `row` should be, if it should be there. */
function wanted(follows: Following): Sql {
  // A join needs two sides; the record that is followed is that of the outer query.
  return sql`select 1 from (select) as one join ${sql.raw(follows.from)} where followed.deleted_at is null and ${isWanted(follows)}`;
}

function isWanted({ values }: Following): Sql {
  return sql.join(
    Object.entries(values).map(([name, value]) => sql`${column('row', name)} = ${sql.raw(value)}`),
    sql` and `,
  );
}

function belongs({ by }: Following): Sql {
  return sql.join(
    by.map((name) => sql`${column('row', name)} = ${column('followed', name)}`),
    sql` and `,
  );
}

function stampOf(work: ChangeWork) {
  return { at: work.clock.now(), actor: actorOf(work.context.caller) };
}

/** Lines about records of this kind, among these, that are not followed as they should be. */
export async function unfollowed(
  session: RoleSession,
  registry: Registry,
  module: EntityModule,
  ids: readonly string[],
): Promise<string[]> {
  const lines: string[] = [];
  for (const follower of followersOf(registry, module)) {
    const { module: kind, follows } = follower;
    const lacking = compileSql(sql`select format('a %s is missing: %s', ${kind.topic}::text, to_jsonb(missing)) as line
      from (${missing(module, follower, sql`followed.id = any(${ids})`)}) as missing`);
    lines.push(...(await linesOf(session, lacking.text, lacking.values)));
    const surplus =
      compileSql(sql`select format('%s %s does not follow a %s', ${kind.topic}::text, row.id, ${module.topic}::text) as line
      from ${sql.table(kind.table)} as row join ${sql.table(module.table)} as followed on ${belongs(follows)}
      where row.deleted_at is null and followed.deleted_at is null and followed.id = any(${ids})
        and (${sql.raw(follows.which)}) and not exists (${wanted(follows)})`);
    lines.push(...(await linesOf(session, surplus.text, surplus.values)));
  }
  return lines;
}
