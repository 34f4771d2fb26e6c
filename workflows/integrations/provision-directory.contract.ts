import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';
import { integrationsQueue } from './integrations-queue.ts';

export interface ProvisionDirectoryInput {
  readonly queue: ActivityQueue;
  readonly integrationId: string;
}

/** Says that accounts or settings have changed. */
export const provisionSignalName = 'provision';

/** Gives and ends the memberships that follow from the primary directory of an organization. */
export const provisionDirectoryContract = defineContract<ProvisionDirectoryInput>({
  name: 'provisionDirectory',
  queue: integrationsQueue,
  wakeSignal: provisionSignalName,
  workflowId: ({ integrationId }) => `integration-provision/${integrationId}`,
});
