import type { ActivityQueue } from '../kit/activity-queue.ts';
import { defineContract } from '../kit/contract.ts';

/** Mails the product sends; each has its template in activities/clients/email/templates. */
export type EmailKind = 'verify-address' | 'welcome' | 'registration-repeated';

export interface SendEmailInput {
  readonly queue: ActivityQueue;
  /** `<event>/<listener>`, unless several events share a mail: the same key is the same mail, however often it is tried. */
  readonly key: string;
  readonly kind: EmailKind;
  /** Who gets it; the address is read when the mail is sent. */
  readonly userId: string;
  /** The record the mail is about, and its state that the mail was asked for in. */
  readonly about?: { readonly id: string; readonly round: number };
}

export const sendEmailContract = defineContract<SendEmailInput>({
  name: 'sendEmail',
  queue: 'email',
  workflowId: ({ key }) => `email/${key}`,
});
