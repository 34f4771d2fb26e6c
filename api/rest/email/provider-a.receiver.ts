import { Type, type Static } from 'typebox';
import { configuredSender } from '../webhooks/configured-sender.ts';
import {
  defineReceiver,
  filledText,
  instantAt,
  textAt,
  type RawDelivery,
  type ReceivedEvent,
} from '../webhooks/define-receiver.ts';
import { hasSvixSignature } from '../webhooks/standard-signature.ts';
import { emailReport, type Outcome } from './email-report.ts';

const payload = Type.Object({ type: filledText, created_at: filledText, data: Type.Object({}) });

/** Mail provider A signs as Svix does; the id of an event is the one of the delivery. */
export const providerA = defineReceiver({
  url: '/v1/email/webhook/providera',
  operationId: 'receiveProviderAEvents',
  summary: 'Events of mail provider A',
  description: 'For mail provider A, which reports the status of e-mails.',
  senders: configuredSender('providera', ({ integrations }) => integrations.email.providera.webhooksecret),
  verify: hasSvixSignature,
  payload,
  read: readEvent,
});

const outcomes: ReadonlyMap<string, Outcome> = new Map([
  ['email.sent', 'sent'],
  ['email.delivered', 'delivered'],
  ['email.opened', 'opened'],
  ['email.clicked', 'clicked'],
  ['email.complained', 'complaint'],
  ['email.failed', 'failed'],
  ['email.suppressed', 'suppressed'],
]);

function readEvent(document: Static<typeof payload>, { headers }: RawDelivery): ReceivedEvent | undefined {
  const { type } = document;
  const externalId = headers['svix-id'];
  const occurredAt = instantAt(document, 'created_at');
  if (typeof externalId !== 'string' || !occurredAt) return undefined;
  const isBounce = type === 'email.bounced';
  const outcome = isBounce ? bounceOf(textAt(document, 'data', 'bounce', 'type')) : outcomes.get(type);
  const emailId = tagOf(document, 'email_id');
  if (outcome === undefined || emailId === undefined) return undefined;
  return emailReport({
    externalId,
    type,
    occurredAt,
    outcome,
    emailId,
    messageId: textAt(document, 'data', 'email_id'),
    address: recipientOf(document),
  });
}

/** Only a permanent bounce says something about the address. */
function bounceOf(type: string | undefined): Outcome {
  return type === undefined || type === 'Permanent' ? 'hard_bounce' : 'soft_bounce';
}

function recipientOf({ data }: Static<typeof payload>): string | undefined {
  const { to: recipients } = data as { readonly to?: unknown };
  const [to] = Array.isArray(recipients) ? (recipients as unknown[]) : [];
  return typeof to === 'string' ? to : undefined;
}

/** The provider writes tags as an object, or as a list of names and values. */
function tagOf({ data }: Static<typeof payload>, name: string): string | undefined {
  const { tags } = data as { readonly tags?: unknown };
  if (!Array.isArray(tags)) return textAt(data, 'tags', name);
  const found: unknown = tags.find((tag) => textAt(tag, 'name') === name);
  return textAt(found, 'value');
}
