import type { Work } from '../storage/work.ts';
import { lockRecords } from './deliveries.ts';

/** Events in a row, each of another record, on which a listener fails before it is held as a whole. */
const maxFailures = 20;

/** A listener that fails on everything: its events wait until one of them can be delivered. */
export interface HeldListener {
  readonly listener: string;
  readonly heldAt: Date;
  /** What the last attempt failed with. */
  readonly error: string | null;
  readonly probes: number;
  readonly probedAt: Date | null;
}

export interface WaitingListener extends HeldListener {
  /** Deliveries that wait. */
  readonly waiting: number;
}

const heldColumns = `l.listener, l.held_at as "heldAt", l.error, l.probes, l.probed_at as "probedAt"`;

/** Names of the listeners that have failed on their last events, and whether they are held. */
export async function failingListeners(work: Work): Promise<ReadonlyMap<string, { readonly isHeld: boolean }>> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ listener: string; isHeld: boolean }>(
    `select listener, held_at is not null as "isHeld" from listener_states`,
  );
  return new Map(rows.map(({ listener, isHeld }) => [listener, { isHeld }]));
}

export async function heldListeners(work: Work): Promise<HeldListener[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<HeldListener>(
    `select ${heldColumns} from listener_states l where l.held_at is not null order by l.listener`,
  );
  return rows;
}

/** The same with the number of deliveries that wait. */
export async function waitingListeners(work: Work): Promise<WaitingListener[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<WaitingListener>(
    `select ${heldColumns}, (select count(*)::int from event_deliveries d where d.listener = l.listener and d.state = 'held') as waiting
     from listener_states l where l.held_at is not null order by l.listener`,
  );
  return rows;
}

/** Whether the listener is held, which then cannot end before this transaction. To be called after its records were locked. */
export async function isListenerHeld(work: Work, listener: string): Promise<boolean> {
  const session = await work.readAs('system');
  const { rows } = await session.query(
    'select 1 from listener_states where listener = $1 and held_at is not null for share',
    [listener],
  );
  return rows.length > 0;
}

/** Counts an event that a listener keeps failing on. @returns whether it is held from now on */
export async function noteListenerFailure(work: Work, listener: string, error: string): Promise<boolean> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ isHeld: boolean }>(
    `insert into listener_states as known (listener, failures, error) values ($1, 1, $2)
     on conflict (listener) do update set failures = known.failures + 1, error = excluded.error,
       held_at = case when known.held_at is null and known.failures + 1 >= ${maxFailures} then $3 else known.held_at end
     returning held_at is not null as "isHeld"`,
    [listener, error, work.clock.now()],
  );
  return rows[0]?.isHeld ?? false;
}

/** A listener that has handled an event does not fail on everything. */
export async function noteListenerSuccess(work: Work, listener: string): Promise<void> {
  const session = await work.readAs('system');
  await session.query('delete from listener_states where listener = $1 and held_at is null', [listener]);
}

export async function noteProbe(work: Work, listener: string, error: string | null): Promise<void> {
  const session = await work.readAs('system');
  await session.query(
    `update listener_states set probes = probes + 1, probed_at = $2, error = coalesce($3, error)
     where listener = $1 and held_at is not null`,
    [listener, work.clock.now(), error],
  );
}

const isFree = `d.listener = $1 and d.state = 'held' and not exists (select 1 from event_deliveries f
  where f.listener = d.listener and f.entity_id = d.entity_id and f.state = 'failing')`;

/** Records whose events wait, each of another organization: what fails for one may work for others. */
export async function recordsToProbe(work: Work, listener: string, limit: number): Promise<string[]> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ entityId: string }>(
    `select "entityId" from (select distinct on (e.organization_id) d.entity_id as "entityId" from event_deliveries d
         join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
       where ${isFree} order by e.organization_id, random()) as sample order by random() limit $2`,
    [listener, limit],
  );
  return rows.map(({ entityId }) => entityId);
}

/** Lets go of a listener. What waits for it is given back with `giveBackHeld`. */
export async function releaseListener(work: Work, listener: string): Promise<void> {
  const session = await work.readAs('system');
  await session.query('delete from listener_states where listener = $1', [listener]);
}

/**
 * Gives the waiting events of some records back to the relay, which delivers them in batches as if they were new. Those that wait behind
 * a failing one of their record follow when that ends.
 * @returns how many events; 0 when none is left
 */
export async function giveBackHeld(work: Work, listener: string, maxRecords: number): Promise<number> {
  const session = await work.readAs('system');
  const { rows } = await session.query<{ entityId: string }>(
    `select distinct d.entity_id as "entityId" from event_deliveries d where ${isFree} limit $2`,
    [listener, maxRecords],
  );
  if (rows.length === 0) return 0;
  const entityIds = rows.map(({ entityId }) => entityId);
  // Whole records, so that none of their events is delivered before an earlier one.
  await lockRecords(work, listener, entityIds);
  const { rows: given } = await session.query<{ count: number }>(
    `with free as (delete from event_deliveries d where ${isFree} and d.entity_id = any($2) returning d.occurred_at, d.event_id),
       given as (update events e set batch_id = null, claimed_at = null, settled_at = null from free
         where e.occurred_at = free.occurred_at and e.id = free.event_id returning 1)
     select count(*)::int as count from given`,
    [listener, entityIds],
  );
  return given[0]?.count ?? 0;
}
