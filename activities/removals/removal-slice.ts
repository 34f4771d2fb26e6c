import { workContext } from '../clients/temporal/work-origin.ts';
import { removeReceivedEvents } from '#entities/integrations/received-event-rows.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { organization } from '#entities/organizations/organization.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { countContents, removeSomeContents } from '#entities/kit/write/remove-contents.ts';
import type { RemovalProgress } from '#workflows/organizations/remove-organization.contract.ts';
import { lockRemoval, removalRequest } from './removal-state.ts';
import { restingSlice } from './resting-slice.ts';

/** Records that one transaction deletes, besides their dependents. */
const batchSize = 100;

/**
 * Removes contents of a deleted organization for a while, in short transactions.
 * @param removalId the record that says how far the removal is, and gets what this slice has removed
 */
export async function removeSlice(database: Database, removalId: string): Promise<RemovalProgress> {
  const context = () => workContext(systemCaller('remove organization'), removalRequest(removalId));
  const begun = await database.transact(context(), async (unit) => {
    const removal = await lockRemoval(unit, removalId);
    if (removal?.status !== 'pending') return removal;
    const totalRecords = await countContents(unit, organization, removal.removedOrganizationId);
    return unit.data.update(organizationRemoval, removalId, { status: 'running', totalRecords });
  });
  if (!begun) return undone;
  const id = begun.removedOrganizationId;
  const hasMore = await restingSlice(() =>
    database.transact(
      context(),
      // Events of other systems come last: none arrives at a removed webhook.
      async (unit) =>
        (await lockRemoval(unit, removalId)) !== undefined &&
        ((await removeSomeContents(unit, organization, id, batchSize)) || (await removeReceivedEvents(unit, id))),
    ),
  );
  return database.transact(context(), async (unit) => {
    const removal = await lockRemoval(unit, removalId);
    if (!removal) return undone;
    const left = await countContents(unit, organization, id);
    // Records that waited for the deletion to commit may have come in addition.
    const totalRecords = Math.max(removal.totalRecords ?? 0, left);
    const removedRecords = totalRecords - left;
    await unit.data.update(organizationRemoval, removalId, { totalRecords, removedRecords });
    return { totalRecords, removedRecords, isCompleted: left === 0 && !hasMore };
  });
}

const undone: RemovalProgress = { totalRecords: 0, removedRecords: 0, isCompleted: true };
