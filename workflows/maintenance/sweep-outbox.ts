import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MaintenanceInput } from '../kit/maintenance-queue.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function sweepOutbox({ queue }: MaintenanceInput) {
  const { sweepOutbox: run } = proxyActivities<MaintenanceActivities>({
    ...activityOptions(queue),
    retry: { maximumAttempts: 3 },
  });
  return run();
}
