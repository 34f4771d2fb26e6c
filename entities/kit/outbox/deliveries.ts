import { eventColumns, type EventRow } from './outbox.ts';
import type { Work } from '../storage/work.ts';

/**
 * The state of an event's delivery to one listener. The row is written in the listener's own transaction and alone decides whether
 * the event was delivered; Temporal's workflow ids only avoid duplicate work.
 * - `done`: the listener's effect is committed.
 * - `failing`: a `deliverEvent` workflow retries this delivery.
 * - `held`: an earlier event of the same record is failing with this listener, or the listener fails on everything.
 * - `skipped`: an operator gave the delivery up.
 */
export type DeliveryState = 'done' | 'failing' | 'held' | 'skipped';

interface DeliveryKey {
  readonly eventId: string;
  readonly occurredAt: Date;
  readonly listener: string;
}

/**
 * Locks deliveries of these records' events to this listener until the end of the transaction, so that batches and workers
 * deliver the events of a record in their order.
 */
export async function lockRecords(work: Work, listener: string, entityIds: readonly string[]): Promise<void> {
  await work.runAsSystem(
    `select pg_advisory_xact_lock(key) from
     (select distinct hashtextextended($1 || ':' || id, 0) as key from unnest($2::text[]) as id order by key) as keys`,
    [listener, entityIds],
  );
}

/** Events of these records that were not delivered to the listener yet, in their order per record. */
export function dueEvents(
  work: Work,
  listener: string,
  topics: readonly string[],
  entityIds: readonly string[],
): Promise<EventRow[]> {
  return work.rowsAsSystem<EventRow>(
    `select ${eventColumns} from events e
     where e.entity_id = any($2) and e.topic = any($3) and e.pending and e.settled_at is null
       and not exists (select 1 from event_deliveries d
         where d.occurred_at = e.occurred_at and d.event_id = e.id and d.listener = $1)
     order by e.entity_id, e.record_version, e.id`,
    [listener, entityIds, topics],
  );
}

/** Those of these records that have failing or held deliveries to this listener. */
export async function blockedRecords(work: Work, listener: string, entityIds: readonly string[]): Promise<Set<string>> {
  const rows = await work.rowsAsSystem<{ entity_id: string }>(
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
  await work.runAsSystem(
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

/** The failing deliveries of these events; each needs a workflow of its own. */
export function failingAmong(
  work: Work,
  events: readonly EventRow[],
): Promise<{ eventId: string; occurredAt: Date; listener: string }[]> {
  return work.rowsAsSystem<{ eventId: string; occurredAt: Date; listener: string }>(
    `select event_id as "eventId", occurred_at as "occurredAt", listener from event_deliveries
     where occurred_at = any($1) and event_id = any($2) and state = 'failing'`,
    [events.map((event) => event.occurredAt), events.map((event) => event.id)],
  );
}

/** An event with the state of its delivery; undefined when one of them does not exist any more. */
export async function readDelivery(
  work: Work,
  key: DeliveryKey,
): Promise<{ event: EventRow; state: DeliveryState } | undefined> {
  const [row] = await work.rowsAsSystem<EventRow & { state: DeliveryState }>(
    `select ${eventColumns}, d.state from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.occurred_at = $1 and d.event_id = $2 and d.listener = $3`,
    [key.occurredAt, key.eventId, key.listener],
  );
  if (!row) return undefined;
  const { state, ...event } = row;
  return { event, state };
}

/** The delivery of a record that is the next one to end: the failing one behind which the others wait, else the oldest held one. */
export async function firstOpen(
  work: Work,
  listener: string,
  entityId: string,
): Promise<{ event: EventRow; state: 'failing' | 'held' } | undefined> {
  const [row] = await work.rowsAsSystem<EventRow & { state: 'failing' | 'held' }>(
    `select ${eventColumns}, d.state from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.listener = $1 and d.entity_id = $2 and d.state in ('failing', 'held')
     order by d.state <> 'failing', e.record_version, e.id limit 1`,
    [listener, entityId],
  );
  if (!row) return undefined;
  const { state, ...event } = row;
  return { event, state };
}

/** Ends an open (failing or held) delivery. @returns whether it was open; one that has ended is not changed */
export async function endDelivery(work: Work, key: DeliveryKey, state: 'done' | 'skipped'): Promise<boolean> {
  return updateOpen(work, key, state, null);
}

/**
 * Marks an open delivery as failing. One that has ended meanwhile is not changed: the failure is that of an outdated attempt.
 * @returns whether it is failing
 */
export async function noteFailure(work: Work, key: DeliveryKey, error: string): Promise<boolean> {
  return updateOpen(work, key, 'failing', error);
}

async function updateOpen(work: Work, key: DeliveryKey, state: DeliveryState, error: string | null): Promise<boolean> {
  const count = await work.runAsSystem(
    `update event_deliveries set state = $4, error = $5, updated_at = $6
     where occurred_at = $1 and event_id = $2 and listener = $3 and state in ('failing', 'held')`,
    [key.occurredAt, key.eventId, key.listener, state, error, work.clock.now()],
  );
  return count === 1;
}

export interface FailingDelivery {
  readonly event: EventRow;
  readonly listener: string;
}

/** Failing deliveries without an update since `before`: their workflows may have been terminated. @param after the last one of the page before */
export async function staleFailing(
  work: Work,
  before: Date,
  limit: number,
  after: FailingDelivery | undefined,
): Promise<FailingDelivery[]> {
  const rows = await work.rowsAsSystem<EventRow & { listener: string }>(
    `select ${eventColumns}, d.listener from event_deliveries d
     join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
     where d.state = 'failing' and d.updated_at < $1
       and ($3::timestamptz is null or (d.occurred_at, d.event_id, d.listener) > ($3, $4, $5))
     order by d.occurred_at, d.event_id, d.listener limit $2`,
    [before, limit, after?.event.occurredAt ?? null, after?.event.id ?? null, after?.listener ?? null],
  );
  return rows.map(({ listener, ...event }) => ({ event, listener }));
}

interface OrphanedHold {
  readonly listener: string;
  readonly entityId: string;
}

/**
 * Records with held events but no failing event, of listeners that are not held, so that no workflow would deliver the held ones.
 * @param after the last one of the page before
 */
export function orphanedHolds(
  work: Work,
  before: Date,
  limit: number,
  after: OrphanedHold | undefined,
): Promise<OrphanedHold[]> {
  return work.rowsAsSystem<OrphanedHold>(
    `select distinct h.entity_id as "entityId", h.listener from event_deliveries h
     where h.state = 'held' and h.updated_at < $1 and (h.entity_id, h.listener) > ($3, $4) and not exists (select 1 from event_deliveries f
         where f.listener = h.listener and f.entity_id = h.entity_id and f.state = 'failing')
       and not exists (select 1 from listener_states l where l.listener = h.listener and l.held_at is not null)
     order by 1, 2 limit $2`,
    [before, limit, after?.entityId ?? '', after?.listener ?? ''],
  );
}
