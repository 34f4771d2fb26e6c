import type { Work } from '../storage/work.ts';
import { countFailingWork } from './failing-work-list.ts';
import type { WorkKind } from './failing-work.ts';
import { forceIndexScans } from './outbox.ts';

/** Work that is recorded and not done. Counts end at `countLimit`: reading them must not become work of its own. */
export interface Backlog {
  /** Events that no batch has yet. */
  readonly waitingEvents: number;
  /** Events of batches that are not delivered yet. */
  readonly claimedEvents: number;
  /** When the oldest of these events happened; null without any. */
  readonly oldestEventAt: Date | null;
  /** Deliveries that are failing or held, by listener. */
  readonly deliveries: readonly {
    readonly listener: string;
    readonly status: 'failing' | 'held';
    readonly count: number;
  }[];
  /** Listeners that are held as a whole. */
  readonly heldListeners: readonly string[];
  /** Permission tuples that the authorization store does not have yet. */
  readonly tuples: number;
  /** Messages to endpoints of customers whose time has come. */
  readonly messages: number;
  /** Messages that were withheld from endpoints in the last 24 hours. */
  readonly withheldMessages: number;
  /** Work that fails or waits, by kind. */
  readonly failing: readonly { readonly kind: WorkKind; readonly count: number }[];
}

export const countLimit = 10_000;

/** Time for which withheld messages are counted, in milliseconds. */
const withheldMs = 86_400_000;

const upTo = (rows: string) => `select count(*)::int as count from (${rows} limit ${countLimit}) as counted`;

/** Reads it with statements that are sent together. */
export async function readBacklog(work: Work): Promise<Backlog> {
  const session = await work.readAs('system');
  const [, events, deliveries, listeners, tuples, messages, withheld, failing] = await Promise.all([
    session.query(forceIndexScans),
    session.query<{ state: 'waiting' | 'claimed'; count: number; oldest: Date }>(
      `select state, count(*)::int as count, min(occurred_at) as oldest from (
         (select 'waiting' as state, occurred_at from events where pending and batch_id is null
          order by occurred_at, id limit ${countLimit})
         union all
         (select 'claimed', occurred_at from events where pending and batch_id is not null and settled_at is null
          limit ${countLimit})) as open group by state`,
    ),
    session.query<Backlog['deliveries'][number]>(
      `select listener, state as status, count(*)::int as count from (
         select listener, state from event_deliveries where state in ('failing', 'held') limit ${countLimit}) as open
       group by listener, state order by listener, state`,
    ),
    session.query<{ listener: string }>(
      'select listener from listener_states where held_at is not null order by listener',
    ),
    session.query<{ count: number }>(upTo('select 1 from desired_tuples where applied_version < version')),
    session.query<{ count: number }>(upTo(`select 1 from webhook_messages where state = 'due' and due_at <= $1`), [
      work.clock.now(),
    ]),
    session.query<{ count: number }>(
      upTo(`select 1 from webhook_messages where state = 'withheld' and updated_at > $1`),
      [new Date(work.clock.now().getTime() - withheldMs)],
    ),
    countFailingWork(work),
  ]);
  const inState = (state: string) => events.rows.find((row) => row.state === state);
  const oldest = events.rows.map((row) => row.oldest.getTime());
  return {
    waitingEvents: inState('waiting')?.count ?? 0,
    claimedEvents: inState('claimed')?.count ?? 0,
    oldestEventAt: oldest.length === 0 ? null : new Date(Math.min(...oldest)),
    deliveries: deliveries.rows,
    heldListeners: listeners.rows.map(({ listener }) => listener),
    tuples: tuples.rows[0]?.count ?? 0,
    messages: messages.rows[0]?.count ?? 0,
    withheldMessages: withheld.rows[0]?.count ?? 0,
    failing,
  };
}
