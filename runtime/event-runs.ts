import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { EventDetails } from '#entities/kit/outbox/delivery-list.ts';
import { deliveryWorkflowId } from '#workflows/events/deliver-event.contract.ts';
import { deliverEventsContract } from '#workflows/events/deliver-events.contract.ts';

export interface EventRun {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
  readonly status: string;
  readonly startedAt: Date;
  /** Null while it runs. */
  readonly closedAt: Date | null;
}

/** An event and its deliveries. */
export type RunSource = Pick<EventDetails, 'event' | 'deliveries'>;

const maxRuns = 100;

/**
 * Runs that deliver an event (of its batch, and of its failing deliveries) and those that its listeners have started, the newest first.
 * Temporal lists runs a moment after they began, and those that ended for as long as `jobqueue` keeps them.
 * @throws AppError workflows_unavailable
 */
export async function listEventRuns(temporal: TemporalGateway, { event, deliveries }: RunSource): Promise<EventRun[]> {
  const { requestId, topic, entityId } = event;
  const ids = idsOf(temporal, { event, deliveries });
  const started = `(RequestId = ${quoted(requestId)} AND EventTopic = ${quoted(topic)} AND EntityId = ${quoted(entityId)})`;
  return listRuns(temporal, ids, started);
}

/** Facts about an event of a request. */
type RequestEvent = Pick<RunSource['event'], 'id' | 'batchId' | 'entityId'> & {
  readonly deliveries: readonly Pick<RunSource['deliveries'][number], 'listener'>[];
};

/** Caller whose runs are searched. */
export interface RequestRuns {
  readonly requestId: string;
  readonly events: readonly RequestEvent[];
  /**
   * Also runs that none of these events caused: for operators of the installation. The id of a request is the caller's choice, so it alone
   * does not say to whom a run belongs.
   */
  readonly ofAll: boolean;
}

/** Events of a request whose runs are looked for; a request has rarely more, and the text of the query has a limit. */
const maxEvents = 20;

/** Runs that deliver events of a request, and those that began because of them, the newest first. @throws AppError workflows_unavailable */
export async function listRequestRuns(
  temporal: TemporalGateway,
  { requestId, events, ofAll }: RequestRuns,
): Promise<EventRun[]> {
  const some = events.slice(0, maxEvents);
  const ids = some.flatMap((event) => idsOf(temporal, { event, deliveries: event.deliveries }));
  const entityIds = [...new Set(some.map(({ entityId }) => quoted(entityId)))];
  if (entityIds.length === 0 && !ofAll) return [];
  const records = ofAll ? '' : ` AND EntityId IN (${entityIds.join(', ')})`;
  return listRuns(temporal, [...new Set(ids)], `(RequestId = ${quoted(requestId)}${records})`);
}

/** Ids of the workflows that deliver an event: its batch, and its failing deliveries. */
function idsOf(
  temporal: TemporalGateway,
  {
    event: { id: eventId, batchId },
    deliveries,
  }: { readonly event: Pick<RequestEvent, 'id' | 'batchId'>; readonly deliveries: RequestEvent['deliveries'] },
): string[] {
  return [
    ...(batchId === null ? [] : [temporal.workflowId(deliverEventsContract, { batchId })]),
    ...deliveries.map(({ listener }) => `${temporal.settings.prefix}/${deliveryWorkflowId({ eventId, listener })}`),
  ];
}

/** @param further a condition besides the ids */
function listRuns(temporal: TemporalGateway, ids: readonly string[], further: string): Promise<EventRun[]> {
  const own = [...(ids.length > 0 ? [`WorkflowId IN (${ids.map(quoted).join(', ')})`] : []), further];
  const query = `WorkflowId STARTS_WITH ${quoted(`${temporal.settings.prefix}/`)} AND (${own.join(' OR ')})`;
  return temporal.call('list workflows', async () => {
    const found: EventRun[] = [];
    for await (const run of temporal.client.workflow.list({ query, pageSize: maxRuns })) {
      const { workflowId, runId, type, status, startTime, closeTime } = run;
      found.push({ workflowId, runId, type, status: status.name, startedAt: startTime, closedAt: closeTime ?? null });
      if (found.length === maxRuns) break;
    }
    return found;
  });
}

/** Address of a run in the Temporal UI. @param ui base URL; undefined when nobody has said where it is */
export function runUrlOf(
  ui: string | undefined,
  namespace: string,
  { workflowId, runId }: Pick<EventRun, 'workflowId' | 'runId'>,
): string | null {
  if (ui === undefined) return null;
  const [space, workflow, run] = [namespace, workflowId, runId].map(encodeURIComponent);
  return `${ui}/namespaces/${space}/workflows/${workflow}/${run}/history`;
}

/** A text of a list query. */
function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}
