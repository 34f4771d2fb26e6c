import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import type { EventDetails } from '#entities/kit/outbox/delivery-list.ts';
import { deliveryWorkflowId } from '#workflows/events/deliver-event.contract.ts';
import { deliverEventsContract } from '#workflows/events/deliver-events.contract.ts';

/** A run of a workflow that has to do with an event. */
export interface EventRun {
  readonly workflowId: string;
  readonly type: string;
  readonly status: string;
  readonly startedAt: Date;
  /** Null while it runs. */
  readonly closedAt: Date | null;
}

/** An event and its deliveries. */
export type RunSource = Pick<EventDetails, 'event' | 'deliveries'>;

/** Most runs of an event that are listed. */
const maxRuns = 100;

/**
 * Runs that deliver an event (of its batch, and of its failing deliveries) and those that its listeners have started, the newest first.
 * Temporal lists runs a moment after they began, and those that ended for as long as `jobqueue` keeps them.
 * @throws AppError workflows_unavailable
 */
export async function listEventRuns(temporal: TemporalGateway, { event, deliveries }: RunSource): Promise<EventRun[]> {
  const { prefix } = temporal.settings;
  const { id: eventId, batchId, requestId, topic, entityId } = event;
  const ids = [
    ...(batchId === null ? [] : [temporal.workflowId(deliverEventsContract, { batchId })]),
    ...deliveries.map(({ listener }) => `${prefix}/${deliveryWorkflowId({ eventId, listener })}`),
  ];
  const started = `(RequestId = ${quoted(requestId)} AND EventTopic = ${quoted(topic)} AND EntityId = ${quoted(entityId)})`;
  const own = [...(ids.length > 0 ? [`WorkflowId IN (${ids.map(quoted).join(', ')})`] : []), started];
  const query = `WorkflowId STARTS_WITH ${quoted(`${prefix}/`)} AND (${own.join(' OR ')})`;
  return temporal.call('list workflows', async () => {
    const found: EventRun[] = [];
    for await (const run of temporal.client.workflow.list({ query, pageSize: maxRuns })) {
      const { workflowId, type, status, startTime, closeTime } = run;
      found.push({ workflowId, type, status: status.name, startedAt: startTime, closedAt: closeTime ?? null });
      if (found.length === maxRuns) break;
    }
    return found;
  });
}

/** A text of a list query. */
function quoted(value: string): string {
  return `"${value.replaceAll(/["\\]/g, '\\$&')}"`;
}
