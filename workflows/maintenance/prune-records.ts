import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { PruneInput } from './prune-records.contract.ts';

/** The schedule comes again soon, so one run does not try for long. */
export async function pruneRecords({ queue, timeoutMs }: PruneInput) {
  const { pruneRecords: run } = proxyActivities<MaintenanceActivities>({
    ...activityOptions(queue),
    startToCloseTimeout: timeoutMs,
    retry: { maximumAttempts: 3 },
  });
  return run({ timeoutMs });
}
