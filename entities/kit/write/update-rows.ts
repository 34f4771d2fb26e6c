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
    const type = module.fields[name]?.columnType ?? deletionTypes[name];
    const bound = type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
    return sql`${sql.id(snakeCase(name))} = ${bound}${type === undefined ? sql`` : sql`::${sql.raw(type)}`}`;
  });
  const { text, values: bound } = compileSql(sql`update ${sql.table(module.table)} as row
    set ${sql.join(set)}, record_version = record_version + 1 where ${which} returning ${wholeRow(module)}`);
  return (await session.query<Record<string, unknown>>(text, bound)).rows;
}
