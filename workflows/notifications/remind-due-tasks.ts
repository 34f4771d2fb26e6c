import { proxyActivities } from '@temporalio/workflow';
import type { NotificationsActivities } from '#activities/notifications/notifications-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MaintenanceInput } from '../kit/maintenance-queue.ts';
import type { RemindedTasks } from './remind-due-tasks.contract.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function remindDueTasks({ queue }: MaintenanceInput): Promise<RemindedTasks> {
  const { remindDueTasks: run } = proxyActivities<NotificationsActivities>({
    ...activityOptions(queue),
    retry: { maximumAttempts: 3 },
  });
  return run();
}
