import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface RemoveOrganizationInput {
  readonly queue: ActivityQueue;
  /** Id of the organization removal. */
  readonly removalId: string;
  /** An earlier run of it has cancelled the subscriptions. */
  readonly isBillingEnded?: boolean;
}

/** How far the removal of an organization is; also the answer to the query `progress`. */
export interface RemovalProgress {
  readonly totalRecords: number;
  readonly removedRecords: number;
  readonly isCompleted: boolean;
}

/** Removes what belongs to a deleted organization. */
export const removeOrganizationContract = defineContract<RemoveOrganizationInput>({
  name: 'removeOrganization',
  queue: 'maintenance',
  workflowId: ({ removalId }) => `remove-organization/${removalId}`,
});
