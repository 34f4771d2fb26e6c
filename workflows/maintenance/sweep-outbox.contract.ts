import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** Finds events that a crash left behind, and applies tuples that are still pending. */
export const sweepOutboxContract = defineContract<MaintenanceInput>({
  name: 'sweepOutbox',
  queue: maintenanceQueue,
  workflowId: () => 'sweep-outbox',
  schedule: { every: 10_000 },
});
