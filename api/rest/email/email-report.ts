import { parseEmail } from '#entities/kit/base/email-address.ts';
import type { ReceivedEvent } from '../webhooks/define-receiver.ts';

/** Reports of the providers about an e-mail, in one vocabulary; the listener apply-email-report knows it. */
export type Outcome =
  | 'sent'
  | 'delivered'
  | 'opened'
  | 'clicked'
  | 'hard_bounce'
  | 'soft_bounce'
  | 'complaint'
  | 'failed'
  | 'suppressed';

interface Report {
  readonly externalId: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly outcome: Outcome;
  readonly emailId: string;
  readonly messageId: string | undefined;
  readonly address: string | undefined;
}

/** Maximum lengths of what is kept of an event; longer texts, and what is no address, could not become part of a record. */
const maxLengths = { outcome: 64, emailId: 26, messageId: 200, address: 254 } as const;

/** The event of a report; undefined when its id cannot be kept. */
export function emailReport(report: Report): ReceivedEvent | undefined {
  const { externalId, type, occurredAt, outcome, emailId, messageId, address } = report;
  const texts = { outcome, emailId, messageId, address: parseEmail(address ?? '')?.address };
  const known = Object.entries(texts).filter(
    (entry): entry is [keyof typeof texts, string] =>
      entry[1] !== undefined && entry[1].length <= maxLengths[entry[0] as keyof typeof texts],
  );
  if (externalId.length > 200) return undefined;
  return { externalId, type, occurredAt, values: Object.fromEntries(known) };
}
