import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface DisconnectIntegrationInput {
  readonly queue: ActivityQueue;
  readonly integrationId: string;
}

/** Says that there is an integration to disconnect. */
export const disconnectSignalName = 'disconnect';

/** Ends the credential of an integration at the other system, then deletes what belongs to the integration. */
export const disconnectIntegrationContract = defineContract<DisconnectIntegrationInput>({
  name: 'disconnectIntegration',
  queue: 'integrations',
  wakeSignal: disconnectSignalName,
  workflowId: ({ integrationId }) => `integration-disconnect/${integrationId}`,
});
