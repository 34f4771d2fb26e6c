import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface MaintenanceInput {
  /** Queue of maintenance. */
  readonly queue: ActivityQueue;
}

/** Finds events that a crash left behind, and applies tuples that were not; runs every ten seconds. */
export const sweepOutboxContract = defineContract<MaintenanceInput>({
  name: 'sweepOutbox',
  workflowId: () => 'sweep-outbox',
});
