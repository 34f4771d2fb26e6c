import type { SendFailureReason } from '../clients/email/transport.ts';

/** Values of the record while a mail is not sent for a reason that may pass. */
export const passingProblems = {
  limited: { status: 'waiting', code: 'too_many_requests' },
  credentials: { status: 'waiting', code: 'credentials_refused' },
  unsent: { status: 'pending', code: 'provider_unreachable' },
  unknown: { status: 'sending', code: 'no_answer' },
} as const;

/** Values of the record when the provider does not take the mail, now or later. */
export const finalProblems = {
  address: { status: 'refused', code: 'address_refused' },
  content: { status: 'failed', code: 'content_refused' },
} as const;

/** Whether the provider takes the mail neither now nor later. */
export function isFinal(reason: SendFailureReason): reason is keyof typeof finalProblems {
  return Object.hasOwn(finalProblems, reason);
}
