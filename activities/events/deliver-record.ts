import { setTimeout as pause } from 'node:timers/promises';
import type { Listener } from '#activities/listeners/listener.ts';
import { blockedRecords, dueEvents, insertDeliveries, lockRecords } from '#entities/kit/deliveries.ts';
import type { EventRow } from '#entities/kit/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit-of-work.ts';
import type { EventDependencies } from './dependencies.ts';
import { deliverOne, inListenerTransaction, isOutage, summaryOf } from './listener-transaction.ts';

/** Events of some records of one organization that one listener has to see. */
export interface Share {
  readonly listener: Listener;
  readonly organizationId: string | null;
  readonly entityIds: readonly string[];
}

/** Records that are delivered one by one at the same time: each takes a database connection. */
const mostRecords = 4;

/** A record whose events cannot be delivered in this time is given to a workflow of its own, whatever `maxretries` says. */
const longestTryMs = 120_000;

/**
 * Delivers shares, each in one transaction where that works, else record by record.
 * @returns how many events were delivered
 * @throws AppError when the database or Temporal is away; what was delivered stays delivered
 */
export async function deliverShares(deps: EventDependencies, shares: readonly Share[]): Promise<number> {
  let delivered = 0;
  const troubled: Share[] = [];
  for (const share of shares) {
    try {
      delivered += await deliverTogether(deps, share);
    } catch (error) {
      if (isOutage(error)) throw error;
      deps.logger.warn(
        { err: error, listener: share.listener.name },
        'events could not be delivered together; delivering their records one by one',
      );
      troubled.push(...share.entityIds.map((entityId) => ({ ...share, entityIds: [entityId] })));
    }
  }
  // After the healthy ones, so that nobody waits for their attempts.
  const next = async () => {
    for (let share = troubled.shift(); share; share = troubled.shift()) delivered += await deliverRecord(deps, share);
  };
  await Promise.all(Array.from({ length: Math.min(mostRecords, troubled.length) }, next));
  return delivered;
}

/**
 * Delivers what is due of these records in one transaction, in the order of each record. Throws when any event fails: then
 * nothing of it happened.
 */
async function deliverTogether(
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

/** The event on which a listener failed. */
interface Failure {
  readonly event: EventRow;
  readonly error: unknown;
}

/**
 * Delivers what is due of one record, each event in its own transaction with a few attempts. The first event that keeps
 * failing is marked, and those after it are held behind it.
 */
async function deliverRecord(deps: EventDependencies, share: Share): Promise<number> {
  let delivered = 0;
  let failedId: string | undefined;
  let failures = 0;
  const giveUpAt = performance.now() + longestTryMs;
  for (;;) {
    const outcome = await deliverNext(deps, share);
    if (outcome === 'nothing due') return delivered;
    if (outcome === 'delivered') {
      delivered++;
      continue;
    }
    const { event, error } = outcome;
    failures = event.id === failedId ? failures + 1 : 1;
    failedId = event.id;
    if (failures < deps.maxAttempts() && performance.now() < giveUpAt) {
      deps.logger.warn(
        { err: error, listener: share.listener.name, attempt: failures },
        'a listener failed; trying again',
      );
      await pause(Math.min(10 * 2 ** failures, 500));
    } else if (await markFailing(deps, share, outcome)) {
      return delivered;
    }
  }
}

async function deliverNext(
  deps: EventDependencies,
  { listener, organizationId, entityIds }: Share,
): Promise<'delivered' | 'nothing due' | Failure> {
  let event: EventRow | undefined;
  try {
    return await inListenerTransaction(deps, listener, organizationId, async (unit, starts) => {
      [event] = await openEvents(unit, listener, entityIds);
      if (!event) return 'nothing due';
      await deliverOne(unit, listener, event, starts);
      await starts.run();
      await insertDeliveries(unit, listener.name, [event], 'done');
      return 'delivered';
    });
  } catch (error) {
    if (!event || isOutage(error)) throw error;
    return { event, error };
  }
}

/** @returns false when the event was delivered elsewhere meanwhile */
async function markFailing(
  deps: EventDependencies,
  { listener, organizationId, entityIds }: Share,
  { event, error }: Failure,
): Promise<boolean> {
  return inListenerTransaction(deps, listener, organizationId, async (unit) => {
    const [first, ...behind] = await openEvents(unit, listener, entityIds);
    if (first?.id !== event.id) return first === undefined;
    deps.logger.error(
      { err: error, listener: listener.name, event_id: event.id, topic: event.topic, request_id: event.requestId },
      'a listener keeps failing on this event',
    );
    await insertDeliveries(unit, listener.name, [event], 'failing', summaryOf(error));
    await insertDeliveries(unit, listener.name, behind, 'held');
    return true;
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
