import { defineContract } from '../kit/contract.ts';
import { transferQueue, type TransferInput } from './transfer-input.ts';

export const importRecordsContract = defineContract<TransferInput>({
  name: 'importRecords',
  queue: transferQueue,
  workflowId: ({ id, runId }) => `import/${id}/${runId}`,
});
