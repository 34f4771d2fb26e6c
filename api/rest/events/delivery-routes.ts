import { Type } from 'typebox';
import { defaultPageSize } from '../../http/page-slice.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deliveriesOfOrganization,
  deliveryStates,
  eventOfOrganization,
  openStates,
  positionText,
  type DeliveryArguments,
  type OrganizationEvent,
} from '../../webhooks/organization-events.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import { idText } from '../records/record-schema.ts';

const tag = 'Events';

const id = (description: string) => Type.Unsafe<string>({ ...idText, description });
const text = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const instant = (description: string) => Type.String({ format: 'date-time', maxLength: 40, description });
const nullable = (type: string, description: string, more = {}) =>
  Type.Unsafe<unknown>({ type: [type, 'null'], description, ...more });

const deliveryParts = {
  listener: Type.String({ description: 'Which part of the server the event is for.' }),
  state: Type.String({
    enum: [...deliveryStates],
    description:
      'failing: it is tried again, or waits for an operator; held: an earlier event of the record is failing; skipped: an operator gave it up; done.',
  }),
  error: nullable('string', 'Why the last attempt failed, in short.'),
  updated_at: instant('When the state last changed, or an attempt failed.'),
};

const eventParts = {
  type: Type.String({ description: 'Type of the event.' }),
  kind: Type.String({ description: 'Kind of the record.' }),
  record_id: id('Id of the record.'),
  request_id: Type.String({ description: 'Id of the request that caused the event.' }),
  occurred_at: instant('When the event happened.'),
};

const eventParams = Type.Object({ id: id('Id of the event.') });

const common = { access: 'required', tag, acceptsSingleSignOn: true } as const;

/** What became of the events of an organization, for its managers. Operators of the installation have `npm run events`. */
export const deliveryRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/event-deliveries',
    summary: 'List deliveries that are not done',
    description:
      'Deliveries of the events of the current organization to parts of the server, the newest first, for its managers. Those that are done are shown with their event.',
    query: Type.Object(
      {
        state: Type.Optional(Type.String({ enum: [...openStates], description: 'Only in this state.' })),
        listener: Type.Optional(text('Only to this part of the server.')),
        type: Type.Optional(text('Only of this type of event, or of a kind (task.*).')),
        request_id: Type.Optional(text('Only of events that this request has caused.')),
        since: Type.Optional(instant('Only of events from this instant on.')),
        until: Type.Optional(instant('Only of events up to this instant.')),
        error: Type.Optional(text('Only with this text in the error.')),
        after: Type.Optional(text('Position of the last delivery of the page before.')),
        first: Type.Optional(
          Type.Integer({ minimum: 0, description: `Maximum number of deliveries. Without it: ${defaultPageSize}.` }),
        ),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            event_id: id('Id of the event.'),
            ...eventParts,
            ...deliveryParts,
            position: Type.String({ description: 'For the next page (after).' }),
          }),
        ),
      }),
    },
    errors: ['permission_denied', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        const found = await deliveriesOfOrganization(call, deliveryArguments(call.query));
        const data = found.map((delivery) => ({
          event_id: delivery.eventId,
          type: delivery.topic,
          kind: delivery.entityKind,
          record_id: delivery.entityId,
          request_id: delivery.requestId,
          occurred_at: delivery.occurredAt,
          listener: delivery.listener,
          state: delivery.state,
          error: delivery.error,
          updated_at: delivery.updatedAt,
          position: positionText(delivery),
        }));
        return { status: 200, body: { data } };
      }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/events/:id',
    summary: 'Show an event',
    description:
      'An event of the current organization, what it says, and what became of it, for its managers. Events are kept for a few days.',
    params: eventParams,
    answers: {
      200: Type.Object({
        id: id('Id of the event.'),
        ...eventParts,
        version: Type.Integer({ description: 'Version of the record after the change.' }),
        actor: Type.String({ description: 'Who caused the event.' }),
        changed: Type.Unsafe<unknown>({
          type: ['array', 'null'],
          items: { type: 'string' },
          description:
            'Names of the fields that were set or changed; null for other events, and for kinds whose events endpoints cannot receive.',
        }),
        details: Type.Unsafe<unknown>({
          type: ['object', 'null'],
          additionalProperties: true,
          description: 'What else the event says; null for kinds whose events endpoints cannot receive.',
        }),
        deliveries: Type.Array(Type.Object(deliveryParts), { description: 'By listener.' }),
        messages: Type.Array(
          Type.Object({
            endpoint_id: id('Id of the webhook endpoint.'),
            state: Type.String({ description: 'How far the message is.' }),
            attempts: Type.Integer({ description: 'Attempts that failed since the message became due.' }),
          }),
          { description: 'By endpoint.' },
        ),
        repairs: Type.Array(
          Type.Object({
            listener: Type.String({ description: 'Whose delivery.' }),
            operation: Type.String({ enum: ['retry', 'skip'], description: 'What was done.' }),
            at: instant('When.'),
          }),
          { description: 'What operators of the server have done.' },
        ),
      }),
    },
    errors: ['not_found', 'permission_denied'],
    handle: async ({ unit, params }) => ({
      status: 200,
      body: shownEvent(await eventOfOrganization(unit, params['id'] ?? '')),
    }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/events/:id/runs',
    summary: 'List workflow runs of an event',
    description:
      'Runs that deliver the event, and those that began because of it, the newest first, at most a hundred.',
    params: eventParams,
    answers: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            workflow_id: Type.String({ description: 'Id of the workflow.' }),
            type: Type.String({ description: 'Type of the workflow.' }),
            status: Type.String({ description: 'As Temporal names it, such as RUNNING or COMPLETED.' }),
            started_at: instant('When it began.'),
            closed_at: nullable('string', 'When it ended; null while it runs.', { format: 'date-time' }),
          }),
        ),
      }),
    },
    // It asks Temporal, after its transaction.
    runsOnce: true,
    errors: ['not_found', 'permission_denied', 'workflows_unavailable'],
    handle: async ({ services, request, params }) => {
      const found = await services.database.transact(workOf(request.core), (reading) =>
        eventOfOrganization(reading, params['id'] ?? ''),
      );
      const runs = await services.runsOfEvent(found);
      const data = runs.map(({ workflowId, type, status, startedAt, closedAt }) => ({
        workflow_id: workflowId,
        type,
        status,
        started_at: startedAt,
        closed_at: closedAt,
      }));
      return { status: 200, body: { data } };
    },
  }),
];

function deliveryArguments(query: Readonly<Record<string, unknown>>): DeliveryArguments {
  const { type: topic, request_id: requestId, ...others } = query;
  const named = { ...others, topic, requestId };
  // The schema has checked the values.
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

function shownEvent({ event, payload, deliveries, messages, repairs }: OrganizationEvent) {
  return {
    id: event.id,
    type: event.topic,
    kind: event.entityKind,
    record_id: event.entityId,
    request_id: event.requestId,
    occurred_at: event.occurredAt,
    version: event.recordVersion,
    actor: event.actor,
    changed: payload?.changed ?? null,
    details: payload ? (payload.details ?? {}) : null,
    deliveries: deliveries.map(({ listener, state, error, updatedAt }) => ({
      listener,
      state,
      error,
      updated_at: updatedAt,
    })),
    messages: messages.map(({ endpointId, state, attempts }) => ({ endpoint_id: endpointId, state, attempts })),
    repairs: repairs.map(({ listener, operation, at }) => ({ listener, operation, at })),
  };
}
