import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface RedeliverCodeHostEventsInput {
  readonly queue: ActivityQueue;
}

export interface RedeliveryReport {
  /** Events that the code host could not deliver. */
  readonly failed: number;
  /** Those of them that it delivers again. */
  readonly requested: number;
}

/** The code host attempts a delivery once: asks it for those that have failed in the last three days, and requests them again. */
export const redeliverCodeHostEventsContract = defineContract<RedeliverCodeHostEventsInput>({
  name: 'redeliverCodeHostEvents',
  queue: 'integrations',
  workflowId: () => 'redeliver-code-host-events',
  schedule: { every: 3_600_000 },
});
