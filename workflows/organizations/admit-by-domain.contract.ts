import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

export interface AdmitByDomainInput {
  readonly queue: ActivityQueue;
  /** The person who has confirmed their address; it is read when it is needed. */
  readonly userId: string;
  /** The change of the address that was confirmed; absent for that of a new account. */
  readonly emailChangeId?: string;
}

/** Makes a person a member of the organizations to which the domain of their address belongs. */
export const admitByDomainContract = defineContract<AdmitByDomainInput>({
  name: 'admitByDomain',
  queue: 'maintenance',
  workflowId: ({ userId, emailChangeId }) => ['admit-by-domain', userId, emailChangeId ?? []].flat().join('/'),
});
