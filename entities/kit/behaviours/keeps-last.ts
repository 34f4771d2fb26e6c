import { sql } from 'kysely';
import { AppError } from '../base/errors.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import type { EntityModule } from '../model/define.ts';
import type { Registry } from '../model/registry.ts';
import { column } from '../storage/column.ts';
import { compileSql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeBehaviour } from '../write/change-behaviour.ts';

type Row = Readonly<Record<string, unknown>>;

/** While an organization exists, the last of its records with a value is kept. */
interface LastKept<Name extends string> {
  readonly field: Name;
  readonly is: string;
  /**
   * SQL: a condition on a record, with the alias `held`, without which it is not valid. A change that makes it false locks the
   * organization.
   */
  readonly validIf?: string;
  /** The message of a refusal, shown to the caller. */
  readonly message: string;
}

/**
 * Behaviour: changes that leave an existing organization without a record that it must keep are refused (`last_owner`), cascades included.
 * The organization is locked: of two transactions that each take one of the last two, the second waits for the first and then finds none.
 */
export function keepsLast<const Name extends string>(kept: LastKept<Name>): ChangeBehaviour<Name> {
  return {
    fields: [kept.field],
    rules: [`The last record of an organization whose ${kept.field} is ${kept.is} stays: ${kept.message}`],
    written: async (session, changes, { registry }) => {
      const organizations = new Set(changes.flatMap((change) => organizationThatLost(kept, change)));
      const [first] = changes;
      if (first && organizations.size > 0) await refuseNone(session, first.module, kept, [...organizations], registry);
    },
  };
}

/** The organization of a record that was valid before a change and is not valid after it. */
function organizationThatLost(
  { field, is }: LastKept<string>,
  { organizationId, before, after }: RecordedChange,
): string[] {
  if (!before || organizationId === null) return [];
  const isValid = (row: Row) => row['deletedAt'] == null && row[field] === is;
  return isValid(before) && !isValid(after) ? [organizationId] : [];
}

async function refuseNone(
  session: RoleSession,
  module: EntityModule,
  { field, is, validIf = 'true', message }: LastKept<string>,
  ids: readonly string[],
  registry: Registry,
): Promise<void> {
  const locked = compileSql(sql`select row.id from ${sql.table(registry.byKind('organization').table)} as row
    where row.id = any(${ids}) and row.deleted_at is null order by row.id for no key update`);
  const existing = (await session.query<{ id: string }>(locked.text, locked.values)).rows.map(({ id }) => id);
  if (existing.length === 0) return;
  // A statement of its own sees what was committed while the one before waited.
  const bare = compileSql(sql`select 1 from unnest(${existing}::text[]) as organization (id) where not exists (
    select 1 from ${sql.table(module.table)} as held where held.organization_id = organization.id
      and ${column('held', field)} = ${is} and held.deleted_at is null and ${sql.raw(validIf)}) limit 1`);
  if ((await session.query(bare.text, bare.values)).rows.length > 0) throw new AppError('last_owner', message);
}
