import { databaseRoleOf, type Caller } from '../model/caller.ts';
import type { EntityModule } from '../model/define.ts';
import type { RecordedChange } from '../model/recorded-changes.ts';
import { behavioursOf } from './change-behaviour.ts';
import { checkRowCount } from './change-counters.ts';
import { stampOf, type ChangeWork } from './change-work.ts';
import { insertRows } from './insert-rows.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * Creates records of a kind that the server alone writes, in one statement, with their history and events. For large sets: references are
 * checked by the database alone, and a unique key that is taken fails all of them.
 * @param rows checked values (`validateCreations`) with their organization; those that are left out have their defaults
 * @returns ids, in the order of the rows
 * @throws AppError limit_exceeded, already_exists; not_found when the organization is deleted; TypeError for another caller, and for a kind
 * whose creation does more
 */
export async function createRows(
  work: ChangeWork,
  caller: Caller,
  module: EntityModule,
  rows: readonly Row[],
): Promise<string[]> {
  if (rows.length === 0) return [];
  const isPlain =
    module.hooks === undefined &&
    behavioursOf(module).length === 0 &&
    Object.values(module.fields).every(({ isSealed, formOf }) => !isSealed && formOf === undefined);
  if (caller.kind !== 'system' || !isPlain)
    throw new TypeError(`a set of ${module.kind} records cannot be created by a ${caller.kind} in one statement`);
  checkRowCount(rows.length);
  work.counters.reserve(rows.length, caller);
  let changes: readonly RecordedChange[] = [];
  await work.changeRows(databaseRoleOf(caller), module, async (session) => {
    changes = await insertRows(session, module, rows, stampOf(work));
    return changes;
  });
  const ids = changes.map(({ id }) => id);
  for (const id of ids) work.created.add(id);
  return ids;
}
