import { Type } from 'typebox';
import { describedKeyword } from '#entities/kit/model/described-schema.ts';
import type { EventRun } from '#runtime/event-runs.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import {
  deliveryStates,
  positionText,
  type OrganizationEvent,
  type ShownDelivery,
} from '../../webhooks/organization-events.ts';
import type { InstallationPage } from '../../webhooks/installation-events.ts';
import { idSchema, visibleText } from '../../http/request-schemas.ts';

export const line = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
export const instant = (description: string) => Type.String({ format: 'date-time', maxLength: 40, description });
export const nullable = (type: string, description: string, more = {}) =>
  Type.Unsafe<unknown>({ type: [type, 'null'], description, ...more });

export const ReasonPart = Type.String({
  minLength: 1,
  maxLength: 1_000,
  pattern: '\\S',
  [describedKeyword]: { pattern: visibleText },
  description: 'Reason; it is stored with the person who asked.',
});

export const ReasonSchema = Type.Object({ reason: ReasonPart }, { additionalProperties: false });

export const ofOrganization = { organization_id: nullable('string', 'Id of the organization; null for none.') };

const error = nullable('string', 'Reason why the last attempt failed, in short.');
const listener = Type.String({ description: 'Name of the listener.' });
const status = Type.String({
  enum: [...deliveryStates],
  description:
    'failing: the delivery is tried again, or waits for an operator; held: an earlier event of the record is failing; skipped: an operator gave the delivery up; done: the listener has succeeded.',
});

const deliveryParts = {
  listener,
  status,
  error,
  updated_at: instant('Time of the last change of the status, or of the last failed attempt.'),
};

const eventParts = {
  type: Type.String({ description: 'Type of the event.' }),
  kind: Type.String({ description: 'Kind of the record.' }),
  record_id: idSchema('Id of the record.'),
  request_id: Type.String({ description: 'Id of the request that caused the event.' }),
  occurred_at: instant('Time of the event.'),
};

export const eventParams = Type.Object({ id: idSchema('Id of the event.') });

/** Which deliveries are selected, in a query or a body. */
export const selectionParts = {
  listener: Type.Optional(line('Only deliveries to this listener.')),
  type: Type.Optional(line('Only events of this type (task.created), or of a kind (task.*).')),
  request_id: Type.Optional(line('Only events that this request has caused.')),
  since: Type.Optional(instant('Only events at or after this time.')),
  until: Type.Optional(instant('Only events up to this time.')),
  error: Type.Optional(line('Only deliveries with this text in their error.')),
};

export const organizationPart = {
  organization_id: Type.Optional(idSchema('Only events of this organization.')),
};

export const pageParts = {
  after: Type.Optional(line('Position of the last item of the previous page.')),
  first: Type.Optional(
    Type.Integer({ minimum: 0, description: `Maximum number of items. Without it: ${defaultPageSize}.` }),
  ),
};

/** The messages of an event to endpoints. */
export const messages = Type.Array(
  Type.Object({
    endpoint_id: idSchema('Id of the webhook endpoint.'),
    status: Type.String({ description: 'Status of the message.' }),
    attempts: Type.Integer({ description: 'Number of failed attempts since the message became due.' }),
  }),
  { description: 'Messages of the event, one for each endpoint.' },
);

/** Deliveries that are alike. */
export const GroupSchema = Type.Object(
  {
    status,
    type: eventParts.type,
    listener,
    error,
    count: Type.Integer({ description: 'Number of deliveries.' }),
  },
  { title: 'DeliveryGroup' },
);

/** A page of deliveries. @param more parts of each, besides those of every list */
export const deliveryPage = (more = {}) =>
  Type.Object({
    data: Type.Array(
      Type.Object({
        event_id: idSchema('Id of the event.'),
        ...eventParts,
        ...more,
        ...deliveryParts,
        position: Type.String({ description: 'Position of the delivery: `after` of the next page.' }),
      }),
    ),
  });

export function shownDelivery(delivery: ShownDelivery) {
  return {
    event_id: delivery.eventId,
    type: delivery.topic,
    kind: delivery.entityKind,
    record_id: delivery.entityId,
    request_id: delivery.requestId,
    occurred_at: delivery.occurredAt,
    listener: delivery.listener,
    status: delivery.status,
    error: delivery.error,
    updated_at: delivery.updatedAt,
    position: positionText(delivery),
  };
}

/** An event. @param more parts besides those that managers see, of the event and of each repair */
export const eventAnswer = (more: { readonly event?: object; readonly repair?: object } = {}) =>
  Type.Object({
    id: idSchema('Id of the event.'),
    ...eventParts,
    ...more.event,
    version: Type.Integer({ description: 'Version of the record after the change.' }),
    actor: Type.String({ description: 'Caller who caused the event.' }),
    changed: Type.Unsafe<unknown>({
      type: ['array', 'null'],
      items: { type: 'string' },
      description:
        'Names of the fields that were set or changed; null for other events, and for kinds whose events endpoints cannot receive.',
    }),
    details: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'Further fields of the event; null for kinds whose events endpoints cannot receive.',
    }),
    deliveries: Type.Array(Type.Object(deliveryParts), {
      description: 'Deliveries of the event, one for each listener.',
    }),
    messages,
    repairs: Type.Array(
      Type.Object({
        listener: Type.String({ description: 'Name of the listener.' }),
        operation: Type.String({ enum: ['retry', 'skip'], description: 'Operation of the repair.' }),
        at: instant('Time of the repair.'),
        ...more.repair,
      }),
      { description: 'Repairs by operators of the server.' },
    ),
  });

export function shownEvent({ event, payload, deliveries, messages, repairs }: OrganizationEvent) {
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
    deliveries: deliveries.map((each) => ({
      listener: each.listener,
      status: each.status,
      error: each.error,
      updated_at: each.updatedAt,
    })),
    messages: messages.map(({ endpointId, status: how, attempts }) => ({
      endpoint_id: endpointId,
      status: how,
      attempts,
    })),
    repairs: repairs.map(({ listener: whose, operation, at }) => ({ listener: whose, operation, at })),
  };
}

export const RunsSchema = Type.Object(
  {
    data: Type.Array(
      Type.Object({
        workflow_id: Type.String({ description: 'Id of the workflow.' }),
        type: Type.String({ description: 'Type of the workflow.' }),
        status: Type.String({ description: 'Status in Temporal, such as RUNNING or COMPLETED.' }),
        started_at: instant('Start of the workflow.'),
        closed_at: nullable('string', 'End of the workflow; null while it runs.', { format: 'date-time' }),
      }),
    ),
  },
  { title: 'WorkflowRuns' },
);

export function shownRun({ workflowId, type, status, startedAt, closedAt }: EventRun) {
  return { workflow_id: workflowId, type, status, started_at: startedAt, closed_at: closedAt };
}

/** The parts of a selection with the names of the code. The schema has checked the values. */
export function selectionOf(parts: Readonly<Record<string, unknown>>): InstallationPage {
  const { type: topic, request_id: requestId, organization_id: organizationId, ...others } = parts;
  const named = { ...others, topic, requestId, organizationId };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
