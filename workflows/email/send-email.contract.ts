import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract, type StartInput, type WorkflowPriority } from '../kit/contract.ts';

/** The mails of the product; their texts are in activities/email. */
export type EmailTemplate =
  | 'verify-address'
  | 'welcome'
  | 'registration-repeated'
  | 'reset-password'
  | 'password-changed'
  | 'password-set-by-link'
  | 'identity-linked'
  | 'identity-unlinked'
  | 'new-device'
  | 'session-copied'
  | 'second-factor-confirmed'
  | 'second-factor-removed'
  | 'recovery-code-used'
  | 'recovery-codes-replaced'
  | 'confirm-email-change'
  | 'email-change-requested'
  | 'email-changed'
  | 'account-deactivated'
  | 'reactivation-expired'
  | 'account-reactivated'
  | 'account-deleted'
  | 'invite'
  | 'invite-accepted'
  | 'verify-subscriber'
  | 'token-created'
  | 'token-rotated'
  | 'token-authorized'
  | 'support-consent-given'
  | 'support-access-begun'
  | 'impersonation-begun'
  | 'new-owner'
  | 'single-sign-on-enforcement'
  | 'single-sign-on-provider'
  | 'single-sign-on-removed'
  | 'passkey-added'
  | 'passkey-removed'
  | 'passkey-copied'
  | 'notification'
  | 'digest';

export interface SendEmailInput {
  readonly queue: ActivityQueue;
  /** Idempotency key: `<event>/<listener>`, or one that several events share when they cause one mail. */
  readonly key: string;
  readonly template: EmailTemplate;
  /** The organization that it is sent for, whose managers see what becomes of it; absent for e-mails about an account. */
  readonly organizationId?: string;
  /** The recipient; the address is read when the mail is sent. Absent for an address that has no account yet: it is read from `about`. */
  readonly userId?: string;
  /** The record that the mail is about, and for a record with a link its round. */
  readonly about?: { readonly id: string; readonly round: number };
  /** Of a notification: it goes before others. */
  readonly isUrgent?: true;
  /** The device that the mail is about, and when it was seen (RFC 3339). */
  readonly device?: { readonly userAgent: string; readonly address: string; readonly at: string };
}

/** How the sending of an e-mail ends; see the states of `email`. */
export type SendEmailResult = 'sent' | 'refused' | 'suppressed' | 'outdated' | 'failed';

export const sendEmailContract = defineContract<SendEmailInput>({
  name: 'sendEmail',
  queue: 'email',
  workflowId: emailWorkflowId,
  priority: priorityOf,
});

/** Id of the workflow of an e-mail, without the prefix of the installation. */
export function emailWorkflowId({ key }: Pick<SendEmailInput, 'key'>): string {
  return `email/${key}`;
}

/** Mails that can wait, from those that wait least. All others are about accounts and their security, and go first. */
const waiting: Partial<Record<EmailTemplate, WorkflowPriority>> = {
  welcome: 3,
  'registration-repeated': 3,
  invite: 3,
  'invite-accepted': 3,
  'verify-subscriber': 3,
  notification: 4,
  digest: 5,
};

function priorityOf({ template, isUrgent }: StartInput<SendEmailInput>): WorkflowPriority {
  return isUrgent ? 2 : (waiting[template] ?? 1);
}
