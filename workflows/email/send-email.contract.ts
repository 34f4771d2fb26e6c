import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

/** The mails of the product; their texts are in activities/email/email-activities.ts. */
export type EmailTemplate = 'verify-address' | 'welcome' | 'registration-repeated';

export interface SendEmailInput {
  readonly queue: ActivityQueue;
  /** Idempotency key: `<event>/<listener>`, or one that several events share when they cause one mail. */
  readonly key: string;
  readonly template: EmailTemplate;
  /** The recipient; the address is read when the mail is sent. */
  readonly userId: string;
  /** The record the mail is about, with the round that the mail was requested in. */
  readonly about?: { readonly id: string; readonly round: number };
}

export const sendEmailContract = defineContract<SendEmailInput>({
  name: 'sendEmail',
  queue: 'email',
  workflowId: ({ key }) => `email/${key}`,
});
