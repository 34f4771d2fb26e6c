import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { PruneInput } from './prune-records.contract.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function pruneRecords({ queue, timeoutMs }: PruneInput) {
  const { pruneRecords: run } = proxyActivities<MaintenanceActivities>({
    ...activityOptions(queue),
    startToCloseTimeout: timeoutMs,
    retry: { maximumAttempts: 3 },
  });
  return run({ timeoutMs });
}
