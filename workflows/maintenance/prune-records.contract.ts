import { defineContract } from '../kit/contract.ts';
import { maintenanceQueue, type MaintenanceInput } from '../kit/maintenance-queue.ts';

export interface PruneInput extends MaintenanceInput {
  /** Longest single attempt (`jobqueue.queueconf.JobCleanerTimeout`). */
  readonly timeoutMs: number;
}

/** Creates partitions for the days to come and drops those past their retention. */
export const pruneRecordsContract = defineContract<PruneInput>({
  name: 'pruneRecords',
  queue: maintenanceQueue,
  workflowId: () => 'prune-records',
  schedule: { every: 3_600_000, input: ({ jobCleanerTimeoutMs }) => ({ timeoutMs: jobCleanerTimeoutMs }) },
});
