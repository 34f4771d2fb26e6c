import { proxyActivities } from '@temporalio/workflow';
import type { NotificationsActivities } from '#activities/notifications/notifications-activities.ts';
import { activityOptions } from '../kit/activity-queue.ts';
import type { MaintenanceInput } from '../kit/maintenance-queue.ts';
import type { SentNotifications } from './send-due-notifications.contract.ts';

/** A run makes few attempts, because the schedule starts the next one soon. */
export async function sendDueNotifications({ queue }: MaintenanceInput): Promise<SentNotifications> {
  const { sendDueNotifications: run } = proxyActivities<NotificationsActivities>({
    ...activityOptions(queue),
    retry: { maximumAttempts: 3 },
  });
  return run();
}
