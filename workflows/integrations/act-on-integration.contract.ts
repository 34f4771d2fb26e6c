import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { integrationsQueue } from './integrations-queue.ts';

export interface ActOnIntegrationInput {
  readonly queue: ActivityQueue;
  readonly integrationId: string;
  /** When the sweep found it due (RFC 3339). */
  readonly at: string;
}

/** Does what an integration needs at the moment; its row is read again. */
export const actOnIntegrationContract = defineContract<ActOnIntegrationInput>({
  name: 'actOnIntegration',
  queue: integrationsQueue,
  wakeSignal: 'act',
  workflowId: ({ integrationId }) => `integration-act/${integrationId}`,
});
