import { Type, type Static } from 'typebox';
import { hasPaymentSignature } from '#activities/clients/payment/payment-signature.ts';
import { paymentKeyMode } from '#config/objects/payment-key.ts';
import type { Config } from '#config/objects/root.ts';
import { selectedPaymentEvents } from '#entities/billing/payment-event-types.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isInstant } from '#entities/kit/base/instant.ts';
import { configuredSender } from '../webhooks/configured-sender.ts';
import { defineReceiver, textAt, type RawDelivery, type ReceivedEvent } from '../webhooks/define-receiver.ts';

/** Maximum size of an event, in bytes. */
const limitBytes = 65_536;

const idText = Type.String({ pattern: '^[A-Za-z0-9_]{1,200}$' });

const payload = Type.Object({
  id: idText,
  type: Type.String({ maxLength: 200 }),
  created: Type.Integer({ minimum: 0 }),
  livemode: Type.Boolean(),
  data: Type.Object({ object: Type.Object({}) }),
});

/** Only id, type and customer of an event are used: what the customer has now is read from the provider afterwards. */
export const paymentReceiver = defineReceiver({
  url: '/v1/payment/webhook',
  operationId: 'receivePaymentEvents',
  summary: 'Events of the payment provider',
  description:
    'For the payment provider, which reports that something about a customer has changed. An event in a version that is not accepted is answered with 200 and has no effect.',
  limitBytes,
  query: Type.Object(
    {
      api_version: Type.Optional(
        Type.String({
          maxLength: 100,
          description: 'Version of the interface of the provider in which the event is written.',
        }),
      ),
    },
    { additionalProperties: false },
  ),
  senders: configuredSender('payment', secretFor),
  discards: (delivery, { subscription }) => {
    const { enabled, paymentwebhookapiversion: accepted, paymentwebhookdiscardapiversion: discarded } = subscription;
    const version = versionOf(delivery);
    if (!enabled || version === '') return false;
    return version === discarded || (accepted !== '' && version !== accepted);
  },
  verify: ({ headers, body }, secret, now) => {
    const signature = headers['stripe-signature'];
    return typeof signature === 'string' && hasPaymentSignature(body, signature, secret, now);
  },
  payload,
  read: readEvent,
});

/** Empty when the delivery names none. */
function versionOf({ query }: RawDelivery): string {
  const version = query['api_version'];
  return typeof version === 'string' ? version : '';
}

function secretFor({ subscription }: Config, delivery: RawDelivery): string {
  const { enabled, paymentwebhooksecrets: secrets, paymentwebhooksecret: legacy } = subscription;
  if (!enabled) return '';
  const version = versionOf(delivery);
  return Object.hasOwn(secrets, version) ? (secrets[version] ?? '') : legacy;
}

function readEvent(
  { id, type, created, livemode, data }: Static<typeof payload>,
  _delivery: RawDelivery,
  { subscription }: Config,
): ReceivedEvent | undefined {
  if (!selectedPaymentEvents(subscription.paymentwebhookevents).includes(type)) return undefined;
  const mode = livemode ? 'live' : 'test';
  const keyMode = paymentKeyMode(subscription.privatepaymentkey);
  if (keyMode !== undefined && keyMode !== mode)
    throw new AppError(
      'malformed_body',
      `The event is one of the ${mode} mode, but the key of this server is one of the ${keyMode} mode.`,
    );
  const customer = customerOf(data);
  const occurredAt = new Date(created * 1_000);
  if (customer === undefined || !isInstant(occurredAt)) return undefined;
  return { externalId: id, type, occurredAt, values: { customer } };
}

/** The customer whom an event is about. A payment method that was detached has only had one. */
function customerOf(data: object): string | undefined {
  const isCustomer = textAt(data, 'object', 'object') === 'customer';
  const id =
    (isCustomer ? textAt(data, 'object', 'id') : undefined) ??
    textAt(data, 'object', 'customer') ??
    textAt(data, 'object', 'customer', 'id') ??
    textAt(data, 'previous_attributes', 'customer');
  return id !== undefined && /^[A-Za-z0-9_]{1,100}$/.test(id) ? id : undefined;
}
