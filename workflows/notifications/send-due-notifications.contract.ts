import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** Result of one run. */
export interface SentNotifications {
  /** Notifications whose time had come. */
  readonly due: number;
  /** Messages about one notification that were started. */
  readonly single: number;
  /** Digests whose messages were started. */
  readonly digests: number;
}

/** Sends the notifications whose time has come: gathered for a minute, held back, or collected in digests. */
export const sendDueNotificationsContract = defineContract<MaintenanceInput>({
  name: 'sendDueNotifications',
  queue: maintenanceQueue,
  workflowId: () => 'send-due-notifications',
  schedule: { every: 20_000 },
});
