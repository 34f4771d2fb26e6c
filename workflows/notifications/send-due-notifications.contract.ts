import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** What one run has done. */
export interface SentNotifications {
  /** Notifications whose time had come. */
  readonly due: number;
  /** Messages about one notification that were started. */
  readonly single: number;
  /** Digests whose messages were started. */
  readonly digests: number;
}

/** Sends the notifications that were held back, and the digests. What need not wait is sent by the listener `send-notification`. */
export const sendDueNotificationsContract = defineContract<MaintenanceInput>({
  name: 'sendDueNotifications',
  queue: maintenanceQueue,
  workflowId: () => 'send-due-notifications',
  schedule: { everyMs: 60_000 },
});
