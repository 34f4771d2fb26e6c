import { Type } from 'typebox';
import { workOf } from '../../http/request-context.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import {
  countsOfInstallation,
  deliveriesOfInstallation,
  eventOfInstallation,
} from '../../webhooks/installation-events.ts';
import { deliveryStates } from '../../webhooks/organization-events.ts';
import { inSnakeCase } from '../records/in-snake-case.ts';
import {
  deliveryPage,
  eventAnswer,
  eventParams,
  GroupSchema,
  instant,
  ofOrganization,
  organizationPart,
  pageParts,
  RunsSchema,
  selectionOf,
  selectionParts,
  shownDelivery,
  shownEvent,
  shownRun,
} from './delivery-schemas.ts';
import { shownGroup } from './repair-routes.ts';

// Without `acceptsTokens` and `acceptsSingleSignOn`: only people who are signed in with what is their own.
const common = { access: 'required', tag: 'Operations', method: 'GET' } as const;

const selection = {
  status: Type.Optional(
    Type.String({
      enum: [...deliveryStates],
      description: 'Only deliveries with this status. Without it: all that are not done.',
    }),
  ),
  ...organizationPart,
  ...selectionParts,
};

/** Events and deliveries of all organizations, for operators of the installation; the command line (`npm run events`) reads the same. */
export const operationsRoutes: readonly Route[] = [
  defineRoute({
    ...common,
    url: '/v1/operations/deliveries',
    operationId: 'listAllDeliveries',
    summary: 'List deliveries of the installation',
    description:
      'Deliveries of the events of all organizations to listeners of the server, the newest first, for operators of the installation, who have a second factor.',
    query: Type.Object({ ...selection, ...pageParts }, { additionalProperties: false }),
    answers: { 200: deliveryPage(ofOrganization) },
    errors: ['second_factor_required', 'limit_exceeded'],
    handle: (call) =>
      inSnakeCase(async () => {
        const found = await deliveriesOfInstallation(call, selectionOf(call.query));
        const data = found.map((delivery) => ({
          ...shownDelivery(delivery),
          organization_id: delivery.organizationId,
        }));
        return { status: 200, body: { data } };
      }),
  }),
  defineRoute({
    ...common,
    url: '/v1/operations/delivery-counts',
    operationId: 'countAllDeliveries',
    summary: 'Count deliveries of the installation',
    description:
      'Number of deliveries, the largest groups of similar deliveries, and the listeners that are held as a whole because they fail on every event. For operators of the installation.',
    query: Type.Object(selection, { additionalProperties: false }),
    answers: {
      200: Type.Object({
        total: Type.Integer({ description: 'Number of deliveries.' }),
        groups: Type.Array(GroupSchema, { description: 'The largest groups, at most fifty.' }),
        held_listeners: Type.Array(
          Type.Object({
            listener: Type.String({ description: 'Name of the listener.' }),
            since: instant('Time since which the listener is held.'),
            waiting: Type.Integer({ description: 'Deliveries that wait.' }),
            probes: Type.Integer({ description: 'Number of attempts since then.' }),
          }),
          { description: 'A repair does not help them; they continue automatically as soon as an event succeeds.' },
        ),
      }),
    },
    errors: ['second_factor_required'],
    handle: async (call) => {
      const { total, groups, held } = await countsOfInstallation(call, selectionOf(call.query));
      const waiting = held.map((each) => ({
        listener: each.listener,
        since: each.heldAt,
        waiting: each.waiting,
        probes: each.probes,
      }));
      return { status: 200, body: { total, groups: groups.map(shownGroup), held_listeners: waiting } };
    },
  }),
  defineRoute({
    ...common,
    url: '/v1/operations/events/:id',
    operationId: 'getAnyEvent',
    summary: 'Show an event of any organization',
    description: 'An event with its fields, its deliveries and their repairs, for operators of the installation.',
    params: eventParams,
    answers: {
      200: eventAnswer({
        event: ofOrganization,
        repair: {
          repair_id: Type.String({ description: 'Id of the repair.' }),
          operator: Type.String({ description: 'User who requested it.' }),
          reason: Type.String({ description: 'Reason for the repair.' }),
        },
      }),
    },
    errors: ['not_found', 'second_factor_required'],
    handle: async (call) => {
      const found = await eventOfInstallation(call, call.params['id'] ?? '');
      const repairs = found.repairs.map(({ repairId, listener, operation, at, operator, reason }) => ({
        repair_id: repairId,
        listener,
        operation,
        at,
        operator,
        reason,
      }));
      const body = { ...shownEvent(found), organization_id: found.event.organizationId, repairs };
      return { status: 200, body };
    },
  }),
  defineRoute({
    ...common,
    url: '/v1/operations/events/:id/runs',
    operationId: 'listAnyEventRuns',
    summary: 'List workflow runs of an event of any organization',
    description:
      'Runs that deliver the event, and those that began because of it, the newest first, at most a hundred. For operators of the installation.',
    params: eventParams,
    answers: { 200: RunsSchema },
    // It asks Temporal, after its transaction.
    runsOnce: true,
    errors: ['not_found', 'second_factor_required', 'workflows_unavailable'],
    handle: async ({ services, request, params }) => {
      const found = await services.database.transact(workOf(request.core), (unit) =>
        eventOfInstallation({ unit, services, request }, params['id'] ?? ''),
      );
      const runs = await services.runsOfEvent(found);
      return { status: 200, body: { data: runs.map(shownRun) } };
    },
  }),
];
