import { sql } from 'kysely';
import { snakeCase } from '../base/snake-case.ts';
import type { EntityModule } from '../model/define.ts';
import { wholeRow } from '../read/rows.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { Stamp } from './change-work.ts';

type Row = Readonly<Record<string, unknown>>;

/** Column types of the fields that a deletion sets. */
const deletionTypes: Readonly<Record<string, string>> = { deletedAt: 'timestamptz', deletedBy: 'text' };

function typeOf(module: EntityModule, name: string): string | undefined {
  return module.fields[name]?.columnType ?? deletionTypes[name];
}

/**
 * Changes rows in one `update … returning`, and increments the version of each.
 * @param change `which` is a condition on the rows, with the alias `row`
 * @returns the whole rows after the change
 */
export async function updateRows(
  session: RoleSession,
  module: EntityModule,
  { values, which, stamp }: { readonly values: Row; readonly which: Sql; readonly stamp: Stamp },
): Promise<Row[]> {
  const set = Object.entries({ ...values, updatedBy: stamp.actor, updatedAt: stamp.at }).map(([name, value]) => {
    const type = typeOf(module, name);
    const bound = type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
    return sql`${sql.id(snakeCase(name))} = ${bound}${type === undefined ? sql`` : sql`::${sql.raw(type)}`}`;
  });
  const { text, values: bound } = compileSql(sql`update ${sql.table(module.table)} as row
    set ${sql.join(set)}, record_version = record_version + 1 where ${which} returning ${wholeRow(module)}`);
  return (await session.query<Record<string, unknown>>(text, bound)).rows;
}

/** A row as it was read, and the values that it gets. */
interface RowValues {
  readonly row: Row;
  readonly values: Row;
}

/**
 * Changes rows, each to values of its own, in one `update … returning`, and increments the version of each. A column that only some of the
 * rows get keeps its value in the others, so the rows must be locked.
 * @returns the whole rows after the change
 */
export async function updateEachRow(
  session: RoleSession,
  module: EntityModule,
  { changes, stamp }: { readonly changes: readonly RowValues[]; readonly stamp: Stamp },
): Promise<Row[]> {
  const names = [...new Set(changes.flatMap(({ values }) => Object.keys(values)))];
  const documents = changes.map(({ row, values }) => ({
    id: row['id'],
    ...Object.fromEntries(
      names.map((name) => [snakeCase(name), Object.hasOwn(values, name) ? values[name] : row[name]]),
    ),
  }));
  const columns = ['id', ...names].map(
    (name) => sql`${sql.id(snakeCase(name))} ${sql.raw(typeOf(module, name) ?? 'text')}`,
  );
  const set = names.map((name) => sql`${sql.id(snakeCase(name))} = ${sql.ref(`given.${snakeCase(name)}`)}`);
  const { text, values } = compileSql(sql`update ${sql.table(module.table)} as row
    set ${sql.join([...set, sql`updated_by = ${stamp.actor}`, sql`updated_at = ${stamp.at}`])}, record_version = row.record_version + 1
    from jsonb_to_recordset(${JSON.stringify(documents)}::jsonb) as given (${sql.join(columns)})
    where row.id = given.id returning ${wholeRow(module)}`);
  return (await session.query<Record<string, unknown>>(text, values)).rows;
}
