import { columnsOf } from '../kit/base/columns-of.ts';
import type { Work } from '../kit/storage/work.ts';
import type { Sending, SendingAddress } from './notification-sending-rows.ts';

/**
 * How far a digest is. `claimed`: its message is to be sent; `sent`: a message has it; `empty`: nothing of it is sent;
 * `failed`: this release cannot send it.
 */
type DigestState = 'claimed' | 'sent' | 'empty' | 'failed';

/** Content of one message about several notifications. */
export interface Digest extends SendingAddress {
  readonly id: string;
  /** Interval of the digests: daily, weekly or monthly; `held` for several that are due at once. */
  readonly cadence: string;
  /** Which day, week or month: the day on which it is sent, in the person's time zone. */
  readonly period: string;
  readonly state: DigestState;
  /** Greater by 1 each time its message had to be made anew. */
  readonly round: number;
}

/** A digest to be made, and what it has. */
export interface NewDigest extends Omit<Digest, 'state' | 'round'> {
  readonly sendings: readonly Pick<Sending, 'notificationId' | 'channel'>[];
}

const columns = `id, organization_id as "organizationId", user_id as "userId", channel, cadence, period, state, round`;

/**
 * Makes digests, and gives them the sendings, which the transaction has locked. A person has one digest of each period: what comes after it
 * is left as it is.
 * @returns the digests that were made; their messages are due (`digests-due.ts`)
 */
export async function addDigests(work: Work, digests: readonly NewDigest[]): Promise<Digest[]> {
  if (digests.length === 0) return [];
  const now = work.clock.now();
  const rows = await work.rowsAsSystem<Digest>(
    `insert into notification_digests as held (id, organization_id, user_id, channel, cadence, period, state, round, due_at, updated_at)
     select d.*, 'claimed', 1, $7, $7
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) as d
     on conflict (organization_id, user_id, channel, cadence, period) do update
       set state = 'claimed', round = held.round + 1, due_at = excluded.due_at, updated_at = excluded.updated_at
       where held.state = 'empty'
     returning ${columns}`,
    [...columnsOf(digests, 'id', 'organizationId', 'userId', 'channel', 'cadence', 'period'), now],
  );
  const made = new Map(rows.map((row) => [keyOf(row), row.id]));
  const collected = digests.flatMap((digest) => {
    const digestId = made.get(keyOf(digest));
    return digestId === undefined ? [] : digest.sendings.map((sending) => ({ ...sending, digestId }));
  });
  await work.runAsSystem(
    `update notification_sendings held set state = 'collected', due_at = null, digest_id = c.digest_id, updated_at = $4
     from unnest($1::text[], $2::text[], $3::text[]) as c (notification_id, channel, digest_id)
     where held.notification_id = c.notification_id and held.channel = c.channel`,
    [...columnsOf(collected, 'notificationId', 'channel', 'digestId'), now],
  );
  return rows;
}

/** Identifies the digest of a period. */
export function keyOf({
  organizationId,
  userId,
  channel,
  cadence,
  period,
}: Omit<Digest, 'id' | 'state' | 'round'>): string {
  return [organizationId, userId, channel, cadence, period].join('/');
}

/** A digest, locked until the end of the transaction. */
export async function lockDigest(work: Work, id: string): Promise<Digest | undefined> {
  const [found] = await work.rowsAsSystem<Digest>(
    `select ${columns} from notification_digests where id = $1 for update`,
    [id],
  );
  return found;
}

/** Changes a digest that the transaction has locked. @param to `again`: its message is made anew */
export async function changeDigest(work: Work, id: string, to: 'sent' | 'empty' | 'again'): Promise<void> {
  await work.runAsSystem(
    `update notification_digests set state = case $2 when 'again' then 'claimed' else $2 end,
       round = round + case $2 when 'again' then 1 else 0 end,
       due_at = case $2 when 'again' then $3::timestamptz end, updated_at = $3
     where id = $1`,
    [id, to, work.clock.now()],
  );
}

/** Sets digests aside that are on other channels than these. */
export async function failUnknownDigests(work: Work, channels: readonly string[], error: string): Promise<void> {
  await work.runAsSystem(
    `update notification_digests set state = 'failed', due_at = null, error = $2, updated_at = $3
     where state = 'claimed' and channel <> all($1)`,
    [channels, error, work.clock.now()],
  );
}
