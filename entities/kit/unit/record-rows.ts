import { sql } from 'kysely';
import type { EntityModule } from '../model/define.ts';
import { wholeRow } from '../read/rows.ts';
import { compileSql } from '../storage/sql.ts';
import type { Work } from '../storage/work.ts';

/** Values of a record that are not secret, and its stamps. */
export interface RecordRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly createdBy: string;
  readonly recordVersion: number;
  /** Null for a record that is there. */
  readonly deletedAt: Date | null;
}

/** One record, as `rowsOfRecords` reads it. */
export async function rowOfRecord(work: Work, module: EntityModule, id: string): Promise<RecordRow | undefined> {
  return (await rowsOfRecords(work, module, [id])).get(id);
}

/** Records by their ids, also deleted ones with the values that they had last. */
export async function rowsOfRecords(
  work: Work,
  module: EntityModule,
  ids: readonly string[],
): Promise<ReadonlyMap<string, RecordRow>> {
  const { text, values } = compileSql(
    sql`select ${wholeRow(module)} from ${sql.table(module.table)} as row where row.id = any(${ids}::text[])`,
  );
  const rows = await work.rowsAsSystem<Record<string, unknown>>(text, values);
  const isShown = ([name]: readonly [string, unknown]) => !module.fields[name]?.secret;
  const shown = rows.map((row) => Object.fromEntries(Object.entries(row).filter(isShown)) as unknown as RecordRow);
  return new Map(shown.map((row) => [row.id, row]));
}
