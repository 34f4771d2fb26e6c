import { sql } from 'kysely';
import { shareKindOf, sharedRecordField } from '../kit/model/derived/share.ts';
import type { EntityModule } from '../kit/model/define.ts';
import { wholeRow } from '../kit/read/rows.ts';
import { column } from '../kit/storage/column.ts';
import { compileSql } from '../kit/storage/sql.ts';
import type { Work } from '../kit/storage/work.ts';

/** Values of a record that are not secret, and its stamps. */
export interface RecordRow extends Readonly<Record<string, unknown>> {
  readonly id: string;
  readonly createdBy: string;
  readonly recordVersion: number;
  /** Null for a record that is there. */
  readonly deletedAt: Date | null;
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

/** Ids of the groups with which a record is shared, or was when it was deleted: its shares are deleted after it, in the same transaction. */
export async function groupsOfRecord(work: Work, module: EntityModule, id: string): Promise<string[]> {
  const shares = work.registry.modules.find(({ kind }) => kind === shareKindOf(module));
  if (!shares) return [];
  const { text, values } = compileSql(
    sql`select distinct ${column('s', 'groupId')} as "groupId"
      from ${sql.table(shares.table)} as s join ${sql.table(module.table)} as r on r.id = ${column('s', sharedRecordField(module))}
      where r.id = ${id} and (${column('s', 'deletedAt')} is null or ${column('s', 'deletedAt')} >= ${column('r', 'deletedAt')})`,
  );
  const rows = await work.rowsAsSystem<{ groupId: string }>(text, values);
  return rows.map(({ groupId }) => groupId);
}
