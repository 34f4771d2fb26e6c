import { actorOf } from '../kit/model/caller.ts';
import type { Work } from '../kit/storage/work.ts';

/** Time for which messages and the log of attempts are kept, in milliseconds: longer than events. */
const retentionMs = 30 * 86_400_000;

const pruned = 10_000;

/** `withheld`: the endpoint may not receive it (`withholdMessages`). */
export const messageStates = ['due', 'delivered', 'failed', 'kept', 'withheld'] as const;
type MessageState = (typeof messageStates)[number];

interface ShownMessage {
  readonly eventId: string;
  readonly type: string;
  readonly kind: string;
  readonly recordId: string;
  /** Id of the request that caused the event; null if there was none. */
  readonly requestId: string | null;
  readonly occurredAt: Date;
  readonly status: MessageState;
  readonly attempts: number;
  readonly dueAt: Date | null;
}

interface ShownAttempt {
  readonly id: string;
  readonly eventId: string;
  readonly type: string;
  readonly number: number;
  readonly attemptedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
  readonly problem: string | null;
  readonly response: string | null;
}

export interface LogPage {
  readonly endpointId: string;
  readonly eventId?: string;
  /** Those before this one; the newest when left out. */
  readonly before?: string;
  readonly size: number;
}

/**
 * The newest messages of an endpoint, by the id of their event. The caller of this function has checked that the user sees the endpoint.
 */
export function readMessages(
  work: Work,
  { endpointId, eventId, before, size, status }: LogPage & { readonly status?: MessageState },
): Promise<ShownMessage[]> {
  return work.rowsAsSystem<ShownMessage>(
    `select event_id as "eventId", topic as type, entity_kind as kind, entity_id as "recordId", request_id as "requestId",
       occurred_at as "occurredAt", state as status, attempts, due_at as "dueAt" from webhook_messages
     where endpoint_id = $1 and ($2::text is null or event_id = $2) and ($3::text is null or event_id < $3)
       and ($4::text is null or state = $4) order by event_id desc limit $5`,
    [endpointId, eventId ?? null, before ?? null, status ?? null, size],
  );
}

/** The newest attempts, in the same way. */
export function readAttempts(work: Work, { endpointId, eventId, before, size }: LogPage): Promise<ShownAttempt[]> {
  // Written only where it is meant, so that the index of both columns serves it.
  const ofEvent = eventId === undefined ? 'and $2::text is null' : 'and event_id = $2';
  return work.rowsAsSystem<ShownAttempt>(
    `select id, event_id as "eventId", topic as type, number, attempted_at as "attemptedAt", duration_ms as "durationMs", status, problem, response
     from webhook_attempts
     where endpoint_id = $1 ${ofEvent} and ($3::text is null or id < $3) order by id desc limit $4`,
    [endpointId, eventId ?? null, before ?? null, size],
  );
}

interface Replay {
  readonly endpointId: string;
  /** These; or all since an instant. */
  readonly which: { readonly eventIds: readonly string[] } | { readonly since: Date; readonly limit: number };
}

/**
 * Makes messages due again that were delivered, given up, kept or withheld. They keep their ids, and whether the endpoint may receive them
 * is decided anew.
 * @returns how many, and the time of the last event among them
 */
export async function replayMessages(
  work: Work,
  { endpointId, which }: Replay,
): Promise<{ readonly count: number; readonly last: Date | null }> {
  const chosen =
    'eventIds' in which
      ? { condition: 'm.event_id = any($3)', value: which.eventIds, limit: which.eventIds.length }
      : { condition: 'm.occurred_at >= $3', value: which.since, limit: which.limit };
  const rows = await work.rowsAsSystem<{ count: number; last: Date | null }>(
    `with changed as (
       update webhook_messages held set state = 'due', due_at = $2, attempts = 0, claim_id = null, updated_at = $2, replayed_at = $2
       from (select m.event_id from webhook_messages m where m.endpoint_id = $1 and m.state <> 'due' and ${chosen.condition}
         order by m.occurred_at, m.event_id limit $4 for update) as chosen
       where held.endpoint_id = $1 and held.event_id = chosen.event_id returning held.occurred_at)
     select count(*)::int as count, max(occurred_at) as last from changed`,
    [endpointId, work.clock.now(), chosen.value, chosen.limit],
  );
  return rows[0] ?? { count: 0, last: null };
}

/** A message that belongs to no event. */
interface OwnMessage {
  readonly endpointId: string;
  readonly organizationId: string;
  readonly eventId: string;
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** Writes a message to one endpoint. */
export async function addMessage(work: Work, message: OwnMessage): Promise<void> {
  const { endpointId, organizationId, eventId, topic, entityKind, entityId, recordVersion, payload = {} } = message;
  await work.runAsSystem(
    `insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
       occurred_at, payload, state, due_at, updated_at, actor)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'due', $9, $9, $11)`,
    [
      endpointId,
      eventId,
      organizationId,
      topic,
      entityKind,
      entityId,
      recordVersion,
      work.context.requestId,
      work.clock.now(),
      JSON.stringify(payload),
      actorOf(work.context.caller),
    ],
  );
}

/** Lets nobody else create an endpoint in the organization until the end of the transaction: their number is limited. */
export async function lockEndpointsOf(work: Work, organizationId: string): Promise<void> {
  await work.runAsSystem(`select pg_advisory_xact_lock(hashtextextended('webhook-endpoints:' || $1, 0))`, [
    organizationId,
  ]);
}

/** Lets what may be sent begin at once: the endpoint was changed or enabled. */
export async function unblockEndpoint(work: Work, endpointId: string): Promise<void> {
  await work.runAsSystem(
    `update webhook_queues set failures = 0, failing_since = null, told_at = null, blocked_until = null, next_at = '-infinity'
     where endpoint_id = $1`,
    [endpointId],
  );
}

/**
 * Removes some messages and attempts that are past their retention, and some of those of endpoints that no longer exist.
 * @returns whether there may be more
 */
export async function pruneMessages(work: Work, at: Date): Promise<boolean> {
  const session = await work.readAs('system');
  const before = new Date(at.getTime() - retentionMs);
  const gone = `select w.id from webhook_endpoints w where w.deleted_at is not null and exists (select 1 from webhook_queues q where q.endpoint_id = w.id)`;
  const isFull = async (text: string, values: readonly unknown[] = []) =>
    (await session.query(text, values)).rowCount === pruned;
  const ofGone = (table: string) =>
    isFull(
      `delete from ${table} where ctid = any(array(select row.ctid from ${table} row where row.endpoint_id in (${gone}) limit ${pruned}))`,
    );
  const full = [
    await isFull(
      `delete from webhook_messages where (endpoint_id, event_id) in (select endpoint_id, event_id from webhook_messages
         where occurred_at < $1 and (state <> 'due' or due_at < $1) order by occurred_at limit ${pruned})`,
      [before],
    ),
    await isFull(
      `delete from webhook_attempts where id in (select id from webhook_attempts where attempted_at < $1 order by attempted_at limit ${pruned})`,
      [before],
    ),
    await ofGone('webhook_messages'),
    await ofGone('webhook_attempts'),
  ];
  // The row of the queue shows that the endpoint has messages left.
  await session.query(
    `delete from webhook_queues held where held.endpoint_id in (${gone})
       and not exists (select 1 from webhook_messages m where m.endpoint_id = held.endpoint_id)
       and not exists (select 1 from webhook_attempts a where a.endpoint_id = held.endpoint_id)`,
  );
  return full.includes(true);
}
