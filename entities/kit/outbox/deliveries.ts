import { eventColumns, type EventRow } from './outbox.ts';
import type { Work } from '../storage/work.ts';

/**
 * How far an event is with one listener. The row decides, and is written in the listener's own transaction; Temporal's
 * ids only save work.
 * - `done`: the listener's effect is committed.
 * - `failing`: its own `deliverEvent` workflow tries again.
 * - `held`: an earlier event of the same record is failing with this listener.
 * - `skipped`: an operator gave it up.
 */
export type DeliveryState = 'done' | 'failing' | 'held' | 'skipped';

export interface DeliveryKey {
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly listener: string;
}

/**
 * Serialises deliveries of these records to this listener until the end of the transaction, so that their order holds
 * across batches and workers.
 */
export async function lockRecords(work: Work, listener: string, entityIds: readonly string[]): Promise<void> {
  const session = await work.readAs('system');
  await session.query(
    `select pg_advisory_xact_lock(key) from
     (select distinct hashtextextended($1 || ':' || id, 0) as key from unnest($2::text[]) as id order by key) as keys`,
    [listener, entityIds],
  );
}

/** Events of these records that the listener has not seen, in the order in which they happened to each record. */
export async function dueEvents(
  work: Work,
  listener: string,
  topics: readonly string[],
  entityIds: readonly string[],
): Promise<EventRow[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<EventRow>(
    `select ${eventColumns} from events e
     where e.entity_id = any($2) and e.topic = any($3) and e.pending and e.settled_at is null
       and not exists (select 1 from event_deliveries d
         where d.occurred_at = e.occurred_at and d.event_id = e.id and d.listener = $1)
     order by e.entity_id, e.record_version, e.id`,
    [listener, entityIds, topics],
  );
  return rows;
}

/** Which of these records are held up with this listener by a failing event. */
export async function blockedRecords(work: Work, listener: string, entityIds: readonly string[]): Promise<Set<string>> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ entity_id: string }>(
    `select distinct entity_id from event_deliveries where listener = $1 and entity_id = any($2) and state in ('failing', 'held')`,
    [listener, entityIds],
  );
  return new Set(rows.map((row) => row.entity_id));
}

export async function insertDeliveries(
  work: Work,
  listener: string,
  events: readonly EventRow[],
  state: DeliveryState,
  error: string | null = null,
): Promise<void> {
  if (events.length === 0) return;
  const session = await work.readAs('system');
  await session.query(
    `insert into event_deliveries (occurred_at, event_id, entity_id, listener, state, error, updated_at)
     select *, $4, $5, $6, $7 from unnest($1::timestamptz[], $2::text[], $3::text[])
     on conflict (occurred_at, event_id, listener) do nothing`,
    [
      events.map((event) => event.occurredAt),
      events.map((event) => event.id),
      events.map((event) => event.entityId),
      listener,
      state,
      error,
      work.clock.now(),
    ],
  );
}

/** The failing deliveries among these events: each has, or needs, a workflow of its own. */
export async function failingAmong(
  work: Work,
  events: readonly EventRow[],
): Promise<{ eventId: string; occurredAt: Date; listener: string }[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ eventId: string; occurredAt: Date; listener: string }>(
    `select event_id as "eventId", occurred_at as "occurredAt", listener from event_deliveries
     where occurred_at = any($1) and event_id = any($2) and state = 'failing'`,
    [events.map((event) => event.occurredAt), events.map((event) => event.id)],
  );
  return rows;
}

/** One event with the state of its delivery, or undefined when either is gone. */
export async function readDelivery(
  work: Work,
  key: DeliveryKey,
): Promise<{ event: EventRow; state: DeliveryState } | undefined> {
  const session = await work.readAs('system');
  const { rows } = await session.query<EventRow & { state: DeliveryState }>(
    `select ${eventColumns}, d.state from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.occurred_at = $1 and d.event_id = $2 and d.listener = $3`,
    [key.occurredAt, key.eventId, key.listener],
  );
  const row = rows[0];
  if (!row) return undefined;
  const { state, ...event } = row;
  return { event, state };
}

/** The oldest event of a record that waits behind a failing one. */
export async function nextHeld(work: Work, listener: string, entityId: string): Promise<EventRow | undefined> {
  const session = await work.readAs('system');
  const { rows } = await session.query<EventRow>(
    `select ${eventColumns} from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.listener = $1 and d.entity_id = $2 and d.state = 'held'
     order by e.record_version, e.id limit 1`,
    [listener, entityId],
  );
  return rows[0];
}

/**
 * Ends a delivery that is open.
 * @returns whether it was open until now; one that has ended stays what it is
 */
export async function endDelivery(work: Work, key: DeliveryKey, state: 'done' | 'skipped'): Promise<boolean> {
  return updateOpen(work, key, state, null);
}

/** Notes that an open delivery fails. One that has ended meanwhile stays what it is: the note comes from a lost attempt. */
export async function noteFailure(work: Work, key: DeliveryKey, error: string): Promise<void> {
  await updateOpen(work, key, 'failing', error);
}

async function updateOpen(work: Work, key: DeliveryKey, state: DeliveryState, error: string | null): Promise<boolean> {
  const session = await work.readAs('system');
  const { rowCount } = await session.query(
    `update event_deliveries set state = $4, error = $5, updated_at = $6
     where occurred_at = $1 and event_id = $2 and listener = $3 and state in ('failing', 'held')`,
    [key.occurredAt, key.eventId, key.listener, state, error, work.clock.now()],
  );
  return rowCount === 1;
}

/** Open deliveries that nobody has touched since: their workflows should be running; they may have been terminated. */
export async function staleFailing(
  work: Work,
  before: Date,
  most: number,
): Promise<{ readonly event: EventRow; readonly listener: string }[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<EventRow & { listener: string }>(
    `select ${eventColumns}, d.listener from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.state = 'failing' and d.updated_at < $1 order by random() limit $2`,
    [before, most],
  );
  return rows.map(({ listener, ...event }) => ({ event, listener }));
}

/** Records with held events and no failing one before them, which nothing would let go any more. */
export async function orphanedHolds(
  work: Work,
  before: Date,
  most: number,
): Promise<{ readonly listener: string; readonly entityId: string }[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ listener: string; entityId: string }>(
    // In random order, so that those which cannot be let go yet do not keep the others out for ever.
    `select * from (select distinct h.listener, h.entity_id as "entityId" from event_deliveries h
       where h.state = 'held' and h.updated_at < $1 and not exists (select 1 from event_deliveries f
         where f.listener = h.listener and f.entity_id = h.entity_id and f.state = 'failing')) held
     order by random() limit $2`,
    [before, most],
  );
  return rows;
}
