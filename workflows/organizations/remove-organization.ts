import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { OrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { RemovalProgress, RemoveOrganizationInput } from './remove-organization.contract.ts';

/** Slices of one run: each is an activity, and a history stays short. */
const slicesOfRun = 200;

/** Removes the contents of a deleted organization slice by slice, until nothing is left. */
export async function removeOrganization(input: RemoveOrganizationInput): Promise<RemovalProgress> {
  const { removeContents } = proxyActivities<OrganizationsActivities>({
    ...activityOptions(input.queue),
    // It continues until all is removed: what is deleted must not stay.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  let progress: RemovalProgress = { totalRecords: 0, removedRecords: 0, isCompleted: false };
  setHandler(defineQuery<RemovalProgress>('progress'), () => progress);
  for (let slice = 0; slice < slicesOfRun; slice++) {
    progress = await removeContents(input);
    if (progress.isCompleted) return progress;
  }
  return continueAsNew<typeof removeOrganization>(input);
}
