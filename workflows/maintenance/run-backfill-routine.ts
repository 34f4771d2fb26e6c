import { continueAsNew, defineQuery, proxyActivities, setHandler } from '@temporalio/workflow';
import type { BackfillActivities } from '#activities/backfills/backfill-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { BackfillInput, BackfillProgress } from './run-backfill-routine.contract.ts';

/** Each is an activity: a history stays short. */
const defaultSlicesPerRun = 200;

/** Slice by slice, until all records have been looked at, or the configuration does not want the backfill any more. */
export async function runBackfillRoutine(input: BackfillInput): Promise<BackfillProgress> {
  const { routine, version, queue, slicesPerRun = defaultSlicesPerRun } = input;
  const { backfillSlice } = proxyActivities<BackfillActivities>({
    ...activityOptions(queue),
    // A worker of another release does not have it, and `npm run work` shows what keeps failing.
    retry: { initialInterval: '1 second', maximumInterval: '5 minutes' },
  });
  let progress: BackfillProgress = { status: 'running', examined: 0, changed: 0, failed: 0 };
  setHandler(defineQuery<BackfillProgress>('progress'), () => progress);
  for (let slice = 0; slice < slicesPerRun; slice++) {
    progress = await backfillSlice({ routine, version });
    if (progress.status !== 'running') return progress;
  }
  return continueAsNew<typeof runBackfillRoutine>(input);
}
