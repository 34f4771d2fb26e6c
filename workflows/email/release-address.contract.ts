import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface ReleaseAddressInput {
  readonly queue: ActivityQueue;
  readonly suppressionId: string;
  /** Absent for an address that gets no e-mails about accounts. */
  readonly organizationId?: string;
}

export const releaseAddressContract = defineContract<ReleaseAddressInput>({
  name: 'releaseAddress',
  queue: 'email',
  workflowId: ({ suppressionId }) => `release-address/${suppressionId}`,
});
