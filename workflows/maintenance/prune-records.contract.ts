import { defineContract } from '../kit/contract.ts';
import type { MaintenanceInput } from './sweep-outbox.contract.ts';

export type { MaintenanceInput };

/** Makes partitions for the days to come and drops those past their retention; runs every hour. */
export const pruneRecordsContract = defineContract<MaintenanceInput>({
  name: 'pruneRecords',
  workflowId: () => 'prune-records',
});
