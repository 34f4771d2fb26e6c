import { idSchema } from '../../http/request-schemas.ts';
import { Type } from 'typebox';
import { user } from '#entities/identity/user.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { recordNames } from '../records/record-names.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { workOf } from '../../http/request-context.ts';
import { defineRoute } from '../../http/route.ts';
import type { Services } from '../../http/services.ts';
import { pageRefusal } from '../../pages/error-page.ts';
import { htmlType, wantsPage } from '../../pages/page-route.ts';
import { traceOfRequest, type ShownTrace } from '../../webhooks/trace-of-request.ts';
import { instant, messages } from './delivery-schemas.ts';
import { tracePage, type TracePlaces } from './request-trace-page.ts';
import { shownTrace } from './shown-trace.ts';

const nullableText = (description: string, more = {}) =>
  Type.Unsafe<unknown>({ type: ['string', 'null'], description, ...more });
const organization = nullableText('Id of the organization; null for none.');

const TraceSchema = Type.Object(
  {
    request_id: Type.String({ description: 'Id of the request.' }),
    request: Type.Unsafe<unknown>({
      type: ['object', 'null'],
      description:
        'The HTTP request; null if only workers acted without events, and for events from before requests were recorded. Of several requests with the same id, the first.',
      required: ['method', 'route', 'status'],
      properties: {
        method: { type: 'string', description: 'HTTP method.', examples: ['PATCH'] },
        route: {
          type: 'string',
          description: 'Route that answered, with the names of its parameters instead of their values.',
          examples: ['/v1/tasks/:id'],
        },
        status: {
          type: ['integer', 'null'],
          description:
            'Status of the answer; null for a refused request, and where the route has several statuses of success.',
          examples: [200],
        },
      },
    }),
    changes: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of the record.' }),
        record_id: idSchema('Id of the record.'),
        organization_id: organization,
        operation: Type.String({ enum: ['created', 'updated', 'deleted'], description: 'Operation of the change.' }),
        version: Type.Integer({ description: 'Version of the record after the change.' }),
        fields: Type.Array(Type.String(), {
          description: 'Names of the changed fields; fields that nobody may read are left out.',
        }),
        actor: Type.String({ description: 'Caller who made the change.' }),
        at: instant('When the change was made.'),
      }),
      { description: 'Rows of the history, in their order; at most two hundred.' },
    ),
    events: Type.Array(
      Type.Object({
        id: idSchema('Id of the event.'),
        type: Type.String({ description: 'Type of the event.' }),
        kind: Type.String({ description: 'Kind of the record.' }),
        record_id: idSchema('Id of the record.'),
        organization_id: organization,
        actor: Type.String({ description: 'Caller who caused the event.' }),
        occurred_at: instant('When it happened.'),
        trace_id: nullableText('Id of the OpenTelemetry trace.'),
        deliveries: Type.Array(
          Type.Object({
            listener: Type.String({ description: 'Name of the listener.' }),
            status: Type.String({
              enum: ['failing', 'held', 'skipped', 'done'],
              description: 'Status of the delivery.',
            }),
            error: nullableText('Reason why the last attempt failed, in short.'),
            updated_at: instant('Time of the last change of the status, or of the last failed attempt.'),
          }),
          { description: 'Deliveries of the event, sorted by listener.' },
        ),
        messages,
      }),
      { description: 'Deliveries in the order of their events; at most two hundred.' },
    ),
    runs: Type.Unsafe<unknown>({
      type: ['array', 'null'],
      description:
        'Workflow runs that deliver the events or began because of them, the newest first; null while Temporal cannot be reached.',
      items: {
        type: 'object',
        required: ['workflow_id', 'run_id', 'type', 'status', 'started_at', 'closed_at', 'url'],
        properties: {
          workflow_id: { type: 'string', description: 'Id of the workflow.' },
          run_id: { type: 'string', description: 'Id of the run.' },
          type: { type: 'string', description: 'Type of the workflow.' },
          status: { type: 'string', description: 'Status in Temporal, such as RUNNING or COMPLETED.' },
          started_at: { type: 'string', format: 'date-time', description: 'When it began.' },
          closed_at: {
            type: ['string', 'null'],
            format: 'date-time',
            description: 'When it ended; null while it runs.',
          },
          url: {
            type: ['string', 'null'],
            description: 'The run in the Temporal UI; null unless TEMPORAL_UI_URL is set.',
          },
        },
      },
    }),
  },
  { title: 'RequestTrace' },
);

/** Changes and events that a request has caused: its rows, their events, the deliveries of these, and the workflows that followed. */
export const requestTrace = defineRoute({
  method: 'GET',
  url: '/trace/:id',
  operationId: 'traceRequest',
  tag: 'Events',
  summary: 'Trace a request',
  description:
    'Shows the changes and events that a request (X-Request-Id) caused. Managers see requests of their organization, operators of the installation those of all organizations. Browsers get a page. A request of another organization, or one that changed nothing, gets not_found.',
  access: 'required',
  acceptsSingleSignOn: true,
  params: Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, description: 'Id of the request.' }) }),
  answers: { 200: TraceSchema },
  // It asks Temporal, after its transaction.
  runsOnce: true,
  errors: ['not_found', 'permission_denied'],
  errorAnswer: pageRefusal({
    unauthenticated: 'This page is for people who are signed in. Sign in, then open the address again.',
    permission_denied: 'The traces of requests are for owners and admins of the organization.',
    not_found: 'No request with this id has changed anything in the organization in which you are signed in.',
  }),
  handle: async ({ services, request, reply, params }) => {
    const requestId = params['id'] ?? '';
    const { trace, places } = await services.database.transact(
      { ...workOf(request.core), readOnly: true },
      async (unit) => {
        const found = await traceOfRequest({ unit, services, request }, requestId);
        return { trace: found, places: await placesOf(unit, found) };
      },
    );
    const runs = await runsOf(services, requestId, trace);
    const body = shownTrace(requestId, trace, runs?.map((run) => ({ ...run, url: services.runUrl(run) })) ?? null);
    void reply.header('vary', 'Accept');
    if (!wantsPage(request)) return { status: 200, body };
    void reply.type(htmlType);
    return { status: 200, body: tracePage(body, places) };
  },
});

/** Where the records of a trace are, and the names of its people whom the caller may view. */
async function placesOf(
  { data, registry, context }: UnitOfWork,
  { changes, events, ofAll }: ShownTrace,
): Promise<TracePlaces> {
  const ids = [...new Set([...changes, ...events].flatMap(({ actor }) => personIn(actor)))];
  const people = ids.length === 0 ? [] : await data.find(user, { where: { id: { in: ids } }, limit: ids.length });
  return {
    paths: new Map(registry.modules.filter(isExposed).map((module) => [module.topic, recordNames(module).path])),
    names: new Map(people.map(({ id, displayName }) => [id, displayName])),
    events: ofAll ? '/v1/operations/events' : '/v1/events',
    organizationId: context.caller.organizationId,
  };
}

/** The rest of the trace is in the database, and is shown without Temporal, too. */
async function runsOf({ runsOfRequest, logger }: Services, requestId: string, { events, ofAll }: ShownTrace) {
  try {
    return await runsOfRequest({ requestId, events, ofAll });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'workflows_unavailable') throw error;
    logger.warn({ err: error }, 'a trace is shown without its workflow runs');
    return undefined;
  }
}
