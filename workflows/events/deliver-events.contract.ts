import { defineContract } from '../kit/contract.ts';

export interface DeliverEventsInput {
  readonly batchId: string;
}

/** Delivers one batch of events to their listeners. */
export const deliverEventsContract = defineContract<DeliverEventsInput>({
  name: 'deliverEvents',
  workflowId: ({ batchId }) => `events/${batchId}`,
});
