import { createHash } from 'node:crypto';
import { Type, type Static } from 'typebox';
import { configuredSender } from '../webhooks/configured-sender.ts';
import { defineReceiver, filledText, instantAt, textAt, type ReceivedEvent } from '../webhooks/define-receiver.ts';
import { hasBasicPassword } from './basic-password.ts';
import { emailReport, type Outcome } from './email-report.ts';

const payload = Type.Object({
  RecordType: filledText,
  MessageID: filledText,
  Metadata: Type.Object({ email_id: filledText }),
});

/** Mail provider B authenticates with a password, and its events have no ids. */
export const providerB = defineReceiver({
  url: '/v1/email/webhook/providerb',
  operationId: 'receiveProviderBEvents',
  summary: 'Events of mail provider B',
  description: 'For mail provider B, which reports the status of e-mails.',
  senders: configuredSender('providerb', ({ integrations }) => integrations.email.providerb.webhooksecret),
  verify: hasBasicPassword,
  payload,
  read: readEvent,
});

/** By the type of record: what it reports, and where it has its time. */
const records: ReadonlyMap<string, { readonly outcome: Outcome; readonly at: string }> = new Map([
  ['Delivery', { outcome: 'delivered', at: 'DeliveredAt' }],
  ['Bounce', { outcome: 'soft_bounce', at: 'BouncedAt' }],
  ['SpamComplaint', { outcome: 'complaint', at: 'BouncedAt' }],
  ['Open', { outcome: 'opened', at: 'ReceivedAt' }],
  ['Click', { outcome: 'clicked', at: 'ReceivedAt' }],
]);

/** Types of bounces that will not be otherwise next time. */
const hardBounces: ReadonlySet<string | undefined> = new Set(['HardBounce', 'BadEmailAddress', 'ManuallyDeactivated']);

function readEvent(document: Static<typeof payload>): ReceivedEvent | undefined {
  const { RecordType: type, MessageID: messageId, Metadata: metadata } = document;
  const record = records.get(type);
  const occurredAt = record && instantAt(document, record.at);
  if (!record || !occurredAt) return undefined;
  const bounce = textAt(document, 'Type');
  const isHard = type === 'Bounce' && hardBounces.has(bounce);
  // The same event has the same type, message and time.
  const parts = JSON.stringify([type, bounce ?? '', messageId, textAt(document, record.at)]);
  return emailReport({
    externalId: createHash('sha256').update(parts).digest('hex'),
    type,
    occurredAt,
    outcome: isHard ? 'hard_bounce' : record.outcome,
    emailId: metadata.email_id,
    messageId,
    address: textAt(document, 'Recipient') ?? textAt(document, 'Email'),
  });
}
