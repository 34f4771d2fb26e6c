import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract, type StartInput } from '../kit/contract.ts';
import type { SendEmailInput } from './send-email.contract.ts';

/** A digest whose mail is to be sent. */
export interface DigestToSend {
  readonly id: string;
  readonly round: number;
  readonly organizationId: string;
  readonly userId: string;
}

export interface SendDigestsInput {
  readonly queue: ActivityQueue;
  /** At least one, and no more than `maxDigests`. */
  readonly digests: readonly DigestToSend[];
}

/** How the mails of a batch have ended. */
export interface SentDigests {
  /** Accepted by the provider. */
  readonly sent: number;
  /** Of which nothing was to be sent, or that were refused. */
  readonly ended: number;
  /** Whose mails a workflow each sends: the outcome of an attempt is not known, or the provider has refused to take all of them at once. */
  readonly single: number;
}

/** Names a batch by its first digest. Digests that are claimed again, because nothing began with them in time, may come in another batch. */
export function batchOf({ digests: [first] }: StartInput<SendDigestsInput>): string {
  return `${first?.id}/${first?.round}`;
}

/** Id of the workflow of a batch, without the prefix of the installation. */
export function batchWorkflowId(batch: string): string {
  return `digests/${batch}`;
}

/** What one request to a provider takes. */
export const maxDigests = 100;

export const sendDigestsContract = defineContract<SendDigestsInput>({
  name: 'sendDigests',
  queue: 'email',
  workflowId: (input) => batchWorkflowId(batchOf(input)),
  priority: () => 5,
});

/** The mail of a digest, as the workflow that sends it alone is given it. */
export function emailOfDigest({ id, round, organizationId, userId }: DigestToSend): StartInput<SendEmailInput> {
  return { key: `digest/${id}/${round}`, template: 'digest', organizationId, userId, about: { id, round } };
}
