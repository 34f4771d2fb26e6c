import { defineContract } from '../kit/contract.ts';

export interface DeliverEventInput {
  readonly eventId: string;
  /** When the event happened (RFC 3339); with the id it is the event's key. */
  readonly occurredAt: string;
  readonly listener: string;
  /** Activity queue of event delivery. */
  readonly taskQueue: string;
  /** What to search by. */
  readonly requestId: string;
  readonly topic: string;
  readonly organizationId: string | null;
  readonly entityKind: string;
  readonly entityId: string;
  /** Attempts before the workflow waits for an operator, and the pauses between them in milliseconds. */
  readonly retry: {
    readonly maximumAttempts: number;
    readonly initialIntervalMs: number;
    readonly backoffCoefficient: number;
    readonly maximumIntervalMs: number;
  };
}

/** Delivers one event to one listener that failed on it, as long as it takes. */
export const deliverEventContract = defineContract<DeliverEventInput>({
  name: 'deliverEvent',
  workflowId: ({ eventId, listener }) => `event/${eventId}/${listener}`,
});

/** Signals an operator can send in the Temporal UI. */
export const retryDeliverySignal = 'retryDelivery';
export const skipDeliverySignal = 'skipDelivery';
