import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface RemoveOrganizationInput {
  readonly queue: ActivityQueue;
  /** Id of the organization removal. */
  readonly removalId: string;
  /** Steps that earlier runs of it have found and ended; absent in the first one. */
  readonly continued?: { readonly steps: readonly StepOrder[]; readonly ended: readonly string[] };
}

/** A step of a removal, and the steps that end before it begins. */
export interface StepOrder {
  /** Type of its activity. */
  readonly name: string;
  readonly after: readonly string[];
}

/** Progress of the removal of an organization; also the answer to the query `progress`. */
export interface RemovalProgress {
  readonly totalRecords: number;
  readonly removedRecords: number;
  readonly isCompleted: boolean;
}

/** An operator gives up a step that keeps failing; its argument is the name of the step. */
export const skipStepSignal = 'skipStep';

/** Removes what belongs to a deleted organization. */
export const removeOrganizationContract = defineContract<RemoveOrganizationInput>({
  name: 'removeOrganization',
  queue: 'maintenance',
  workflowId: ({ removalId }) => `remove-organization/${removalId}`,
});
