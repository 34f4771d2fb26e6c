import { sql } from 'kysely';
import type { Role } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Field } from '../model/fields.ts';
import { readableFields } from '../model/exposure.ts';
import { entryFields } from '../model/history-kind.ts';
import { snakeCase } from '../base/snake-case.ts';
import { column } from '../storage/column.ts';
import type { OrderTerm } from './order.ts';
import type { Sql } from '../storage/sql.ts';
import type { Viewer } from './viewer.ts';
import { visible, visibleInList } from './visibility.ts';

/** What a list of a kind reads from: a table expression whose columns are called like the fields. */
export function fromClause(module: EntityModule): Sql {
  return module.historyOf ? entriesOf(module.historyOf) : sql.table(module.table);
}

/** Which of these rows there are in a caller's list. */
export function visibleRows(module: EntityModule, alias: string, viewer: Viewer): Sql {
  return module.historyOf ? visibleEntries(module.historyOf, alias, viewer) : visibleInList(module, alias, viewer);
}

/** The order of a list for which nobody asked for another. */
export function usualOrder(module: EntityModule): readonly OrderTerm[] {
  return module.historyOf ? [{ field: 'recordedAt', direction: 'asc' }] : [];
}

/** Entries of the one table of all histories that are about this kind, with what is shown of each. */
function entriesOf(module: EntityModule): Sql {
  const shown = readableFields(module).map(([name]) => name);
  const columns = Object.keys(entryFields)
    .filter((name) => name !== 'recordId' && name !== 'changedFields')
    .map((name) => column('h', name));
  const values = shown.map((name) => sql`${valueOf(module.fields[name] as Field, name)} as ${sql.id(snakeCase(name))}`);
  return sql`(select h.id, h.organization_id, h.entity_id as record_id, ${sql.join([...columns, ...values])},
    array(select changed from unnest(h.changed_fields) as changed where changed = any(${shown}::text[])) as changed_fields
    from history as h where h.entity_kind = ${module.topic})`;
}

/** A value of a snapshot as its column would hold it; what a choice no longer offers is left out. */
function valueOf(field: Field, name: string): Sql {
  const json = sql`h.snapshot -> ${name}::text`;
  const value = sql`(h.snapshot ->> ${name}::text)`;
  switch (field.type) {
    case 'json':
      return sql`nullif(${json}, 'null'::jsonb)`;
    case 'textList':
      return sql`case when jsonb_typeof(${json}) = 'array' then array(select jsonb_array_elements_text(${json})) end`;
    case 'choice':
      return sql`case when ${value} = any(${field.values ?? []}::text[]) then ${value} end`;
    case 'text':
    case 'reference':
      return value;
    case 'integer':
    case 'boolean':
    case 'timestamp':
      return sql`${value}::${sql.raw(field.columnType)}`;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

/** Who sees the history of records that are gone with all they hung on. */
const keepers: ReadonlySet<Role> = new Set(['owner', 'super_admin', 'admin', 'auditor']);

/**
 * Rights on an entry are those on the record it is about, as they are now. When that is deleted, they are those on the
 * record it hung on, and those of the people who look after the organization; of these alone where people can be kept from
 * a record.
 */
function visibleEntries(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (!viewer.isModuleEnabled(module)) return sql`false`;
  const row = `${alias}_row`;
  const about = (conditions: Sql) => sql`exists (select 1 from ${sql.table(module.table)} as ${sql.ref(row)}
    where ${column(row, 'id')} = ${column(alias, 'recordId')} and ${conditions})`;
  const gone = sql`${column(row, 'deletedAt')} is not null and (${afterwards(module, row, viewer)})`;
  // Row-level security says the same; here the condition leads to the index.
  const isOwn =
    module.tenancy === 'organization' && viewer.organizationId
      ? sql`${column(alias, 'organizationId')} = ${viewer.organizationId}`
      : sql`true`;
  return sql`${isOwn} and (${about(visible(module, row, viewer))} or ${about(gone)})`;
}

/** Whether the rules refuse some people whom later ones would let view a record. */
function hasRefusals({ policy }: EntityModule): boolean {
  return policy?.view.some(({ effect, when }) => effect === 'deny' && when.is !== 'anyone') ?? false;
}

function afterwards(module: EntityModule, row: string, viewer: Viewer): Sql {
  if (viewer.kind === 'system') return sql`true`;
  const isKeeper =
    module.tenancy === 'organization' && viewer.role !== null && keepers.has(viewer.role)
      ? sql`${column(row, 'organizationId')} = ${viewer.organizationId}`
      : sql`false`;
  const parent = Object.entries(module.fields).find(
    ([, { target, onDelete }]) => onDelete === 'cascade' && target !== 'organization',
  );
  // Who was kept from the record stays so: what kept them is gone with it.
  if (!parent || hasRefusals(module)) return isKeeper;
  const [field] = parent;
  const above = `${row}_above`;
  const target = viewer.targetOf(module, field);
  return sql`${isKeeper} or exists (select 1 from ${sql.table(target.table)} as ${sql.ref(above)}
    where ${column(above, 'id')} = ${column(row, field)} and ${visible(target, above, viewer)})`;
}
