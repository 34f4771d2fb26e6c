import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface DeliverToEndpointInput {
  readonly queue: ActivityQueue;
  readonly endpointId: string;
  readonly organizationId: string;
}

/** Task queue of what is sent to customers' URLs. */
export const webhookQueue = 'webhooks';

/** Activities of this queue that one process runs at the same time by default: each stands for one endpoint, and mostly waits for the server of a customer. */
export const webhookWorkers = 100;

/** Says that messages may have become due. */
export const wakeSignalName = 'wake';

/** Sends the messages of one endpoint while there are any. Their rows say which are due (entities/webhooks/webhook-queue-rows.ts). */
export const deliverToEndpointContract = defineContract<DeliverToEndpointInput>({
  name: 'deliverToEndpoint',
  queue: webhookQueue,
  wakeSignal: wakeSignalName,
  workflowId: ({ endpointId }) => `webhook/${endpointId}`,
});
