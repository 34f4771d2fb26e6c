import { withOrigin, workContext } from '../clients/temporal/work-origin.ts';
import type { Listener } from '../listeners/listener.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { isAppError, type ErrorCode } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { DeliveryReport } from '#entities/kit/outbox/delivery-report.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import { startSpan } from '#entities/kit/base/trace.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { WorkflowStarts } from './workflow-starts.ts';

/** Services that delivering events needs. */
export type EventDependencies = Pick<
  ActivityDependencies,
  'config' | 'database' | 'temporal' | 'logger' | 'listeners' | 'onDelivery' | 'expressions'
>;

/** A transaction of a listener, as the system role; row-level security restricts it to the organization of the events. */
export async function inListenerTransaction<T>(
  deps: EventDependencies,
  listener: Listener,
  organizationId: string | null,
  work: (unit: UnitOfWork, starts: WorkflowStarts) => Promise<T>,
): Promise<T> {
  const context = workContext(systemCaller(`listener ${listener.name}`, organizationId), `listener-${listener.name}`);
  const unit = deps.database.unitOfWork(context);
  const starts = new WorkflowStarts(deps, unit);
  let result: T;
  try {
    result = await work(unit, starts);
    failpoint('delivery-before-commit');
    await unit.commit();
    failpoint('delivery-after-commit');
  } catch (error) {
    await unit.rollback();
    throw error;
  }
  await starts.wake();
  return result;
}

/** A transaction of event delivery itself, as the system role. */
export function inDeliveryTransaction<T>(
  { database }: Pick<EventDependencies, 'database'>,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  return database.transact(workContext(systemCaller('event delivery'), 'event-delivery'), work);
}

/** Runs the listener on one event, on behalf of the request that caused it. */
export async function deliverOne(
  { onDelivery }: Pick<EventDependencies, 'onDelivery'>,
  unit: UnitOfWork,
  listener: Listener,
  event: EventRow,
  starts: WorkflowStarts,
): Promise<void> {
  const span = startSpan(`deliver ${listener.name}`, {
    parent: event.traceparent ?? undefined,
    attributes: { 'event.id': event.id, 'event.topic': event.topic, 'request.id': event.requestId },
  });
  const origin = { requestId: event.requestId, traceparent: span.traceparent, actor: event.actor };
  try {
    await withOrigin({ ...origin, organizationId: event.organizationId }, () =>
      unit.onBehalfOf(origin, async () => listener.deliver(starts.deliveryOf(event, listener, origin))),
    );
    span.end();
    unit.afterCommit(() => onDelivery(reportOf(listener, event, 'done')));
  } catch (error) {
    span.end(error);
    onDelivery(reportOf(listener, event, 'failed'));
    throw error;
  }
}

/** Receivers of metrics of a delivery. */
export function reportOf(
  { name: listener }: Listener,
  { occurredAt, traceparent }: EventRow,
  outcome: DeliveryReport['outcome'],
): DeliveryReport {
  return { listener, outcome, occurredAt, traceparent };
}

/** Error that operators read in the delivery row; the whole error is in the log. Messages of unexpected errors may hold data. */
export function summaryOf(error: unknown): string {
  const name = error instanceof Error ? error.name : 'error';
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? `${name} ${code}` : name;
}

const outages: ReadonlySet<ErrorCode> = new Set(['database_unavailable', 'database_busy', 'workflows_unavailable']);

/** Whether a service that every delivery needs is unavailable. Such a failure is waited out and not counted as an attempt. */
export function isOutage(error: unknown): boolean {
  return isAppError(error) && outages.has(error.code);
}
