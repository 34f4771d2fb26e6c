import { columnsOf } from '../base/columns-of.ts';
import type { Work } from '../storage/work.ts';
import { endDelivery, lockRecords, type DeliveryState } from './deliveries.ts';
import type { DeliveryPosition, DeliverySelection } from './delivery-list.ts';
import { eventColumns, type EventRow } from './outbox.ts';

export interface Repair {
  readonly repairId: string;
  readonly operation: 'retry' | 'skip' | 'stop' | 'postpone' | 'spare' | 'undelete';
  /** Null for a repair that is stopped. */
  readonly selection: DeliverySelection | null;
  /** Operator who ran the command: login and host name of their machine. */
  readonly operator: string;
  readonly reason: string;
}

/** Keeps the record that an operator did something, once. It is kept as long as history. */
export async function recordRepair(
  work: Work,
  { repairId, operation, selection, operator, reason }: Repair,
): Promise<void> {
  await work.runAsSystem(
    `insert into event_repairs (repair_id, operation, at, selection, operator, reason) values ($1, $2, $3, $4, $5, $6)
     on conflict (repair_id, operation) do nothing`,
    [repairId, operation, work.clock.now(), selection === null ? null : JSON.stringify(selection), operator, reason],
  );
}

/** A delivery that a repair has taken, with its state now. */
export interface TakenDelivery {
  readonly event: EventRow;
  readonly listener: string;
  readonly state: DeliveryState;
}

/**
 * Takes those of these deliveries that are in one of the states, and keeps which they were.
 * @returns those that were taken, now or by an earlier attempt of the same step
 */
export async function takeForRepair(
  work: Work,
  repairId: string,
  positions: readonly DeliveryPosition[],
  states: readonly DeliveryState[],
): Promise<TakenDelivery[]> {
  const wanted = `unnest($2::timestamptz[], $3::text[], $4::text[]) as w(occurred_at, event_id, listener)`;
  const values = [repairId, ...columnsOf(positions, 'occurredAt', 'eventId', 'listener')];
  await work.runAsSystem(
    `insert into repaired_deliveries (repair_id, event_id, listener)
     select $1, d.event_id, d.listener from ${wanted} join event_deliveries d using (occurred_at, event_id, listener)
     where d.state = any($5) on conflict (repair_id, event_id, listener) do nothing`,
    [...values, states],
  );
  const rows = await work.rowsAsSystem<EventRow & { readonly listener: string; readonly state: DeliveryState }>(
    `select ${eventColumns}, d.listener, d.state from ${wanted}
     join event_deliveries d using (occurred_at, event_id, listener)
     join repaired_deliveries r on r.repair_id = $1 and r.event_id = d.event_id and r.listener = d.listener
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id order by e.occurred_at, e.id, d.listener`,
    values,
  );
  return rows.map(({ listener, state, ...event }) => ({ event, listener, state }));
}

/** Gives up a delivery that waits behind another one of its record. */
export async function skipHeld(work: Work, { event, listener }: TakenDelivery): Promise<void> {
  await lockRecords(work, listener, [event.entityId]);
  await endDelivery(work, { eventId: event.id, occurredAt: event.occurredAt, listener }, 'skipped');
}

/** Removes some of the oldest repairs before an instant, with the deliveries that they took. @returns whether there may be more */
export async function pruneRepairs(work: Work, before: Date): Promise<boolean> {
  const most = 100;
  const rows = await work.rowsAsSystem<{ count: number }>(
    `with old as (select repair_id, operation from event_repairs where at < $1 order by at limit ${most}),
       taken as (delete from repaired_deliveries where repair_id in (select repair_id from old)),
       gone as (delete from event_repairs where (repair_id, operation) in (select repair_id, operation from old) returning 1)
     select count(*)::int as count from gone`,
    [before],
  );
  return rows[0]?.count === most;
}
