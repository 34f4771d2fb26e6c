import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface SetUpOrganizationInput {
  readonly queue: ActivityQueue;
  readonly organizationId: string;
}

/** Content that a new organization gets after its creation: its settings, groups and entity types were created together with it. */
export const setUpOrganizationContract = defineContract<SetUpOrganizationInput>({
  name: 'setUpOrganization',
  queue: 'maintenance',
  workflowId: ({ organizationId }) => `set-up-organization/${organizationId}`,
});
