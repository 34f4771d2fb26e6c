import { defineContract } from '../kit/contract.ts';
import { transferQueue, type TransferInput } from './transfer-input.ts';

export const exportRecordsContract = defineContract<TransferInput>({
  name: 'exportRecords',
  queue: transferQueue,
  workflowId: ({ id, runId }) => `export/${id}/${runId}`,
});
