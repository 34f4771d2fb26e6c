import { databaseRoleOf } from '../model/caller.ts';
import type { ChangeWork } from './change-work.ts';
import { planChanges, type ChangeRequest, type RowAccess } from './plan-changes.ts';

type Row = Record<string, unknown>;

/**
 * Changes one record through the ORM, which writes it with the next flush: several changes of one record in one unit of work become
 * one version.
 * @returns the row with its new values
 * @throws AppError not_found, permission_denied, stale_record, invalid_input
 */
export function changeRecord(
  work: ChangeWork,
  request: Omit<ChangeRequest, 'ids'> & { readonly id: string },
  access: RowAccess,
): Promise<Row> {
  const { id, module, values, stamp } = request;
  work.counters.reserve(1, work.context.caller);
  return work.serialize(async () => {
    const { caller, changes, unchanged, refusals } = await planChanges(work, { ...request, ids: [id] }, access);
    const refusal = refusals.get(id);
    if (refusal) throw refusal;
    const [change] = changes;
    // A change of a kind without rules is dropped, and answered as if it had been stored.
    if (!change) return module.policy ? { ...unchanged.get(id) } : { ...unchanged.get(id), ...values };
    return work.update(databaseRoleOf(caller), module, change.row, { values: change.values, stamp });
  });
}
