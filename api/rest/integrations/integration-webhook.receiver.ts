import { Type } from 'typebox';
import { integrationWebhook } from '#entities/integrations/integration-webhook.ts';
import { integration } from '#entities/integrations/integration.ts';
import { webhookEvent } from '#entities/integrations/webhook-event.ts';
import { noteLastEvent } from '#entities/integrations/last-event-rows.ts';
import { takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { isId } from '#entities/kit/base/ids.ts';
import { isInstant } from '#entities/kit/base/instant.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { openSealedValue } from '#entities/kit/write/sealed-values.ts';
import { organization } from '#entities/organizations/organization.ts';
import { tooManyAttempts } from '../../http/limits/too-many-attempts.ts';
import { workOf } from '../../http/request-context.ts';
import { idSchema, visibleLine } from '../../http/request-schemas.ts';
import { defineReceiver, instantAt, type ReceivedEvent, type Senders } from '../webhooks/define-receiver.ts';
import { hasStandardSignature, hasTimelyHeaders } from '../webhooks/standard-signature.ts';

type Webhook = RowOf<typeof integrationWebhook>;

/**
 * Most new events of one webhook in each hour of the clock, each counted once for every part of its body that it begins: a noisy sender fills
 * no table, with at most 80 MB an hour.
 */
const [maxPerHour, countedBytes] = [5_000, 16_384];
const hourMs = 3_600_000;

/**
 * Each webhook of an integration has a secret of its own, and its events are recorded as `integration_webhook.received` of its record. The
 * record is locked meanwhile, so listeners get its events in the order in which they arrived.
 */
const integrationWebhooks: Senders = {
  description:
    'An id without an active receiver is answered like a route that does not exist. Events whose type the receiver does not accept are answered with 200 and have no effect. After 5,000 new events in an hour, further ones are refused until the next hour; a large event is several of them, one for every 16 KB of its body.',
  errors: ['too_many_requests'],
  params: Type.Object({ endpointID: idSchema('Id of the receiver.') }),
  find: async (delivery, { request, services: { clock, database } }) => {
    const { endpointID: id } = delivery.params;
    if (!isId(id)) return undefined;
    if (!hasTimelyHeaders(delivery, clock.now()))
      throw new AppError(
        'invalid_signature',
        'The request has no signature, or its time is too far from that of the server.',
      );
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
      database.transact(workOf(request.core, systemCaller('receive event')), work);
    const webhook = await transact(async ({ data }) => {
      const found = await data.findOne(integrationWebhook, { id: { eq: id } });
      return found && (await takesEvents(data, found)) ? found : undefined;
    });
    if (!webhook) return undefined;
    const { secret } = await openSealedValue(database.options, integrationWebhook, { ...webhook }, 'secret');
    return {
      secret,
      record: async (event, body) => {
        const freeAt = await transact(async (unit) => {
          const locked = await unit.data.findLocked(integrationWebhook, id);
          if (locked?.rotatedAt?.getTime() !== webhook.rotatedAt?.getTime())
            throw new AppError('invalid_signature', 'The secret of this receiver was replaced.');
          if (!locked || !(await takesEvents(unit.data, locked)))
            throw new AppError('invalid_signature', 'This receiver does not accept events any more.');
          return recordEvent(unit, locked, event, body);
        });
        if (freeAt) throw tooManyAttempts(isFull, freeAt, clock.now());
      },
    };
  },
};

/** Contents of a deleted organization are removed later, and nothing reaches them meanwhile. */
async function takesEvents(data: UnitOfWork['data'], webhook: Webhook): Promise<boolean> {
  const home = await data.findOne(organization, { id: { eq: webhook.organizationId } });
  const connection = await data.findOne(integration, { id: { eq: webhook.integrationId } });
  if (!home || home.isArchived || !connection || connection.status === 'disabled') return false;
  return webhook.status !== 'inactive';
}

const isFull = 'More events have arrived than a receiver takes in an hour';

/** @returns when a refused event can be sent again */
async function recordEvent(
  unit: UnitOfWork,
  webhook: Webhook,
  event: ReceivedEvent,
  document: string,
): Promise<Date | undefined> {
  const { externalId, type, occurredAt } = event;
  const provider = `integration-${webhook.id.toLowerCase()}`;
  const { data } = unit;
  if (await data.findOne(webhookEvent, { provider: { eq: provider }, externalId: { eq: externalId } }))
    return undefined;
  if (webhook.allowedEvents.length > 0 && !webhook.allowedEvents.includes(type)) {
    await noteLastEvent(unit, webhook.id, externalId, `Events of the type ${type} are not accepted.`);
    return undefined;
  }
  const hour = Math.floor(unit.clock.now().getTime() / hourMs);
  const key = `received-events:${webhook.id}/${hour}`;
  const count = Math.ceil(Buffer.byteLength(document) / countedBytes);
  if (await takeAttempt(unit, [{ key, limit: maxPerHour }], hourMs, count)) {
    await noteLastEvent(unit, webhook.id, externalId, `${isFull}.`);
    return new Date((hour + 1) * hourMs);
  }
  const isNew = webhook.status !== 'active';
  const active = isNew ? await data.update(integrationWebhook, webhook.id, { status: 'active' }) : webhook;
  const stored = await data.create(webhookEvent, { provider, externalId, type, occurredAt, document });
  await noteLastEvent(unit, webhook.id, externalId, null);
  unit.emit(
    customEvent(integrationWebhook, 'received', active, {
      eventId: stored.id,
      externalId,
      type,
      occurredAt: occurredAt.toISOString(),
    }),
  );
  return undefined;
}

export const integrationReceiver = defineReceiver({
  url: '/v1/integrations/webhook/:endpointID',
  operationId: 'receiveIntegrationEvents',
  summary: 'Events for one integration webhook',
  description:
    'For the other system of an integration, which signs its events with the secret of the integration webhook, as Standard Webhooks describes it. The body has the `type` of the event, and usually its `timestamp` and `data`.',
  senders: integrationWebhooks,
  verify: hasStandardSignature,
  payload: Type.Object({ type: Type.String({ maxLength: 200, pattern: visibleLine }) }),
  read: (document, { headers }) => {
    const externalId = headers['webhook-id'];
    if (typeof externalId !== 'string' || externalId.length > 200) return undefined;
    const signedAt = new Date(Number(headers['webhook-timestamp']) * 1_000);
    const occurredAt = instantAt(document, 'timestamp') ?? signedAt;
    return isInstant(occurredAt) ? { externalId, type: document.type, occurredAt, values: {} } : undefined;
  },
});
