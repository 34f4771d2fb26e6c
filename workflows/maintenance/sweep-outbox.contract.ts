import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface MaintenanceInput {
  readonly queue: ActivityQueue;
}

/** Task queue of what an installation does regularly for itself. */
export const maintenanceQueue = 'maintenance';

/** Finds events that a crash left behind, and applies tuples that are still pending. */
export const sweepOutboxContract = defineContract<MaintenanceInput>({
  name: 'sweepOutbox',
  queue: maintenanceQueue,
  workflowId: () => 'sweep-outbox',
  schedule: { everyMs: 10_000 },
});
