import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { integrationsQueue } from './integrations-queue.ts';

export interface RunIntegrationOperationInput {
  readonly queue: ActivityQueue;
  readonly runId: string;
}

/** Says that the row of the run was changed: it was requested, confirmed or cancelled. */
export const wakeSignalName = 'wake';

/** Brings the records of one run in. Its row says how far it is (entities/integrations/integration-run.ts). */
export const runIntegrationOperationContract = defineContract<RunIntegrationOperationInput>({
  name: 'runIntegrationOperation',
  queue: integrationsQueue,
  wakeSignal: wakeSignalName,
  workflowId: ({ runId }) => `integration-run/${runId}`,
});
