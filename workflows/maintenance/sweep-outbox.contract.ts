import { defineContract } from '../kit/contract.ts';

export interface MaintenanceInput {
  /** Activity queue of maintenance. */
  readonly taskQueue: string;
}

/** Finds events that a crash left behind, and applies tuples that were not; runs every ten seconds. */
export const sweepOutboxContract = defineContract<MaintenanceInput>({
  name: 'sweepOutbox',
  workflowId: () => 'sweep-outbox',
});
