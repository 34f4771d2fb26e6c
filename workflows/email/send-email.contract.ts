import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract, type WorkflowPriority } from '../kit/contract.ts';

export interface SendEmailInput {
  readonly queue: ActivityQueue;
  /** Idempotency key: `<event>/<listener>`, or one that several events share when they cause one mail. */
  readonly key: string;
  /** Name of the mail (activities/mails). */
  readonly template: string;
  /** The organization that it is sent for, whose managers see what becomes of it; absent for e-mails about an account. */
  readonly organizationId?: string;
  /** The recipient; the address is read when the mail is sent. Absent for an address that has no account yet: it is read from `about`. */
  readonly userId?: string;
  /**
   * Id of the record that the mail is about, and the round of the link in the mail: a number of the record that grows when earlier links
   * become invalid. 1 for records without one.
   */
  readonly about?: { readonly id: string; readonly round: number };
  /** Its place in a full queue; 1, that of mails about accounts and security, when left out. */
  readonly priority?: WorkflowPriority;
  /** The device that the mail is about, and when it was seen (RFC 3339). */
  readonly device?: { readonly userAgent: string; readonly address: string; readonly at: string };
}

/** How the sending of an e-mail ends; see the states of `email`. */
export type SendEmailResult = 'sent' | 'refused' | 'suppressed' | 'outdated' | 'failed';

export const sendEmailContract = defineContract<SendEmailInput>({
  name: 'sendEmail',
  queue: 'email',
  workflowId: emailWorkflowId,
  priority: ({ priority }) => priority ?? 1,
});

/** Id of the workflow of an e-mail, without the prefix of the installation. */
export function emailWorkflowId({ key }: Pick<SendEmailInput, 'key'>): string {
  return `email/${key}`;
}
