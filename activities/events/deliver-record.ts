import { setTimeout as pause } from 'node:timers/promises';
import { isRefusal } from '#entities/kit/base/errors.ts';
import { traceIdOf } from '#entities/kit/base/trace.ts';
import type { Listener } from '../listeners/listener.ts';
import { blockedRecords, dueEvents, insertDeliveries, lockRecords } from '#entities/kit/outbox/deliveries.ts';
import type { EventRow } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { ListenerHealth } from './listener-health.ts';
import {
  deliverOne,
  inListenerTransaction,
  isOutage,
  reportOf,
  summaryOf,
  type EventDependencies,
} from './listener-transaction.ts';

/** Events of some records of one organization, for one listener. */
export interface DeliverySlice {
  readonly listener: Listener;
  readonly organizationId: string | null;
  readonly entityIds: readonly string[];
}

/** Records of the retry queue that are delivered at the same time; each takes a database connection. */
const maxConcurrentRecords = 4;

/** Time after which a failing delivery gets a workflow of its own, however many attempts `maxretries` allows. */
const maxTryMs = 120_000;

/** The delivery of what is due of one record. */
interface RecordDelivery {
  readonly deps: EventDependencies;
  readonly slice: DeliverySlice;
  readonly health: ListenerHealth;
}

/** The event on which a listener failed. */
interface Failure {
  readonly event: EventRow;
  readonly error: unknown;
}

/**
 * Delivers slices, each in one transaction where that works, else record by record. Events of a listener that is held wait.
 * @returns how many events were delivered
 * @throws AppError when the database or Temporal is unavailable; what was delivered stays delivered
 */
export async function deliverSlices(
  deps: EventDependencies,
  slices: readonly DeliverySlice[],
  health: ListenerHealth,
): Promise<number> {
  let delivered = 0;
  const retryQueue: { readonly slice: DeliverySlice; readonly failure: Failure | undefined }[] = [];
  for (const slice of slices) {
    const outcome = await deliverTogether(deps, slice, health);
    if (typeof outcome === 'number') {
      delivered += outcome;
      continue;
    }
    deps.logger.warn(
      { err: outcome.error, listener: slice.listener.name },
      'events could not be delivered together; delivering their records one by one',
    );
    for (const entityId of slice.entityIds) {
      const { event, error } = outcome;
      const failure = event?.entityId === entityId ? { event, error } : undefined;
      retryQueue.push({ slice: { ...slice, entityIds: [entityId] }, failure });
    }
  }
  // After the slices that succeed, so that none of them waits for these attempts.
  const next = async () => {
    for (let record = retryQueue.shift(); record; record = retryQueue.shift())
      delivered += await deliverRecord({ deps, slice: record.slice, health }, record.failure);
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrentRecords, retryQueue.length) }, next));
  return delivered;
}

/**
 * Delivers what is due of these records in one transaction, in the order of each record.
 * @returns how many events; or what failed, and then nothing of it happened
 */
async function deliverTogether(
  deps: EventDependencies,
  { listener, organizationId, entityIds }: DeliverySlice,
  health: ListenerHealth,
): Promise<number | { readonly event: EventRow | undefined; readonly error: unknown }> {
  let event: EventRow | undefined;
  try {
    return await inListenerTransaction(deps, listener, organizationId, async (unit, starts) => {
      const open = await openEvents(unit, listener, entityIds, health);
      for (event of open) await deliverOne(deps, unit, listener, event, starts);
      event = undefined;
      await starts.run();
      await insertDeliveries(unit, listener.name, open, 'done');
      if (open.length > 0) await health.succeeded(unit, listener.name);
      return open.length;
    });
  } catch (error) {
    if (isOutage(error)) throw error;
    return { event, error };
  }
}

/**
 * Delivers the due events of one record, each in its own transaction with a few attempts. A refused attempt is not repeated.
 * The first event that keeps failing is marked, and those after it are held behind it.
 * @param failure the attempt that failed already
 */
async function deliverRecord(one: RecordDelivery, failure: Failure | undefined): Promise<number> {
  const { deps, slice, health } = one;
  let delivered = 0;
  let failures = failure ? 1 : 0;
  const giveUpAt = performance.now() + maxTryMs;
  for (;;) {
    // It waits like all others, without a workflow of its own.
    if (health.seemsHeld(slice.listener.name)) failure = undefined;
    if (failure) {
      const mayRetry =
        failures < deps.config.current.workflows.dispatch.maxretries &&
        performance.now() < giveUpAt &&
        !isRefusal(failure.error);
      if (mayRetry) await pause(Math.min(10 * 2 ** failures, 500));
      else if (await markFailing(one, failure)) return delivered;
    }
    const outcome = await deliverNext(one);
    if (outcome === 'nothing due') return delivered;
    if (outcome === 'delivered') {
      delivered++;
      failure = undefined;
      continue;
    }
    failures = outcome.event.id === failure?.event.id ? failures + 1 : 1;
    failure = outcome;
    deps.logger.warn(
      { err: failure.error, ...whereOf(slice.listener, failure.event), attempt: failures },
      'a listener failed',
    );
  }
}

async function deliverNext({
  deps,
  slice: { listener, organizationId, entityIds },
  health,
}: RecordDelivery): Promise<'delivered' | 'nothing due' | Failure> {
  let event: EventRow | undefined;
  try {
    return await inListenerTransaction(deps, listener, organizationId, async (unit, starts) => {
      [event] = await openEvents(unit, listener, entityIds, health);
      if (!event) return 'nothing due';
      await deliverOne(deps, unit, listener, event, starts);
      await starts.run();
      await insertDeliveries(unit, listener.name, [event], 'done');
      await health.succeeded(unit, listener.name);
      return 'delivered';
    });
  } catch (error) {
    if (!event || isOutage(error)) throw error;
    return { event, error };
  }
}

/** @returns false when the event was delivered elsewhere meanwhile */
async function markFailing(
  { deps, slice: { listener, organizationId, entityIds }, health }: RecordDelivery,
  { event, error }: Failure,
): Promise<boolean> {
  return inListenerTransaction(deps, listener, organizationId, async (unit) => {
    const [first, ...behind] = await openEvents(unit, listener, entityIds, health);
    if (first?.id !== event.id) return first === undefined;
    deps.logger.error({ err: error, ...whereOf(listener, event) }, 'a listener keeps failing on this event');
    await insertDeliveries(unit, listener.name, [event], 'failing', summaryOf(error));
    unit.afterCommit(() => deps.onDelivery(reportOf(listener, event, 'given up')));
    await insertDeliveries(unit, listener.name, behind, 'held');
    const { name, topics } = listener;
    await health.failed(unit, { listener: name, topics, organizationId, error: summaryOf(error) });
    return true;
  });
}

export function whereOf(listener: Listener, { id, topic, requestId, traceparent }: EventRow): object {
  return {
    listener: listener.name,
    event_id: id,
    topic,
    request_id: requestId,
    trace_id: traceIdOf(traceparent),
  };
}

/**
 * The due events that are to be delivered now; those that wait, for a failing delivery of their record or because the listener is held as
 * a whole, are marked as held. Locks the records.
 */
async function openEvents(
  unit: UnitOfWork,
  listener: Listener,
  entityIds: readonly string[],
  health: ListenerHealth,
): Promise<EventRow[]> {
  await lockRecords(unit, listener.name, entityIds);
  const due = await dueEvents(unit, listener.name, listener.topics, entityIds);
  if (due.length === 0) return due;
  if (await health.isHeld(unit, listener.name)) {
    await insertDeliveries(unit, listener.name, due, 'held');
    return [];
  }
  const blocked = await blockedRecords(unit, listener.name, entityIds);
  await insertDeliveries(
    unit,
    listener.name,
    due.filter((event) => blocked.has(event.entityId)),
    'held',
  );
  return due.filter((event) => !blocked.has(event.entityId));
}
