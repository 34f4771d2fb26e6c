import { columnsOf } from '../kit/base/columns-of.ts';
import type { Claim, ClaimRequest, DueItem } from '../kit/due-work/define-due-work.ts';
import type { Work } from '../kit/storage/work.ts';
import { isReceivable, withholdMessages } from './withheld-message-rows.ts';

/** A message that an attempt was begun for. */
export interface ClaimedMessage {
  /** Of the attempt. */
  readonly claimId: string;
  readonly eventId: string;
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly requestId: string;
  /** Caller who caused the event (`actorOf`). */
  readonly actor: string;
  readonly occurredAt: Date;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Attempts that failed before. */
  readonly attempts: number;
}

export interface AttemptResult {
  readonly message: ClaimedMessage;
  readonly attemptedAt: Date;
  readonly durationMs: number;
  readonly status: number | null;
  /** Why there is no usable response. */
  readonly problem: string | null;
  /** The beginning of the response. */
  readonly response: string | null;
}

/** Result of an attempt for its message. */
interface SettledAttempt extends AttemptResult {
  readonly state: 'delivered' | 'failed' | 'due';
  /** When the next attempt may begin; null unless `due`. */
  readonly dueAt: Date | null;
}

export interface QueueState {
  /** Attempts in a row that failed. */
  readonly failures: number;
  /** When the first of them failed. */
  readonly failingSince: Date | null;
  /** Time of the notification of the organization. */
  readonly toldAt: Date | null;
  readonly blockedUntil: Date | null;
  /** Messages that may be sent at once, as of `tokensAt`; null before the first. */
  readonly tokens: number | null;
  readonly tokensAt: Date | null;
}

/**
 * Takes endpoints with messages that are due and whose workflow neither sends nor waits until a later time. They are taken again after
 * the lease unless their workflow has begun by then, so nothing is lost with the process that took them. Rows are not claimed one by one: a
 * row of due work for each endpoint would make the requests of an organization, which add messages, wait for each other.
 */
export async function claimDueEndpoints(work: Work, { limit }: ClaimRequest, leaseMs: number): Promise<Claim> {
  const now = work.clock.now();
  const rows = await work.rowsAsSystem<DueItem>(
    `with recursive waiting as (
       (select endpoint_id from webhook_messages where state = 'due' order by endpoint_id limit 1)
       union all
       select (select m.endpoint_id from webhook_messages m where m.state = 'due' and m.endpoint_id > w.endpoint_id
         order by m.endpoint_id limit 1)
       from waiting w where w.endpoint_id is not null
     ),
     wanted as materialized (
       select first.endpoint_id, first.organization_id
       from waiting w
         cross join lateral (select m.endpoint_id, m.organization_id from webhook_messages m
           where m.endpoint_id = w.endpoint_id and m.state = 'due' and m.due_at <= $1 order by m.due_at, m.event_id limit 1) as first
         left join webhook_queues q on q.endpoint_id = w.endpoint_id
       where q.next_at is null or q.next_at <= $1
       limit $3
     ),
     -- Queues that a step has locked are being worked on; the endpoints of others do not wait for them.
     free as materialized (
       select q.endpoint_id from webhook_queues q join wanted using (endpoint_id) for update of q skip locked
     ),
     taken as (
       insert into webhook_queues as held (endpoint_id, next_at) select w.endpoint_id, $2 from wanted w
       where w.endpoint_id in (select endpoint_id from free)
         or not exists (select 1 from webhook_queues q where q.endpoint_id = w.endpoint_id)
       order by w.endpoint_id
       on conflict (endpoint_id) do update set next_at = excluded.next_at where held.next_at <= $1
       returning endpoint_id
     )
     select endpoint_id as key, organization_id as owner from taken join wanted using (endpoint_id)`,
    [now, new Date(now.getTime() + leaseMs), limit],
  );
  return { items: rows, next: '', hasMore: rows.length === limit };
}

/** Locks the queue of an endpoint until the end of the transaction. */
export async function lockQueue(work: Work, endpointId: string): Promise<QueueState> {
  await work.runAsSystem('insert into webhook_queues (endpoint_id) values ($1) on conflict do nothing', [endpointId]);
  const rows = await work.rowsAsSystem<QueueState>(
    `select failures, failing_since as "failingSince", told_at as "toldAt", blocked_until as "blockedUntil", tokens,
       tokens_at as "tokensAt" from webhook_queues where endpoint_id = $1 for update`,
    [endpointId],
  );
  return rows[0] as QueueState;
}

/**
 * @param nextAt when the workflow has to be woken at the earliest, if messages are due by then
 * @param sendingUntil end of the time for which the current round is valid; null when it ends
 */
export async function saveQueue(
  work: Work,
  endpointId: string,
  state: QueueState,
  { nextAt, sendingUntil }: { readonly nextAt: Date; readonly sendingUntil: Date | null },
): Promise<void> {
  const { failures, failingSince, toldAt, blockedUntil, tokens, tokensAt } = state;
  await work.runAsSystem(
    `update webhook_queues set failures = $2, failing_since = $3, told_at = $4, blocked_until = $5, tokens = $6, tokens_at = $7,
       next_at = $8, sending_until = $9 where endpoint_id = $1`,
    [endpointId, failures, failingSince, toldAt, blockedUntil, tokens, tokensAt, nextAt, sendingUntil],
  );
}

interface MessageClaim {
  readonly endpointId: string;
  /** Only the first due message of each record. */
  readonly isOrdered: boolean;
  /** Ids of the attempts; at most as many messages are taken. */
  readonly claimIds: readonly string[];
  /** After this time without a result, the attempt is treated as lost and the message is due again. */
  readonly leaseMs: number;
}

/** Messages that one claim reads at most, however many are due. */
const maxCandidates = 1_000;

/** Takes messages that are due and that the endpoint may receive now, the oldest first. Others that are due end as `withheld`. */
export async function claimMessages(work: Work, claim: MessageClaim): Promise<ClaimedMessage[]> {
  if (claim.claimIds.length === 0) return [];
  for (;;) {
    const claimed = await claimDue(work, claim);
    const receivable = claimed.filter(({ isReceivable }) => isReceivable);
    if (receivable.length === claimed.length) return receivable;
    await withholdMessages(work, claim.endpointId, claim.claimIds);
    // Otherwise the round would end here, although others are due.
    if (receivable.length > 0) return receivable;
  }
}

async function claimDue(
  work: Work,
  { endpointId, isOrdered, claimIds, leaseMs }: MessageClaim,
): Promise<(ClaimedMessage & { readonly isReceivable: boolean })[]> {
  const now = work.clock.now();
  const rows = await work.rowsAsSystem<ClaimedMessage & { isReceivable: boolean }>(
    `with chosen as (
       select m.event_id, row_number() over (order by m.due_at, m.event_id) as place
       from (${isOrdered ? firstOfRecords : dueMessages}) as m where m.due_at <= $2 order by m.due_at, m.event_id limit $4
     )
     update webhook_messages held set due_at = $3, claim_id = ($5::text[])[chosen.place], updated_at = $2
     from chosen, webhook_endpoints w
     where w.id = $1 and held.endpoint_id = $1 and held.event_id = chosen.event_id and held.state = 'due'
     returning held.claim_id as "claimId", held.event_id as "eventId", held.topic, held.entity_kind as "entityKind",
       held.entity_id as "entityId", held.record_version as "recordVersion", held.request_id as "requestId", held.actor,
       held.occurred_at as "occurredAt", held.payload, held.attempts, ${isReceivable} as "isReceivable"`,
    [endpointId, now, new Date(now.getTime() + leaseMs), claimIds.length, claimIds],
  );
  return rows.toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
}

const dueMessages = `select event_id, due_at, entity_id from webhook_messages where endpoint_id = $1 and state = 'due' and due_at <= $2`;

/** The oldest due messages of an endpoint. */
const candidates = `${dueMessages} order by due_at, event_id limit ${maxCandidates}`;

/**
 * The first message of each of their records, also one that is being sent or waits. It is looked up in the index of records: a comparison of
 * messages with each other would take quadratic time.
 */
const firstOfRecords = `select first.event_id, first.due_at
  from (select distinct entity_id from (${candidates}) as oldest) as record
    cross join lateral (select e.event_id, e.due_at from webhook_messages e
      where e.endpoint_id = $1 and e.entity_id = record.entity_id and e.state = 'due'
      order by e.record_version, e.event_id limit 1) as first`;

/** Keeps how attempts ended. A message that another attempt has taken since, or that was settled meanwhile, stays as it is. */
export async function settleAttempts(
  work: Work,
  endpointId: string,
  settled: readonly SettledAttempt[],
): Promise<void> {
  if (settled.length === 0) return;
  await work.runAsSystem(
    `insert into webhook_attempts (id, endpoint_id, event_id, topic, number, attempted_at, duration_ms, status, problem, response)
     select a.id, $1, a.event_id, a.topic, a.number, a.attempted_at, a.duration_ms, a.status, a.problem, a.response
     from unnest($2::text[], $3::text[], $4::text[], $5::int[], $6::timestamptz[], $7::int[], $8::int[], $9::text[], $10::text[])
       as a (id, event_id, topic, number, attempted_at, duration_ms, status, problem, response)
     on conflict do nothing`,
    [
      endpointId,
      settled.map(({ message }) => message.claimId),
      settled.map(({ message }) => message.eventId),
      settled.map(({ message }) => message.topic),
      settled.map(({ message }) => message.attempts + 1),
      settled.map(({ attemptedAt }) => attemptedAt),
      settled.map(({ durationMs }) => Math.round(durationMs)),
      ...columnsOf(settled, 'status', 'problem', 'response'),
    ],
  );
  await work.runAsSystem(
    `update webhook_messages held set state = s.state, due_at = s.due_at, claim_id = null, updated_at = $6,
       attempts = held.attempts + case s.state when 'delivered' then 0 else 1 end
     from unnest($2::text[], $3::text[], $4::text[], $5::timestamptz[]) as s (event_id, claim_id, state, due_at)
     where held.endpoint_id = $1 and held.event_id = s.event_id and held.claim_id = s.claim_id and held.state = 'due'`,
    [
      endpointId,
      settled.map(({ message }) => message.eventId),
      settled.map(({ message }) => message.claimId),
      ...columnsOf(settled, 'state', 'dueAt'),
      work.clock.now(),
    ],
  );
}

/**
 * When the next message of an endpoint is due; null when none is. Messages behind another one of their record are due with it from
 * then on, so they do not keep others from being found. To be called while nothing is being sent.
 */
export async function nextDue(work: Work, endpointId: string, isOrdered: boolean): Promise<Date | null> {
  if (isOrdered)
    await work.runAsSystem(
      `update webhook_messages held set due_at = first.due_at
       from (select m.event_id, (select earlier.due_at from webhook_messages earlier
           where earlier.endpoint_id = $1 and earlier.entity_id = m.entity_id and earlier.state = 'due'
           order by earlier.record_version, earlier.event_id limit 1) as due_at
         from (${candidates}) as m) as first
       where held.endpoint_id = $1 and held.event_id = first.event_id and held.state = 'due' and first.due_at > held.due_at`,
      [endpointId, work.clock.now()],
    );
  const rows = await work.rowsAsSystem<{ at: Date | null }>(
    `select min(due_at) as at from webhook_messages where endpoint_id = $1 and state = 'due'`,
    [endpointId],
  );
  return rows[0]?.at ?? null;
}

/** Keeps what is due to an endpoint for replay, because it is disabled. */
export async function keepMessages(work: Work, endpointId: string): Promise<void> {
  await work.runAsSystem(
    `update webhook_messages set state = 'kept', due_at = null, claim_id = null, updated_at = $2
     where endpoint_id = $1 and state = 'due'`,
    [endpointId, work.clock.now()],
  );
}

/** Removes what belongs to an endpoint that no longer exists. */
export async function forgetEndpoint(work: Work, endpointId: string): Promise<void> {
  for (const table of ['webhook_messages', 'webhook_attempts', 'webhook_queues'])
    await work.runAsSystem(`delete from ${table} where endpoint_id = $1`, [endpointId]);
}
