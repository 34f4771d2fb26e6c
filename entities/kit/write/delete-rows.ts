import type { EntityModule } from '../model/define.ts';
import { changeOf, type RecordedChange } from '../model/recorded-changes.ts';
import type { Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import { stampOf, type ChangeWork } from './change-work.ts';
import { erasedSecrets } from './sealed-values.ts';
import { updateRows } from './update-rows.ts';

/**
 * Soft-deletes rows in one statement, and erases their secrets.
 * @param which a condition on the rows, with the alias `row`
 * @returns the changes, which are not recorded yet
 */
export async function deleteRows(
  session: RoleSession,
  module: EntityModule,
  which: Sql,
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const stamp = stampOf(work);
  const values = { deletedAt: stamp.at, deletedBy: stamp.actor, ...erasedSecrets(module) };
  const rows = await updateRows(session, module, { values, which, stamp });
  return rows.map((row) => changeOf(module, { ...row, deletedAt: null }, row, []));
}
