import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

/** Starts each backfill that the configuration wants and that is not completed. Workers start it. */
export const runBackfillContract = defineContract<MaintenanceInput>({
  name: 'runBackfill',
  queue: maintenanceQueue,
  workflowId: () => 'backfill',
});
