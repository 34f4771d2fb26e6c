import { proxyActivities } from '@temporalio/workflow';
import type { MaintenanceActivities } from '#activities/maintenance/activities.ts';
import type { MaintenanceInput } from './sweep-outbox.contract.ts';

/** The schedule comes again soon, so one run does not try for long. */
export async function sweepOutbox({ taskQueue }: MaintenanceInput) {
  const { sweepOutbox: run } = proxyActivities<MaintenanceActivities>({
    taskQueue,
    startToCloseTimeout: '1 minute',
    retry: { maximumAttempts: 3 },
  });
  return run();
}
