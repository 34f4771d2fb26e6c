import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface RestoreOrganizationInput {
  readonly queue: ActivityQueue;
  /** Id of the organization removal that is undone. */
  readonly removalId: string;
  /** Where an earlier run of it has stopped; absent in the first one. */
  readonly from?: RestorationProgress;
}

/** Progress of the undo of a removal, which walks through the history of it; also the answer to the query `progress`. */
export interface RestorationProgress {
  readonly restoredRecords: number;
  /** Records that this walk has restored. The last walk restores none: owners are restored before what depends on them. */
  readonly restoredInWalk: number;
  /** Position in the history where the walk continues; null at its beginning. */
  readonly before: { readonly at: string; readonly id: string } | null;
  readonly isCompleted: boolean;
}

/** Restores a deleted organization, with what belonged to it. */
export const restoreOrganizationContract = defineContract<RestoreOrganizationInput>({
  name: 'restoreOrganization',
  queue: 'maintenance',
  workflowId: ({ removalId }) => `restore-organization/${removalId}`,
});
