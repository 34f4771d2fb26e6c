import {
  GraphQLBoolean,
  GraphQLEnumType,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
  type GraphQLInputFieldConfigMap,
  type GraphQLOutputType,
} from 'graphql';
import { webhookEndpoint } from '#entities/webhooks/webhook-endpoint.ts';
import {
  changeEndpoint,
  createEndpoint,
  rotateEndpoint,
  type EndpointChanges,
  type EndpointSettings,
  type IssuedEndpoint,
} from '../../webhooks/change-endpoint.ts';
import {
  attemptsOf,
  maxReplayedIds,
  messagesOf,
  messageStates,
  replayEndpoint,
  testEndpoint,
  type LogArguments,
  type ReplayArguments,
} from '../../webhooks/endpoint-messages.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import { capitalized } from '../capitalized.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField, Types } from '../hand-written-field.ts';
import { DateTime } from '../scalars/date-time.ts';

const { fields } = webhookEndpoint;
const words = new GraphQLList(new GraphQLNonNull(GraphQLString));
const text = new GraphQLNonNull(GraphQLString);
const idOfEndpoint = { type: new GraphQLNonNull(GraphQLID), description: 'Id of the endpoint.' };
const once = 'The secret is shown in this answer only.';

function settings(types: Types, isNew: boolean): GraphQLInputFieldConfigMap {
  const ordering = types.objectOf(webhookEndpoint).getFields()['ordering']?.type as GraphQLNonNull<GraphQLEnumType>;
  const needed = <T extends typeof GraphQLString | typeof words>(type: T) => (isNew ? new GraphQLNonNull(type) : type);
  return {
    name: { type: needed(GraphQLString), description: fields.name.description },
    description: { type: GraphQLString, description: fields.description.description },
    url: { type: needed(GraphQLString), description: fields.url.description },
    topics: { type: needed(words), description: fields.topics.description },
    scopes: { type: needed(words), description: fields.scopes.description },
    ordering: { type: ordering.ofType, description: fields.ordering.description },
    maxInFlight: { type: GraphQLInt, description: fields.maxInFlight.description },
    maxPerSecond: { type: GraphQLInt, description: fields.maxPerSecond.description },
    includesRecord: { type: GraphQLBoolean, description: fields.includesRecord.description },
  };
}

const createWebhookEndpoint: HandWrittenField = {
  on: 'Mutation',
  name: 'createWebhookEndpoint',
  answersCredential: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(issuedType(types, 'createWebhookEndpoint')),
    description: `Creates an endpoint to which events are sent. Nobody can give it scopes beyond their own rights. ${once}`,
    args: { input: inputOf('CreateWebhookEndpointInput', () => settings(types, true)) },
    resolve: (_source, { input }, context) => createEndpoint(askingOf(context), valuesOf(input as EndpointSettings)),
  }),
};

const updateWebhookEndpoint: HandWrittenField = {
  on: 'Mutation',
  name: 'updateWebhookEndpoint',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(endpointType(types, 'updateWebhookEndpoint')),
    description: 'Changes an endpoint. Omitted fields stay unchanged.',
    args: {
      id: idOfEndpoint,
      input: inputOf('UpdateWebhookEndpointInput', () => {
        const status = types.objectOf(webhookEndpoint).getFields()['status']?.type as GraphQLNonNull<GraphQLEnumType>;
        return {
          ...settings(types, false),
          status: { type: status.ofType, description: fields.status.description },
          recordVersion: {
            type: GraphQLInt,
            description: 'Expected record version; if the record has another version, the change fails.',
          },
        };
      }),
    },
    resolve: async (_source, { id, input }, context) => {
      const { recordVersion, ...changes } = input as EndpointChanges & { readonly recordVersion?: number | null };
      return changeEndpoint(askingOf(context), id as string, valuesOf(changes), recordVersion ?? undefined);
    },
  }),
};

const rotateWebhookEndpoint: HandWrittenField = {
  on: 'Mutation',
  name: 'rotateWebhookEndpoint',
  answersCredential: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(issuedType(types, 'rotateWebhookEndpoint')),
    description: `Replaces the secret of an endpoint. For 24 hours, messages are signed with the former one as well. ${once}`,
    args: { id: idOfEndpoint },
    resolve: (_source, { id }, context) => rotateEndpoint(askingOf(context), id as string),
  }),
};

const testWebhookEndpoint: HandWrittenField = {
  on: 'Mutation',
  name: 'testWebhookEndpoint',
  acceptsSingleSignOn: true,
  build: () => ({
    type: new GraphQLNonNull(
      objectOf('TestWebhookEndpointPayload', {
        eventId: [text, 'Id of the message (webhook-id).'],
      }),
    ),
    description: 'Sends a message of the type webhook_endpoint.tested, in the same way as all others.',
    args: { id: idOfEndpoint },
    resolve: (_source, { id }, context) => testEndpoint(askingOf(context), id as string),
  }),
};

const replayWebhookMessages: HandWrittenField = {
  on: 'Mutation',
  name: 'replayWebhookMessages',
  acceptsSingleSignOn: true,
  build: () => ({
    type: new GraphQLNonNull(
      objectOf('ReplayWebhookMessagesPayload', {
        replayedCount: [new GraphQLNonNull(GraphQLInt), 'Number of messages that are due again.'],
        next: [DateTime, 'Value of `since` for the next request; null if there are no more messages.'],
      }),
    ),
    description: 'Sends messages to an endpoint again: those of some events, or the first 10,000 since an instant.',
    args: {
      id: idOfEndpoint,
      eventIds: { type: words, description: `Ids of events, up to ${maxReplayedIds.toLocaleString('en')}.` },
      since: { type: DateTime, description: 'Time of the first event.' },
    },
    resolve: (_source, { id, ...wanted }, context) =>
      replayEndpoint(askingOf(context), id as string, wanted as ReplayArguments),
  }),
};

const slice = {
  id: idOfEndpoint,
  eventId: { type: GraphQLString, description: 'Only messages of this event.' },
  after: { type: GraphQLString, description: 'Id of the last entry of the previous page.' },
  first: { type: GraphQLInt, description: `Maximum number of entries. Without it: ${defaultPageSize}.` },
} as const;

const webhookMessages: HandWrittenField = {
  on: 'Query',
  name: 'webhookMessages',
  acceptsSingleSignOn: true,
  build: () => {
    const status = new GraphQLEnumType({
      name: 'WebhookMessageStatus',
      description: 'Status of a message to an endpoint.',
      values: Object.fromEntries(messageStates.map((value) => [value.toUpperCase(), { value }])),
    });
    const type = objectOf('WebhookMessage', {
      eventId: [text, 'Id of the event, which every attempt sends as webhook-id.'],
      topic: [text, 'Type of the event.'],
      entityKind: [text, 'Kind of the record.'],
      entityId: [text, 'Id of the record.'],
      requestId: [GraphQLString, 'Id of the request that caused the event.'],
      occurredAt: [new GraphQLNonNull(DateTime), 'When the event happened.'],
      status: [new GraphQLNonNull(status), 'Status of the message.'],
      attempts: [new GraphQLNonNull(GraphQLInt), 'Number of failed attempts since the message became due.'],
      dueAt: [DateTime, 'When the next attempt may begin; null unless the message is due.'],
    });
    return {
      type: listOf(type),
      description: 'Messages to an endpoint, the newest first. They are kept for 30 days.',
      args: { ...slice, status: { type: status, description: 'Only messages with this status.' } },
      resolve: (_source, { id, ...page }, context) => messagesOf(askingOf(context), id as string, page as LogArguments),
    };
  },
};

const webhookAttempts: HandWrittenField = {
  on: 'Query',
  name: 'webhookAttempts',
  acceptsSingleSignOn: true,
  build: () => {
    const type = objectOf('WebhookAttempt', {
      id: [text, 'Id of the attempt.'],
      eventId: [text, 'Id of the event.'],
      topic: [text, 'Type of the event.'],
      number: [new GraphQLNonNull(GraphQLInt), '1 for the first attempt since the message became due.'],
      attemptedAt: [new GraphQLNonNull(DateTime), 'When the attempt began.'],
      durationMs: [new GraphQLNonNull(GraphQLInt), 'Duration in milliseconds.'],
      status: [GraphQLInt, 'HTTP status of the response; null without one.'],
      problem: [GraphQLString, 'Why there is no usable response.'],
      response: [GraphQLString, 'The first 4 KiB of the response.'],
    });
    return {
      type: listOf(type),
      description: 'Attempts to send to an endpoint, the newest first. They are kept for 30 days.',
      args: slice,
      resolve: (_source, { id, ...page }, context) => attemptsOf(askingOf(context), id as string, page as LogArguments),
    };
  },
};

/** Hand-written, because URL, topics and scopes are checked, and because messages and attempts are no records. */
export const webhookEndpointFields: readonly HandWrittenField[] = [
  createWebhookEndpoint,
  updateWebhookEndpoint,
  rotateWebhookEndpoint,
  testWebhookEndpoint,
  replayWebhookMessages,
  webhookMessages,
  webhookAttempts,
];

function inputOf(name: string, inputFields: () => GraphQLInputFieldConfigMap) {
  return { type: new GraphQLNonNull(new GraphQLInputObjectType({ name, fields: inputFields })) };
}

function listOf(type: GraphQLObjectType) {
  return new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type)));
}

function objectOf(name: string, shape: Readonly<Record<string, readonly [GraphQLOutputType, string]>>) {
  return new GraphQLObjectType<unknown, GraphqlContext>({
    name,
    fields: Object.fromEntries(
      Object.entries(shape).map(([field, [type, description]]) => [
        field,
        { type, description, resolve: (source) => inJson((source as Readonly<Record<string, unknown>>)[field]) },
      ]),
    ),
  });
}

/** Instants are texts in answers. */
function inJson(value: unknown): unknown {
  return value instanceof Date ? value.toISOString() : value;
}

/** Choices are stored in lower case. Only the description can be cleared; for other fields, null stands for an omitted value. */
function valuesOf<Values extends EndpointChanges>(input: Values): Values {
  const given = Object.entries(input).filter(([name, value]) => value !== null || name === 'description');
  return Object.fromEntries(
    given.map(([name, value]) => [
      name,
      fields[name as keyof typeof fields].type === 'choice' ? (value as string).toLowerCase() : value,
    ]),
  ) as Values;
}

function endpointType(types: Types, mutation: string, more = {}): GraphQLObjectType {
  return new GraphQLObjectType<{ readonly id: string }, GraphqlContext>({
    name: `${capitalized(mutation)}Payload`,
    fields: {
      webhookEndpoint: {
        type: new GraphQLNonNull(types.objectOf(webhookEndpoint)),
        resolve: ({ id }, _args, context, info) => types.read(webhookEndpoint, id, context, info),
      },
      ...more,
    },
  });
}

function issuedType(types: Types, mutation: string): GraphQLObjectType<IssuedEndpoint, GraphqlContext> {
  return endpointType(types, mutation, {
    secret: { type: text, description: 'The secret with which messages are signed. It is shown once.' },
  });
}
