import { defineContract } from '../kit/contract.ts';
import type { MaintenanceInput } from './sweep-outbox.contract.ts';

export interface PruneInput extends MaintenanceInput {
  /** Longest single attempt (`jobqueue.queueconf.JobCleanerTimeout`). */
  readonly timeoutMs: number;
}

/** Makes partitions for the days to come and drops those past their retention; runs every hour. */
export const pruneRecordsContract = defineContract<PruneInput>({
  name: 'pruneRecords',
  workflowId: () => 'prune-records',
});
