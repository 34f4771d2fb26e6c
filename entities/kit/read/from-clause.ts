import { sql } from 'kysely';
import type { Role } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { Field } from '../model/declared-field.ts';
import { readableFields } from '../model/exposure.ts';
import { entryFields } from '../model/derived/history-kind.ts';
import { snakeCase } from '../base/snake-case.ts';
import { column } from '../storage/column.ts';
import { searchFunctionName } from '../storage/search-function.ts';
import type { Bound } from './placeholder.ts';
import { searchPosition, type OrderTerm } from './order.ts';
import type { Sql } from '../storage/sql.ts';
import type { Viewer } from './viewer.ts';
import { visible, visibleInList } from './visibility.ts';

/** The table expression from which a list of a kind is read; its columns have the names of the fields in snake_case. */
export function fromClause(module: EntityModule): Sql {
  return module.historyOf ? entriesOf(module.historyOf) : sql.table(module.table);
}

/** Records that match by the name of an attached file rank after those that match by their own fields. */
const afterOwnFields = 1_000_000;

/**
 * The rows that a search finds, with their place among them. Which of them a caller may see is not decided here, but it is of the files by
 * whose names they are found: a name must not show that there is such a file.
 */
export function foundRows(module: EntityModule, text: Bound<string>, viewer: Viewer): Sql {
  const own = sql`select id, position from ${sql.id(searchFunctionName(module))}(${text}) with ordinality as own (id, position)`;
  const files = viewer.filesOf(module);
  const ofFiles = files
    ? sql` union all select ${column('file', `${module.kind}Id`)}, ${sql.raw(String(afterOwnFields))} + named.position
        from ${sql.id(searchFunctionName(files))}(${text}) with ordinality as named (id, position)
        join ${sql.table(files.table)} as file on file.id = named.id where ${visible(files, 'file', viewer)}`
    : sql``;
  return sql`(select row.*, found.position::integer as ${sql.id(snakeCase(searchPosition))} from ${sql.table(module.table)} as row
    join (select id, min(position) as position from (${own}${ofFiles}) as each group by id) as found on found.id = row.id)`;
}

/** Predicate for the rows that are in the caller's list. */
export function visibleRows(module: EntityModule, alias: string, viewer: Viewer): Sql {
  return module.historyOf ? visibleEntries(module.historyOf, alias, viewer) : visibleInList(module, alias, viewer);
}

/** The order of a list when the query has none. */
export function defaultOrder(module: EntityModule): readonly OrderTerm[] {
  return module.historyOf ? [{ field: 'recordedAt', direction: 'asc' }] : [];
}

/** History entries of a kind, with the exposed fields; all kinds share the table `history`. */
function entriesOf(module: EntityModule): Sql {
  const shown = readableFields(module).map(([name]) => name);
  const columns = Object.keys(entryFields)
    .filter((name) => name !== 'recordId' && name !== 'changedFields' && !Object.hasOwn(actorColumns, name))
    .map((name) => column('h', name));
  const actors = Object.entries(actorColumns).map(([name, value]) => sql`${value} as ${sql.id(snakeCase(name))}`);
  const values = shown.map((name) => sql`${valueOf(module.fields[name] as Field, name)} as ${sql.id(snakeCase(name))}`);
  return sql`(select h.id, h.organization_id, h.entity_id as record_id, ${sql.join([...columns, ...actors, ...values])},
    array(select changed from unnest(h.changed_fields) as changed where changed = any(${Object.keys(module.expose)}::text[])) as changed_fields
    from history as h where h.entity_kind = ${module.topic})`;
}

/** Columns of an actor (`actorOf`) that describe who made a change. */
const actorColumns = {
  actorKind: sql`case when split_part(h.actor, ':', 1) in ('assessment', 'nda_request') then 'visitor' else split_part(h.actor, ':', 1) end`,
  actorUserId: sql`substring(h.actor from '^user:(\\w{26})')`,
  actingUserId: sql`substring(h.actor from ' by user:(\\w{26})$')`,
  actorTokenId: sql`substring(h.actor from '^api_token:(\\w{26})$')`,
} as const satisfies Partial<Record<keyof typeof entryFields, Sql>>;

/** A value of a snapshot in the type of its column; null for a choice that has been removed since. */
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
    case 'file':
      return value;
    case 'integer':
    case 'decimal':
    case 'date':
    case 'boolean':
    case 'timestamp':
      return sql`${value}::${sql.raw(field.columnType)}`;
    default:
      field.type satisfies never;
      throw new Error('unknown field type');
  }
}

/** Roles that can view the history of deleted records. */
const historyRoles: ReadonlySet<Role> = new Set(['owner', 'super_admin', 'admin', 'auditor']);

/**
 * Predicate for history entries. The right to view an entry is the current right to view its record. Entries of a deleted record
 * are visible to `historyRoles` of the organization and to callers who can view the parent record; to `historyRoles` alone where
 * the rules of the kind can deny callers access to a record.
 */
function visibleEntries(module: EntityModule, alias: string, viewer: Viewer): Sql {
  if (!viewer.isModuleEnabled(module) || !viewer.isWithinLimits({ kind: module.kind, operation: 'view' }))
    return sql`false`;
  const row = `${alias}_row`;
  const existsRecord = (conditions: Sql) => sql`exists (select 1 from ${sql.table(module.table)} as ${sql.ref(row)}
    where ${column(row, 'id')} = ${column(alias, 'recordId')} and ${conditions})`;
  const deleted = sql`${column(row, 'deletedAt')} is not null and (${deletedRecordVisible(module, row, viewer)})`;
  // Row-level security has the same condition; here it makes the index usable.
  const isOwn =
    module.tenancy === 'organization' && viewer.organizationId
      ? sql`${column(alias, 'organizationId')} = ${viewer.organizationId}`
      : sql`true`;
  return sql`${isOwn} and (${existsRecord(visible(module, row, viewer))} or ${existsRecord(deleted)})`;
}

/** Whether a rule denies the right to view to some callers whom later rules would allow it. */
function hasDenials({ policy }: EntityModule): boolean {
  return policy?.view.some(({ effect, when }) => effect === 'deny' && when.is !== 'anyone') ?? false;
}

/** The field with the parent record, with which the record is deleted. The organization is none. */
export function parentField({ fields }: EntityModule): string | undefined {
  return Object.keys(fields).find(
    (name) => fields[name]?.onDelete === 'cascade' && fields[name].target !== 'organization',
  );
}

/** Predicate for deleted records whose history the caller can view. */
function deletedRecordVisible(module: EntityModule, row: string, viewer: Viewer): Sql {
  if (viewer.kind === 'system') return sql`true`;
  const hasHistoryRole =
    module.tenancy === 'organization' && viewer.role !== null && historyRoles.has(viewer.role)
      ? sql`${column(row, 'organizationId')} = ${viewer.organizationId}`
      : sql`false`;
  const field = parentField(module);
  // The grants that denied callers access were deleted with the record, so the right to its parent must not show its history to them.
  if (field === undefined || hasDenials(module)) return hasHistoryRole;
  const above = `${row}_above`;
  const target = viewer.targetOf(module, field);
  return sql`${hasHistoryRole} or exists (select 1 from ${sql.table(target.table)} as ${sql.ref(above)}
    where ${column(above, 'id')} = ${column(row, field)} and ${visible(target, above, viewer)})`;
}
