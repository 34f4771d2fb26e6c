import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BackfillActivities } from '#activities/backfills/backfill-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MaintenanceInput } from '../kit/maintenance-queue.ts';
import type { BackfillProgress, BackfillVersion } from './run-backfill-routine.contract.ts';

/** Slices of one run: each is an activity, and a history stays short. */
const slicesOfRun = 200;

/** Slice by slice, until all records have been looked at, or the configuration does not want the backfill any more. */
export async function runBackfillRoutine(input: BackfillVersion & MaintenanceInput): Promise<BackfillProgress> {
  const { routine, version, queue } = input;
  const { backfillSlice } = proxyActivities<BackfillActivities>({
    ...activityOptions(queue),
    // A worker of another release does not have it, and `npm run work` shows what keeps failing.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  let progress: BackfillProgress = { status: 'running', examined: 0, changed: 0, failed: 0 };
  setHandler(defineQuery<BackfillProgress>('progress'), () => progress);
  for (let slice = 0; slice < slicesOfRun; slice++) {
    progress = await backfillSlice({ routine, version });
    if (progress.status !== 'running') return progress;
  }
  return continueAsNew<typeof runBackfillRoutine>(input);
}
