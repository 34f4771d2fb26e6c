import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface DeleteAnnouncedInput {
  readonly queue: ActivityQueue;
  readonly organizationId: string;
}

/**
 * - `deleted`: as the owner would have done.
 * - `spared`: the owner who announced it is no owner any more.
 * - `postponed`: it is due later.
 * - `none`: nothing is announced, or the organization is gone.
 */
export type AnnouncedOutcome = 'deleted' | 'spared' | 'postponed' | 'none';

/** Deletes an organization whose owner has announced it. */
export const deleteAnnouncedContract = defineContract<DeleteAnnouncedInput>({
  name: 'deleteAnnounced',
  queue: 'maintenance',
  workflowId: ({ organizationId }) => `delete-announced/${organizationId}`,
});
