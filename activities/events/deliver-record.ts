import { setTimeout as pause } from 'node:timers/promises';
import { withOrigin } from '#activities/clients/work-origin.ts';
import type { Listener } from '#activities/listeners/listener.ts';
import { systemCaller } from '#entities/kit/caller.ts';
import { blockedRecords, dueEvents, insertDeliveries, lockRecords } from '#entities/kit/deliveries.ts';
import { failpoint } from '#entities/kit/failpoint.ts';
import type { EventRow } from '#entities/kit/outbox.ts';
import { startSpan } from '#entities/kit/trace.ts';
import type { UnitOfWork } from '#entities/kit/unit-of-work.ts';
import { WorkflowStarts } from './workflow-starts.ts';
import type { EventDependencies } from './dependencies.ts';

/** Events of some records of one organization that one listener has to see. */
export interface Share {
  readonly listener: Listener;
  readonly organizationId: string | null;
  readonly entityIds: readonly string[];
}

/**
 * Delivers what is due of these records in one transaction, in the order of each record. Throws when any event fails: then
 * nothing of it happened, and the records are delivered one by one.
 * @returns how many events were delivered
 */
export async function deliverTogether(
  deps: EventDependencies,
  { listener, organizationId, entityIds }: Share,
): Promise<number> {
  return inListenerTransaction(deps, listener, organizationId, async (unit, starts) => {
    const open = await openEvents(unit, listener, entityIds);
    for (const event of open) await deliverOne(unit, listener, event, starts);
    await starts.run();
    await insertDeliveries(unit, listener.name, open, 'done');
    return open.length;
  });
}

/**
 * Delivers what is due of one record, each event in its own transaction with a few attempts. The first event that keeps
 * failing is marked, and those after it are held behind it.
 */
export async function deliverRecord(deps: EventDependencies, share: Share): Promise<number> {
  let delivered = 0;
  for (let attempt = 1; ;) {
    try {
      const found = await deliverNext(deps, share);
      if (!found) return delivered;
      delivered++;
      attempt = 1;
    } catch (error) {
      if (attempt >= deps.maxAttempts()) {
        await markFailing(deps, share, error);
        return delivered;
      }
      deps.logger.warn({ err: error, listener: share.listener.name, attempt }, 'a listener failed; trying again');
      await pause(Math.min(20 * 2 ** attempt++, 500));
    }
  }
}

async function deliverNext(deps: EventDependencies, { listener, organizationId, entityIds }: Share): Promise<boolean> {
  return inListenerTransaction(deps, listener, organizationId, async (unit, starts) => {
    const [event] = await openEvents(unit, listener, entityIds);
    if (!event) return false;
    await deliverOne(unit, listener, event, starts);
    await starts.run();
    await insertDeliveries(unit, listener.name, [event], 'done');
    return true;
  });
}

async function markFailing(
  deps: EventDependencies,
  { listener, organizationId, entityIds }: Share,
  error: unknown,
): Promise<void> {
  await inListenerTransaction(deps, listener, organizationId, async (unit) => {
    const [failing, ...behind] = await openEvents(unit, listener, entityIds);
    if (!failing) return;
    deps.logger.error(
      {
        err: error,
        listener: listener.name,
        event_id: failing.id,
        topic: failing.topic,
        request_id: failing.requestId,
      },
      'a listener keeps failing on this event',
    );
    await insertDeliveries(unit, listener.name, [failing], 'failing', summaryOf(error));
    await insertDeliveries(unit, listener.name, behind, 'held');
  });
}

/** What is due and not held up; what is held up is noted as such on the way. Locks the records. */
async function openEvents(unit: UnitOfWork, listener: Listener, entityIds: readonly string[]): Promise<EventRow[]> {
  await lockRecords(unit, listener.name, entityIds);
  const due = await dueEvents(unit, listener.name, listener.topics, entityIds);
  if (due.length === 0) return due;
  const blocked = await blockedRecords(unit, listener.name, entityIds);
  await insertDeliveries(
    unit,
    listener.name,
    due.filter((event) => blocked.has(event.entityId)),
    'held',
  );
  return due.filter((event) => !blocked.has(event.entityId));
}

/** Runs the listener on one event, on behalf of the request that caused it. */
export async function deliverOne(
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
    await withOrigin(origin, () =>
      unit.onBehalfOf(origin, async () => listener.deliver(starts.deliveryOf(event, listener, unit, origin))),
    );
    span.end();
  } catch (error) {
    span.end(error);
    throw error;
  }
}

/** A transaction of a listener: the system role, held to the organization of the events by the wall. */
export async function inListenerTransaction<T>(
  deps: EventDependencies,
  listener: Listener,
  organizationId: string | null,
  work: (unit: UnitOfWork, starts: WorkflowStarts) => Promise<T>,
): Promise<T> {
  const context = {
    caller: systemCaller(`listener ${listener.name}`, organizationId),
    requestId: `listener-${listener.name}`,
  };
  const unit = deps.database.unitOfWork(context);
  try {
    const result = await work(unit, new WorkflowStarts(deps.temporal));
    failpoint('delivery-before-commit');
    await unit.commit();
    failpoint('delivery-after-commit');
    return result;
  } catch (error) {
    await unit.rollback();
    throw error;
  }
}

/** What operators read in the delivery row; the whole error is in the log. Messages of unexpected errors may hold data. */
export function summaryOf(error: unknown): string {
  const name = error instanceof Error ? error.name : 'error';
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? `${name} ${code}` : name;
}
