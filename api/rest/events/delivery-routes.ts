import { Type } from 'typebox';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  deliveriesOfOrganization,
  eventOfOrganization,
  openStates,
  type DeliveryArguments,
} from '../../webhooks/organization-events.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import {
  deliveryPage,
  eventAnswer,
  eventParams,
  pageParts,
  RunsSchema,
  selectionOf,
  selectionParts,
  shownDelivery,
  shownEvent,
  shownRun,
} from './delivery-schemas.ts';

const common = { access: 'required', tag: 'Events', acceptsSingleSignOn: true } as const;

/** Status of the events of an organization, for its managers. Operators of the installation have `operationsRoutes`. */
export const deliveryRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/event-deliveries',
    operationId: 'listEventDeliveries',
    summary: 'List deliveries that are not done',
    description:
      'Deliveries of the events of the current organization to listeners of the server, the newest first, for its managers. Deliveries that are done are shown with their event.',
    query: Type.Object(
      {
        status: Type.Optional(Type.String({ enum: [...openStates], description: 'Only deliveries with this status.' })),
        ...selectionParts,
        ...pageParts,
      },
      { additionalProperties: false },
    ),
    answers: { 200: deliveryPage() },
    errors: ['permission_denied', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        const found = await deliveriesOfOrganization(call, selectionOf(call.query) as DeliveryArguments);
        return { status: 200, body: { data: found.map(shownDelivery) } };
      }),
  }),
  defineRoute({
    ...common,
    method: 'GET',
    url: '/v1/events/:id',
    operationId: 'getEvent',
    summary: 'Show an event',
    description:
      'An event of the current organization with its fields and deliveries, for its managers. Events are kept for a few days.',
    params: eventParams,
    answers: { 200: eventAnswer() },
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
    operationId: 'listEventRuns',
    summary: 'List workflow runs of an event',
    description:
      'Runs that deliver the event, and those that began because of it, the newest first, at most a hundred.',
    params: eventParams,
    answers: { 200: RunsSchema },
    // It asks Temporal, after its transaction.
    runsOnce: true,
    errors: ['not_found', 'permission_denied', 'workflows_unavailable'],
    handle: async ({ services, request, params }) => {
      const found = await services.database.transact(workOf(request.core), (reading) =>
        eventOfOrganization(reading, params['id'] ?? ''),
      );
      const runs = await services.runsOfEvent(found);
      return { status: 200, body: { data: runs.map(shownRun) } };
    },
  }),
];
