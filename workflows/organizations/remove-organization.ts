import {
  CancellationScope,
  continueAsNew,
  defineQuery,
  isCancellation,
  patched,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';
import type { BillingActivities } from '#activities/billing/billing-activities.ts';
import type { OrganizationsActivities } from '#activities/organizations/organizations-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { RemovalProgress, RemoveOrganizationInput } from './remove-organization.contract.ts';

/** Slices of one run: each is an activity, and a history stays short. */
const slicesOfRun = 200;

/**
 * Ends what a deleted organization pays for, then removes its contents slice by slice, until nothing is left. Nothing is removed before the
 * provider has confirmed, or an operator has skipped the step: the row that names the customer is one of the contents.
 */
export async function removeOrganization(input: RemoveOrganizationInput): Promise<RemovalProgress> {
  const { removeContents, cancelSubscriptions } = proxyActivities<OrganizationsActivities & BillingActivities>({
    ...activityOptions(input.queue),
    // It continues until all is removed: what is deleted must not stay.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  let progress: RemovalProgress = { totalRecords: 0, removedRecords: 0, isCompleted: false };
  setHandler(defineQuery<RemovalProgress>('progress'), () => progress);
  // Histories of before have no such step; the condition goes when none of them is left (docs/decisions/removal-of-organizations.md).
  const isSkipped =
    input.isBillingEnded !== true &&
    patched('cancel-subscriptions') &&
    (await cancelSubscriptions(input).then(() => false, skippedIfCancelled));
  for (let slice = 0; slice < slicesOfRun; slice++) {
    // The cancellation was meant for the step before, but would reach each activity that follows.
    progress = isSkipped
      ? await CancellationScope.nonCancellable(() => removeContents(input))
      : await removeContents(input);
    if (progress.isCompleted) return progress;
  }
  return continueAsNew<typeof removeOrganization>({ ...input, isBillingEnded: true });
}

/** An operator who stops a failing step cancels the workflow: the others continue. */
function skippedIfCancelled(error: unknown): true {
  if (!isCancellation(error)) throw error;
  return true;
}
