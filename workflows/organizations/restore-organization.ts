import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { RestorationActivities } from '#activities/removals/restoration-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { RestorationProgress, RestoreOrganizationInput } from './restore-organization.contract.ts';

/** Slices of one run: each is an activity, and a history stays short. */
const slicesOfRun = 200;

/**
 * Stops the removal of an organization, restores the contents slice by slice, then the organization, and then its members slice by slice:
 * nobody enters it before its contents are there.
 */
export async function restoreOrganization(input: RestoreOrganizationInput): Promise<RestorationProgress> {
  const { stopRemoval, restoreContents, completeRestoration } = proxyActivities<RestorationActivities>({
    ...activityOptions(input.queue),
    // It continues until the organization is there: half of it helps nobody.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  const { removalId, from } = input;
  let progress = from ?? { restoredRecords: 0, restoredInWalk: 0, before: null, isCompleted: false };
  setHandler(defineQuery<RestorationProgress>('progress'), () => progress);
  if (!from) await stopRemoval({ removalId });
  for (let slice = 0; slice < slicesOfRun && !progress.isCompleted; slice++)
    progress = await restoreContents({ removalId, from: progress });
  if (!progress.isCompleted) return continueAsNew<typeof restoreOrganization>({ ...input, from: progress });
  progress = { ...progress, isCompleted: false };
  // A slice restores thousands of members, so that they need no run of their own.
  while (!progress.isCompleted) {
    const result: RestorationProgress | number = await completeRestoration({ removalId, from: progress });
    // In histories of before, one attempt restored all, and returned the number.
    progress =
      typeof result === 'number'
        ? { ...progress, restoredRecords: progress.restoredRecords + result, isCompleted: true }
        : result;
  }
  return progress;
}
