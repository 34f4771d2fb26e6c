import { sql } from 'kysely';
import { displayIdOf } from '../base/display-id.ts';
import { newId } from '../base/ids.ts';
import { snakeCase } from '../base/snake-case.ts';
import { tenancyField, type EntityModule } from '../model/define.ts';
import { recordFieldNames } from '../model/derived/record-fields.ts';
import { changeOf, type RecordedChange } from '../model/recorded-changes.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { Stamp } from './change-work.ts';

type Row = Readonly<Record<string, unknown>>;

const recordTypes: Readonly<Record<string, string>> = {
  createdAt: 'timestamptz',
  updatedAt: 'timestamptz',
  recordVersion: 'integer',
  deletedAt: 'timestamptz',
};

/**
 * Writes new rows of the server in one statement, without the ORM.
 * @param rows values by field; those that are left out have their defaults
 * @returns the creations, which are to be recorded
 */
export async function insertRows(
  session: RoleSession,
  module: EntityModule,
  rows: readonly Row[],
  stamp: Stamp,
): Promise<RecordedChange[]> {
  if (rows.length === 0) return [];
  const whole = rows.map((row) => completed(module, row, stamp));
  const { text, values } = compileSql(insertion(module, whole));
  await session.query(text, values);
  return whole.map((row) => creationOf(module, row));
}

/** The statement that writes complete rows. Its only parameter is `documentsOf` them. */
export function insertion(module: EntityModule, rows: readonly Row[]): Sql {
  const columns = namesOf(module).map((name) => ({
    name: sql.id(snakeCase(name)),
    type: sql.raw(module.fields[name]?.columnType ?? recordTypes[name] ?? 'text'),
  }));
  return sql`insert into ${sql.table(module.table)} (${sql.join(columns.map(({ name }) => name))})
    select ${sql.join(columns.map(({ name }) => name))} from jsonb_to_recordset(${documentsOf(module, rows)}::jsonb)
      as given (${sql.join(columns.map(({ name, type }) => sql`${name} ${type}`))})`;
}

/** Complete rows as a JSON list of their columns. */
export function documentsOf(module: EntityModule, rows: readonly Row[]): string {
  const columns = namesOf(module).map((name) => [name, snakeCase(name)] as const);
  return JSON.stringify(rows.map((row) => Object.fromEntries(columns.map(([name, column]) => [column, row[name]]))));
}

function namesOf(module: EntityModule): string[] {
  return [...recordFieldNames, ...tenancyField(module.tenancy), ...Object.keys(module.fields)];
}

export function creationOf(module: EntityModule, row: Row): RecordedChange {
  const names = [...tenancyField(module.tenancy), ...Object.keys(module.fields)];
  return changeOf(
    module,
    null,
    row,
    names.filter((name) => row[name] != null),
  );
}

export function firstVersion({ at, actor }: Stamp) {
  return {
    createdAt: at,
    updatedAt: at,
    createdBy: actor,
    updatedBy: actor,
    recordVersion: 1,
    deletedAt: null,
    deletedBy: null,
  };
}

function completed(module: EntityModule, row: Row, stamp: Stamp): Record<string, unknown> {
  const id = newId(stamp.at.getTime());
  const defaults = Object.entries(module.fields).map(([name, field]) => [name, field.default ?? null]);
  return {
    ...Object.fromEntries(defaults),
    ...(module.displayId === undefined ? {} : { displayId: displayIdOf(module.displayId, id) }),
    ...row,
    id,
    ...firstVersion(stamp),
  };
}
