import { Type } from 'typebox';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import {
  attemptsOf,
  endpointLimits,
  maxReplayed,
  maxReplayedIds,
  messagesOf,
  messageStates,
  replayEndpoint,
  testEndpoint,
  type LogArguments,
  type ReplayArguments,
  type ShownAttempt,
  type ShownMessage,
} from '../../webhooks/endpoint-messages.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import { defineRoute, type Call, type Route } from '../../http/route.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { recordNames } from '../records/record-names.ts';
import { idSchema as id } from '../../http/request-schemas.ts';
import { endpointParams } from './endpoint-routes.ts';

const { path, tag } = recordNames(webhookEndpoint);

const instant = (description: string) => Type.String({ format: 'date-time', description });
const nullable = (type: string, description: string, more = {}) =>
  Type.Unsafe<unknown>({ type: [type, 'null'], description, ...more });

const slice = {
  event_id: Type.Optional(id('Only messages of this event.')),
  after: Type.Optional(id('Id of the last entry of the previous page.')),
  first: Type.Optional(
    Type.Integer({ minimum: 0, description: `Maximum number of entries. Without it: ${defaultPageSize}.` }),
  ),
};

const messageSchema = Type.Object(
  {
    event_id: id('Id of the event, which every attempt sends as webhook-id.'),
    type: Type.String({ description: 'Type of the event.' }),
    kind: Type.String({ description: 'Kind of the record.' }),
    record_id: id('Id of the record.'),
    request_id: nullable('string', 'Id of the request that caused the event.'),
    occurred_at: instant('When the event happened.'),
    status: Type.String({ enum: [...messageStates], description: 'Status of the message.' }),
    attempts: Type.Integer({ description: 'Number of failed attempts since the message became due.' }),
    due_at: nullable('string', 'When the next attempt may begin; null unless the message is due.', {
      format: 'date-time',
    }),
  },
  { title: 'WebhookMessage' },
);

const attemptSchema = Type.Object(
  {
    id: id('Id of the attempt.'),
    event_id: id('Id of the event.'),
    type: Type.String({ description: 'Type of the event.' }),
    number: Type.Integer({ description: '1 for the first attempt since the message became due.' }),
    attempted_at: instant('When the attempt began.'),
    duration_ms: Type.Integer({ description: 'Duration in milliseconds.' }),
    status: nullable('integer', 'HTTP status of the response; null without one.'),
    problem: nullable('string', 'Why there is no usable response.'),
    response: nullable('string', 'The first 4 KiB of the response.'),
  },
  { title: 'WebhookAttempt' },
);

/** Callers that the routes accept, and the endpoint. */
type Access = Pick<Route, 'tag' | 'access' | 'acceptsTokens' | 'acceptsSingleSignOn' | 'headers' | 'prepare'>;

interface LogAccess {
  /** Path before the id of the endpoint. */
  readonly base: string;
  readonly reads: Access;
  readonly changes: Access;
  readonly endpointOf: (call: Call<unknown>) => string;
  /** Errors besides those of the routes. */
  readonly errors?: readonly ErrorCode[];
  /** A sentence about who may call them. */
  readonly note?: string;
  /** Before `Endpoint` in the names of the operations. */
  readonly prefix?: string;
  /** Ends the summaries, which are unlike those of the other routes. */
  readonly by?: string;
}

const people = { tag, access: 'required', acceptsSingleSignOn: true } as const;

/** Messages to an endpoint, their attempts, and their replay. */
export const logRoutes = ({
  base,
  reads,
  changes,
  endpointOf,
  errors = [],
  note = '',
  prefix = 'Webhook',
  by = '',
}: LogAccess): readonly Route[] => [
  defineRoute({
    ...reads,
    method: 'GET',
    url: `${base}/:id/messages`,
    operationId: `list${prefix}EndpointMessages`,
    summary: `List messages to an endpoint${by}`,
    description: `The newest first. Messages are kept for 30 days.${note}`,
    params: endpointParams,
    query: Type.Object(
      {
        ...slice,
        status: Type.Optional(
          Type.String({ enum: [...messageStates], description: 'Only messages with this status.' }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: { 200: Type.Object({ data: Type.Array(messageSchema) }) },
    errors: ['not_found', 'limit_exceeded', ...errors],
    handle: async (call) => {
      const found = await inSnakeCase(() => messagesOf(call, endpointOf(call), logArguments(call.query)));
      return { status: 200, body: { data: found.map(shownMessage) } };
    },
  }),
  defineRoute({
    ...reads,
    method: 'GET',
    url: `${base}/:id/attempts`,
    operationId: `list${prefix}EndpointAttempts`,
    summary: `List attempts to send to an endpoint${by}`,
    description: `The newest first. Attempts are kept for 30 days.${note}`,
    params: endpointParams,
    query: Type.Object(slice, { additionalProperties: false }),
    answers: { 200: Type.Object({ data: Type.Array(attemptSchema) }) },
    errors: ['not_found', 'limit_exceeded', ...errors],
    handle: async (call) => {
      const found = await inSnakeCase(() => attemptsOf(call, endpointOf(call), logArguments(call.query)));
      return { status: 200, body: { data: found.map(shownAttempt) } };
    },
  }),
  defineRoute({
    ...changes,
    method: 'POST',
    url: `${base}/:id/test`,
    operationId: `test${prefix}Endpoint`,
    summary: `Send a test message to an endpoint${by}`,
    description: `Sends a message of the type webhook_endpoint.tested, in the same way as all others: ${endpointLimits.test.limit} a minute at most.${note}`,
    params: endpointParams,
    answers: { 202: Type.Object({ event_id: id('Id of the message (webhook-id).') }) },
    errors: ['not_found', 'permission_denied', 'too_many_requests', ...errors],
    handle: async (call) => {
      const { eventId } = await testEndpoint(call, endpointOf(call));
      return { status: 202, body: { event_id: eventId } };
    },
  }),
  defineRoute({
    ...changes,
    method: 'POST',
    url: `${base}/:id/replay`,
    operationId: `replay${prefix}EndpointMessages`,
    summary: `Send messages to an endpoint again${by}`,
    description: `Either the messages of some events, or all since an instant, up to ${maxReplayed.toLocaleString('en')} in one request. They keep their ids, so a receiver that has seen them can recognize them. An endpoint has ${endpointLimits.replay.limit} replays in ten minutes.${note}`,
    params: endpointParams,
    body: Type.Object(
      {
        event_ids: Type.Optional(Type.Array(id('Id of an event.'), { minItems: 1, maxItems: maxReplayedIds })),
        since: Type.Optional(
          Type.String({ format: 'date-time', maxLength: 40, description: 'Time of the first event.' }),
        ),
      },
      { additionalProperties: false, minProperties: 1, maxProperties: 1 },
    ),
    answers: {
      202: Type.Object({
        replayed_count: Type.Integer({ description: 'Number of messages that are due again.' }),
        next: nullable('string', 'Value of `since` for the next request; null if there are no more messages.', {
          format: 'date-time',
        }),
      }),
    },
    errors: ['not_found', 'permission_denied', 'too_many_requests', ...errors],
    handle: (call) =>
      inSnakeCase(async () => {
        const { event_ids: eventIds, since } = call.body;
        const wanted: ReplayArguments = { ...(eventIds ? { eventIds } : {}), ...(since ? { since } : {}) };
        const { replayedCount, next } = await replayEndpoint(call, endpointOf(call), wanted);
        return { status: 202, body: { replayed_count: replayedCount, next } };
      }),
  }),
];

export const messageRoutes = logRoutes({
  base: path,
  reads: { ...people, acceptsTokens: true },
  changes: people,
  endpointOf: ({ params }) => params['id'] ?? '',
});

function logArguments(query: Readonly<Record<string, unknown>>): LogArguments {
  const { event_id: eventId, status, after, first } = query;
  // The schema has checked the values.
  return { eventId, status, after, first } as LogArguments;
}

function shownMessage({
  eventId,
  topic,
  entityKind,
  entityId,
  requestId,
  occurredAt,
  status,
  attempts,
  dueAt,
}: ShownMessage) {
  return {
    event_id: eventId,
    type: topic,
    kind: entityKind,
    record_id: entityId,
    request_id: requestId,
    occurred_at: occurredAt,
    status,
    attempts,
    due_at: dueAt,
  };
}

function shownAttempt(attempt: ShownAttempt) {
  const { id: attemptId, eventId, topic, number, attemptedAt, durationMs, status, problem, response } = attempt;
  return {
    id: attemptId,
    event_id: eventId,
    type: topic,
    number,
    attempted_at: attemptedAt,
    duration_ms: durationMs,
    status,
    problem,
    response,
  };
}
