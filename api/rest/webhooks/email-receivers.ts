import { parseEmail } from '#entities/kit/base/email-address.ts';
import { createHash } from 'node:crypto';
import { hasBasicPassword } from './basic-password.ts';
import { defineReceiver, instantAt, textAt, type RawDelivery, type ReceivedEvent } from './receiver.ts';
import { hasSvixSignature } from './svix-signature.ts';

/** Reports of the providers about an e-mail, in one vocabulary; the listener apply-email-report knows it. */
type Outcome =
  | 'sent'
  | 'delivered'
  | 'opened'
  | 'clicked'
  | 'hard_bounce'
  | 'soft_bounce'
  | 'complaint'
  | 'failed'
  | 'suppressed';

/** Mail provider A signs as Svix does; the id of an event is the one of the delivery. */
const providerA = defineReceiver({
  source: 'providera',
  url: '/v1/email/webhook/providera',
  operationId: 'receiveProviderAEvents',
  summary: 'Events of mail provider A',
  description: 'For mail provider A, which reports the status of e-mails.',
  secretOf: ({ integrations }) => integrations.email.providera.webhooksecret,
  verify: hasSvixSignature,
  read: readA,
});

/** Mail provider B authenticates with a password, and its events have no ids. */
const providerB = defineReceiver({
  source: 'providerb',
  url: '/v1/email/webhook/providerb',
  operationId: 'receiveProviderBEvents',
  summary: 'Events of mail provider B',
  description: 'For mail provider B, which reports the status of e-mails.',
  secretOf: ({ integrations }) => integrations.email.providerb.webhooksecret,
  verify: hasBasicPassword,
  read: readB,
});

export const emailReceivers = [providerA, providerB] as const;

const outcomesOfA: ReadonlyMap<string, Outcome> = new Map([
  ['email.sent', 'sent'],
  ['email.delivered', 'delivered'],
  ['email.opened', 'opened'],
  ['email.clicked', 'clicked'],
  ['email.complained', 'complaint'],
  ['email.failed', 'failed'],
  ['email.suppressed', 'suppressed'],
]);

function readA(document: unknown, { headers }: RawDelivery): ReceivedEvent | undefined {
  const type = textAt(document, 'type');
  const externalId = headers['svix-id'];
  const occurredAt = instantAt(document, 'created_at');
  if (type === undefined || typeof externalId !== 'string' || !occurredAt) return undefined;
  const isBounce = type === 'email.bounced';
  const outcome = isBounce ? bounceOfA(textAt(document, 'data', 'bounce', 'type')) : outcomesOfA.get(type);
  const emailId = tagOf(document, 'email_id');
  if (outcome === undefined || emailId === undefined) return undefined;
  return eventOf({
    externalId,
    type,
    occurredAt,
    outcome,
    emailId,
    messageId: textAt(document, 'data', 'email_id'),
    address: recipientOfA(document),
  });
}

/** Only a permanent bounce says something about the address. */
function bounceOfA(type: string | undefined): Outcome {
  return type === undefined || type === 'Permanent' ? 'hard_bounce' : 'soft_bounce';
}

function recipientOfA(document: unknown): string | undefined {
  const { data } = document as { readonly data?: { readonly to?: unknown } };
  const [to] = Array.isArray(data?.to) ? (data.to as unknown[]) : [];
  return typeof to === 'string' ? to : undefined;
}

/** The provider writes tags as an object, or as a list of names and values. */
function tagOf(document: unknown, name: string): string | undefined {
  const { data } = document as { readonly data?: { readonly tags?: unknown } };
  if (!Array.isArray(data?.tags)) return textAt(data, 'tags', name);
  const found: unknown = data.tags.find((tag) => textAt(tag, 'name') === name);
  return textAt(found, 'value');
}

/** By the type of record: what it reports, and where it has its time. */
const recordsOfB: ReadonlyMap<string, { readonly outcome: Outcome; readonly at: string }> = new Map([
  ['Delivery', { outcome: 'delivered', at: 'DeliveredAt' }],
  ['Bounce', { outcome: 'soft_bounce', at: 'BouncedAt' }],
  ['SpamComplaint', { outcome: 'complaint', at: 'BouncedAt' }],
  ['Open', { outcome: 'opened', at: 'ReceivedAt' }],
  ['Click', { outcome: 'clicked', at: 'ReceivedAt' }],
]);

/** Types of bounces that will not be otherwise next time. */
const hardBouncesOfB: ReadonlySet<string | undefined> = new Set([
  'HardBounce',
  'BadEmailAddress',
  'ManuallyDeactivated',
]);

function readB(document: unknown): ReceivedEvent | undefined {
  const type = textAt(document, 'RecordType');
  const record = type === undefined ? undefined : recordsOfB.get(type);
  const emailId = textAt(document, 'Metadata', 'email_id');
  const messageId = textAt(document, 'MessageID');
  const occurredAt = record && instantAt(document, record.at);
  if (type === undefined || !record || !occurredAt || emailId === undefined || messageId === undefined)
    return undefined;
  const bounce = textAt(document, 'Type');
  const isHard = type === 'Bounce' && hardBouncesOfB.has(bounce);
  // The same event has the same type, message and time.
  const parts = JSON.stringify([type, bounce ?? '', messageId, textAt(document, record.at)]);
  return eventOf({
    externalId: createHash('sha256').update(parts).digest('hex'),
    type,
    occurredAt,
    outcome: isHard ? 'hard_bounce' : record.outcome,
    emailId,
    messageId,
    address: textAt(document, 'Recipient') ?? textAt(document, 'Email'),
  });
}

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

function eventOf({ externalId, type, occurredAt, outcome, emailId, messageId, address }: Report) {
  const texts = { outcome, emailId, messageId, address: parseEmail(address ?? '')?.address };
  const known = Object.entries(texts).filter(
    (entry): entry is [keyof typeof texts, string] =>
      entry[1] !== undefined && entry[1].length <= maxLengths[entry[0] as keyof typeof texts],
  );
  if (externalId.length > 200) return undefined;
  return { externalId, type, occurredAt, values: Object.fromEntries(known) };
}
