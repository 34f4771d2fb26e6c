import { columnsOf } from '../kit/base/columns-of.ts';
import type { Work } from '../kit/storage/work.ts';

/** Time for which rows of ended sendings are kept, in milliseconds. */
const retentionMs = 60 * 86_400_000;

/**
 * Time after which waiting notifications are dropped, for example because their recipient has paused notifications until a day far ahead,
 * in milliseconds.
 */
const maxWaitMs = 366 * 86_400_000;

/** A message is sent this long after its first notification, with all that came until then, in milliseconds. */
export const gatheredMs = 60_000;

/** The oldest notification of a message waits this long at most for others that the same request still causes, in milliseconds. */
const maxGatheredMs = 15 * 60_000;

const pruned = 10_000;

/** Rows that one claim takes at most; the rest of them are taken by the next one. */
const maxClaimed = 20_000;

/**
 * How far the sending of a notification on a channel is. `due`: nobody has planned it; `planned`: a message of its own is due
 * (`sendings-due.ts`); `sent`: a message of its own has it; `collected`: a
 * digest has it; `dropped`: its recipient gets no notification on this channel; `failed`: this release cannot send it.
 */
type SendingState = 'due' | 'planned' | 'sent' | 'collected' | 'dropped' | 'failed';

export interface SendingAddress {
  readonly organizationId: string;
  readonly userId: string;
  readonly channel: string;
}

export interface Sending extends SendingAddress {
  readonly notificationId: string;
  readonly topic: string;
  readonly state: SendingState;
  /** Greater by 1 each time a message of its own could not be sent yet: the next one has another key. */
  readonly round: number;
  /** Whether the channel is one of those that the kind of notification uses without a preference. */
  readonly isDefault: boolean;
  readonly isUrgent: boolean;
  /** Time of the notification in the app. */
  readonly toldAt: Date;
}

export type NewSending = Omit<Sending, 'state' | 'round' | 'toldAt'> & {
  readonly dueAt: Date;
  /** The request that has caused it. */
  readonly requestId: string;
};

const columns = `notification_id as "notificationId", channel, organization_id as "organizationId", user_id as "userId", topic, state,
  round, is_default as "isDefault", is_urgent as "isUrgent", told_at as "toldAt"`;

/** Adds sendings; those that are there already stay as they are. */
export async function addSendings(work: Work, sendings: readonly NewSending[]): Promise<void> {
  if (sendings.length === 0) return;
  await work.runAsSystem(
    `insert into notification_sendings (notification_id, channel, organization_id, user_id, topic, is_default, is_urgent, due_at, request_id,
       state, round, told_at, updated_at)
     select s.*, 'due', 1, $10, $10
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::boolean[], $8::timestamptz[], $9::text[]) as s
     on conflict do nothing`,
    [
      ...columnsOf(sendings, 'notificationId', 'channel', 'organizationId', 'userId', 'topic'),
      ...columnsOf(sendings, 'isDefault', 'isUrgent', 'dueAt', 'requestId'),
      work.clock.now(),
    ],
  );
}

/** A sending, locked until the end of the transaction. */
export async function lockSending(work: Work, notificationId: string, channel: string): Promise<Sending | undefined> {
  const [found] = await work.rowsAsSystem<Sending>(
    `select ${columns} from notification_sendings where notification_id = $1 and channel = $2 for update`,
    [notificationId, channel],
  );
  return found;
}

/**
 * Takes what is due to some people, and what has come to them since: all of it for each of them, in one transaction, from those on who have
 * waited longest. People whom another transaction has taken are left out, so that nobody's digest is made twice at a time; so are those
 * to whom the same request still sends more, since events of it are not delivered yet, unless their oldest notification has waited too long.
 * @param limit number of people
 * @param topics of events that have notifications
 */
export async function claimDueSendings(work: Work, limit: number, topics: readonly string[]): Promise<Sending[]> {
  const now = work.clock.now();
  const people = await work.rowsAsSystem<SendingAddress>(
    `with young as materialized (
       select distinct organization_id, user_id, channel, request_id from notification_sendings where state = 'due' and told_at > $3
     ), requests as materialized (
       select organization_id, request_id from (select distinct organization_id, request_id from young) as r
       where exists (select 1 from events e where e.request_id = r.request_id and e.organization_id = r.organization_id and e.topic = any($4)
         and e.pending and e.settled_at is null)
     ), held as materialized (
       select organization_id, user_id, channel
       from (select distinct organization_id, user_id, channel from young join requests using (organization_id, request_id)) as p
       where not exists (select 1 from notification_sendings s where s.state = 'due' and s.due_at <= $1 and s.told_at <= $3
         and s.organization_id = p.organization_id and s.user_id = p.user_id and s.channel = p.channel)
     ), due as materialized (
       select organization_id, user_id, channel
       from (select organization_id, user_id, channel, due_at from notification_sendings s where state = 'due' and due_at <= $1
         and not exists (select 1 from held h
           where h.organization_id = s.organization_id and h.user_id = s.user_id and h.channel = s.channel)
         order by due_at limit ${maxClaimed}) as oldest
       group by organization_id, user_id, channel order by min(due_at), organization_id, user_id, channel
     )
     select organization_id as "organizationId", user_id as "userId", channel from due
     where pg_try_advisory_xact_lock(hashtextextended(concat_ws('/', 'notification', organization_id, user_id, channel), 0))
     limit $2`,
    [now, limit, new Date(now.getTime() - maxGatheredMs), topics],
  );
  if (people.length === 0) return [];
  // A statement of its own: it sees what those who held the locks before have done.
  const rows = await work.rowsAsSystem<Sending>(
    `select ${columns} from notification_sendings
     where state = 'due' and due_at <= $1 and (organization_id, user_id, channel) in (select * from unnest($2::text[], $3::text[], $4::text[]))
     order by due_at, notification_id, channel limit ${maxClaimed} for update`,
    [new Date(now.getTime() + gatheredMs), ...columnsOf(people, 'organizationId', 'userId', 'channel')],
  );
  return rows;
}

export interface SendingChange {
  readonly sending: Pick<Sending, 'notificationId' | 'channel'>;
  readonly state: Exclude<SendingState, 'collected'>;
  /** When it is planned or sent; only of `due` and `planned`. */
  readonly dueAt?: Date;
  /** Why it cannot be sent; only of `failed`. */
  readonly error?: string;
  /** The message of the present round is not sent, so the next one needs another key. */
  readonly isNextRound?: true;
}

/** Changes sendings that the transaction has locked. A digest that had one of them has it no more. */
export async function changeSendings(work: Work, changes: readonly SendingChange[]): Promise<void> {
  if (changes.length === 0) return;
  await work.runAsSystem(
    `update notification_sendings held set state = c.state, due_at = c.due_at, round = held.round + c.rounds, digest_id = null,
       updated_at = $6, error = c.error
     from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::int[], $7::text[])
       as c (notification_id, channel, state, due_at, rounds, error)
     where held.notification_id = c.notification_id and held.channel = c.channel`,
    [
      changes.map(({ sending }) => sending.notificationId),
      changes.map(({ sending }) => sending.channel),
      changes.map(({ state }) => state),
      changes.map(({ dueAt }) => dueAt ?? null),
      changes.map(({ isNextRound }) => (isNextRound ? 1 : 0)),
      work.clock.now(),
      changes.map(({ error }) => error ?? null),
    ],
  );
}

/** The newest sendings of a digest, locked until the end of the transaction. */
export function lockCollected(work: Work, digestId: string, limit: number): Promise<Sending[]> {
  return work.rowsAsSystem<Sending>(
    `select ${columns} from notification_sendings where digest_id = $1 order by notification_id desc limit $2 for update`,
    [digestId, limit],
  );
}

/** Removes what ended long ago, and what has waited for too long. @returns whether there may be more */
export async function pruneSendings(work: Work, now: Date): Promise<boolean> {
  let hasMore = false;
  for (const [table, isOld, keptMs] of [
    ['notification_sendings', `state <> 'due' and updated_at < $1`, retentionMs],
    ['notification_sendings', `state = 'due' and told_at < $1`, maxWaitMs],
    ['notification_digests', `state <> 'claimed' and updated_at < $1`, retentionMs],
  ] as const) {
    const rows = await work.rowsAsSystem<{ count: number }>(
      `with removed as (delete from ${table} where ctid = any(array(
         select ctid from ${table} where ${isOld} limit ${pruned})) returning 1)
       select count(*)::int as count from removed`,
      [new Date(now.getTime() - keptMs)],
    );
    hasMore ||= rows[0]?.count === pruned;
  }
  return hasMore;
}
