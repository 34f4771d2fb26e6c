import { sql } from 'kysely';
import { AppError } from '../../base/errors.ts';
import type { RecordedChange } from '../../model/recorded-changes.ts';
import type { EntityModule } from '../../model/define.ts';
import type { Registry } from '../../model/registry.ts';
import { column } from '../../storage/column.ts';
import { compileSql } from '../../storage/sql.ts';
import type { RoleSession } from '../../storage/transaction.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Refuses changes that leave an existing organization without a record that it must keep (`keepsLast`), cascades included. The
 * organization is locked: of two transactions that each take one of the last two, the second waits for the first and then finds none.
 * @param session of the system role: the records may belong to organizations that the caller is not in
 * @param changes that were written in this transaction
 * @throws AppError last_owner
 */
export async function keepLast(
  session: RoleSession,
  changes: readonly RecordedChange[],
  registry: Registry,
): Promise<void> {
  for (const [module, own] of Map.groupBy(changes, (change) => change.module)) {
    const organizations = new Set(own.flatMap((change) => organizationThatLost(change)));
    if (organizations.size > 0) await refuseNone(session, module, [...organizations], registry);
  }
}

/** The organization of a record that was valid before a change and is not valid after it. */
function organizationThatLost({ module, organizationId, before, after }: RecordedChange): string[] {
  const { keepsLast } = module;
  if (!keepsLast || !before || organizationId === null) return [];
  const counts = (row: Row) => row['deletedAt'] == null && row[keepsLast.field] === keepsLast.is;
  return counts(before) && !counts(after) ? [organizationId] : [];
}

async function refuseNone(
  session: RoleSession,
  module: EntityModule,
  ids: readonly string[],
  registry: Registry,
): Promise<void> {
  const { field, is, countsIf = 'true', message } = module.keepsLast as NonNullable<EntityModule['keepsLast']>;
  const locked = compileSql(sql`select row.id from ${sql.table(registry.byKind('organization').table)} as row
    where row.id = any(${ids}) and row.deleted_at is null order by row.id for no key update`);
  const existing = (await session.query<{ id: string }>(locked.text, locked.values)).rows.map(({ id }) => id);
  if (existing.length === 0) return;
  // A statement of its own sees what was committed while the one before waited.
  const bare = compileSql(sql`select 1 from unnest(${existing}::text[]) as organization (id) where not exists (
    select 1 from ${sql.table(module.table)} as held where held.organization_id = organization.id
      and ${column('held', field)} = ${is} and held.deleted_at is null and ${sql.raw(countsIf)}) limit 1`);
  if ((await session.query(bare.text, bare.values)).rows.length > 0) throw new AppError('last_owner', message);
}
