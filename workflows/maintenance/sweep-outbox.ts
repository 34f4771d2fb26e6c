import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MaintenanceInput } from './sweep-outbox.contract.ts';

/** The schedule comes again soon, so one run does not try for long. */
export async function sweepOutbox({ queue }: MaintenanceInput) {
  const { sweepOutbox: run } = proxyActivities<MaintenanceActivities>({
    ...activityOptions(queue),
    retry: { maximumAttempts: 3 },
  });
  return run();
}
