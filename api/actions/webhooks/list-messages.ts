import { Type, type Static, type TObject } from 'typebox';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import { messageStates, readAttempts, readMessages, type LogPage } from '#entities/webhooks/webhook-message-rows.ts';
import type { Asking } from '../../credentials/asking.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { defaultPageSize, pageSlice } from '../../http/response/page-slice.ts';
import { refuseMalformedIds } from '../../webhooks/malformed-ids.ts';
import { instant, listOf, oneOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const pageInput = {
  id: idSchema('Id of the endpoint.'),
  eventId: Type.Optional(idSchema('Only messages of this event.')),
  after: Type.Optional(idSchema('Id of the last entry of the previous page.')),
  first: Type.Optional(
    Type.Integer({ minimum: 0, description: `Maximum number of entries. Without it: ${defaultPageSize}.` }),
  ),
};

const status = (description: string) =>
  oneOf(messageStates, description, {
    name: 'WebhookMessageStatus',
    description: 'Status of a message to an endpoint.',
  });

const common = {
  method: 'GET',
  tag: 'Webhook endpoints',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  errors: ['not_found', 'limit_exceeded'],
} as const;

export const webhookMessages = defineAction({
  ...common,
  name: 'webhookMessages',
  operationId: 'listWebhookEndpointMessages',
  url: '/v1/webhook-endpoints/:id/messages',
  summary: 'List messages to an endpoint',
  description: 'The newest first. Messages are kept for 30 days.',
  input: { ...pageInput, status: Type.Optional(status('Only messages with this status.')) },
  answer: listOf(
    Type.Object(
      {
        eventId: idSchema('Id of the event, which every attempt sends as webhook-id.'),
        type: Type.String({ description: 'Type of the event.' }),
        kind: Type.String({ description: 'Kind of the record.' }),
        recordId: idSchema('Id of the record.'),
        requestId: orNull(Type.String({ description: 'Id of the request that caused the event.' })),
        occurredAt: instant('When the event happened.'),
        status: status('Status of the message.'),
        attempts: Type.Integer({ description: 'Number of failed attempts since the message became due.' }),
        dueAt: orNull(instant('When the next attempt may begin; null unless the message is due.')),
      },
      { title: 'WebhookMessage' },
    ),
  ),
  run: async (asking, { status: wanted, ...page }) => {
    const slice = await pageOf(asking, page);
    return readMessages(asking.unit, { ...slice, ...(wanted === undefined ? {} : { status: wanted }) });
  },
});

export const webhookAttempts = defineAction({
  ...common,
  name: 'webhookAttempts',
  operationId: 'listWebhookEndpointAttempts',
  url: '/v1/webhook-endpoints/:id/attempts',
  summary: 'List attempts to send to an endpoint',
  description: 'The newest first. Attempts are kept for 30 days.',
  input: pageInput,
  answer: listOf(
    Type.Object(
      {
        id: idSchema('Id of the attempt.'),
        eventId: idSchema('Id of the event.'),
        type: Type.String({ description: 'Type of the event.' }),
        number: Type.Integer({ description: '1 for the first attempt since the message became due.' }),
        attemptedAt: instant('When the attempt began.'),
        durationMs: Type.Integer({ description: 'Duration in milliseconds.' }),
        status: orNull(Type.Integer({ description: 'HTTP status of the response; null without one.' })),
        problem: orNull(Type.String({ description: 'Why there is no usable response.' })),
        response: orNull(Type.String({ description: 'The first 4 KiB of the response.' })),
      },
      { title: 'WebhookAttempt' },
    ),
  ),
  run: async (asking, page) => readAttempts(asking.unit, await pageOf(asking, page)),
});

async function pageOf(
  { unit, services }: Asking,
  { id, eventId, after, first }: Static<TObject<typeof pageInput>>,
): Promise<LogPage> {
  refuseMalformedIds({ '/eventId': eventId, '/after': after });
  const { size } = pageSlice({ first: first ?? null }, services.config.current.server.maxresultlimit);
  // The tables that are read afterwards have no rules of their own: whoever sees the endpoint sees what was sent to it.
  const endpoint = await unit.data.get(webhookEndpoint, existingId(webhookEndpoint, id));
  return {
    endpointId: endpoint.id,
    size,
    ...(eventId === undefined ? {} : { eventId }),
    ...(after === undefined ? {} : { before: after }),
  };
}
