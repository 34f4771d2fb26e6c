import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract, type StartInput } from '../kit/contract.ts';

export interface DeliverEventInput {
  readonly eventId: string;
  /** When the event happened (RFC 3339); with the id it is the event's key. */
  readonly occurredAt: string;
  readonly listener: string;
  /** Task queue and retry settings of the activities. After the last attempt the workflow waits for an operator. */
  readonly queue: ActivityQueue;
  /** From here on: values of the search attributes. */
  readonly requestId: string;
  readonly topic: string;
  readonly organizationId: string | null;
  readonly entityKind: string;
  readonly entityId: string;
}

/** Task queue of event delivery; the configuration may rename it (`workflows.dispatch.queuename`). */
export const deliveryQueue = 'events';

/** Retries one delivery until it succeeds or an operator skips it. */
export const deliverEventContract = defineContract<DeliverEventInput>({
  name: 'deliverEvent',
  queue: deliveryQueue,
  workflowId: deliveryWorkflowId,
});

/** Id of the workflow of one delivery, without the prefix of the installation. */
export function deliveryWorkflowId({ eventId, listener }: Pick<DeliverEventInput, 'eventId' | 'listener'>): string {
  return `event/${eventId}/${listener}`;
}

/** The search attributes of the run. */
export function searchOfDelivery(input: StartInput<DeliverEventInput>) {
  return {
    RequestId: [input.requestId],
    EventTopic: [input.topic],
    EntityKind: input.entityKind,
    EntityId: input.entityId,
    ...(input.organizationId === null ? {} : { OrganizationId: [input.organizationId] }),
  };
}

/** Signals an operator can send in the Temporal UI. */
export const retryDeliverySignal = 'retryDelivery';
export const skipDeliverySignal = 'skipDelivery';
