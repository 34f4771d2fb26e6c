import type { Work } from '../storage/work.ts';
import { lockRecords } from './deliveries.ts';

/** Events in a row, each of another record, on which a listener fails before it is held as a whole. */
const maxFailures = 20;

/** Organizations that the failures have to be of. Fewer are enough when no other one has events for the listener. */
const maxOrganizations = 5;

/** How long ago the last event of an organization is, at most, if the listener is not to be held because of others, in milliseconds. */
const recentMs = 86_400_000;

/** A listener that fails on everything: its events wait until one of them can be delivered. */
interface HeldListener {
  readonly listener: string;
  readonly heldAt: Date;
  /** Error of the last attempt. */
  readonly error: string | null;
  readonly probes: number;
  readonly probedAt: Date | null;
}

export interface WaitingListener extends HeldListener {
  readonly waiting: number;
}

const heldColumns = `l.listener, l.held_at as "heldAt", l.error, l.probes, l.probed_at as "probedAt"`;

/** Names of the listeners that have failed on their last events, and whether they are held. */
export async function failingListeners(work: Work): Promise<ReadonlyMap<string, { readonly isHeld: boolean }>> {
  const rows = await work.rowsAsSystem<{ listener: string; isHeld: boolean }>(
    `select listener, held_at is not null as "isHeld" from listener_states`,
  );
  return new Map(rows.map(({ listener, isHeld }) => [listener, { isHeld }]));
}

export function heldListeners(work: Work): Promise<HeldListener[]> {
  return work.rowsAsSystem<HeldListener>(
    `select ${heldColumns} from listener_states l where l.held_at is not null order by l.listener`,
  );
}

/** The same with the number of deliveries that wait. */
export function waitingListeners(work: Work): Promise<WaitingListener[]> {
  return work.rowsAsSystem<WaitingListener>(
    `select ${heldColumns}, (select count(*)::int from event_deliveries d where d.listener = l.listener and d.state = 'held') as waiting
     from listener_states l where l.held_at is not null order by l.listener`,
  );
}

/** Whether the listener is held, which then cannot end before this transaction. To be called after its records were locked. */
export async function isListenerHeld(work: Work, listener: string): Promise<boolean> {
  const rows = await work.rowsAsSystem(
    'select 1 from listener_states where listener = $1 and held_at is not null for share',
    [listener],
  );
  return rows.length > 0;
}

export interface ListenerFailure {
  readonly listener: string;
  readonly topics: readonly string[];
  /** Null for an event without organization; those have one share together. */
  readonly organizationId: string | null;
  readonly error: string;
}

/**
 * Counts a failure, and holds the listener when it seems to fail on everything: on many events in a row, of several organizations, or of all
 * that have events for it. So what one organization causes holds nobody else.
 * @returns whether it is held from now on
 */
export async function noteListenerFailure(work: Work, failure: ListenerFailure): Promise<boolean> {
  const { listener, topics, organizationId, error } = failure;
  const rows = await work.rowsAsSystem<{ isHeld: boolean; failures: number; organizations: string[] }>(
    `insert into listener_states as known (listener, failures, error, organizations) values ($1, 1, $2, array[$3::text])
     on conflict (listener) do update set failures = known.failures + 1, error = excluded.error,
       organizations = case
         when $3 = any(known.organizations) or cardinality(known.organizations) >= ${maxOrganizations} then known.organizations
         else known.organizations || $3::text end
     returning held_at is not null as "isHeld", failures, organizations`,
    [listener, error, organizationId ?? ''],
  );
  const { isHeld = false, failures = 0, organizations = [] } = rows[0] ?? {};
  if (isHeld || failures < maxFailures) return isHeld;
  if (organizations.length < maxOrganizations) {
    // The events of a day are read for it, so not at each failure.
    if (failures % maxFailures !== 0) return false;
    if (await hasOthers(work, topics, organizations)) return false;
  }
  await work.runAsSystem('update listener_states set held_at = $2 where listener = $1', [listener, work.clock.now()]);
  return true;
}

/** Whether organizations that are not among these have had events of these topics. */
async function hasOthers(work: Work, topics: readonly string[], organizations: readonly string[]): Promise<boolean> {
  const rows = await work.rowsAsSystem<{ hasOthers: boolean }>(
    `select exists (select 1 from events where occurred_at >= $1 and topic = any($2)
       and coalesce(organization_id, '') <> all($3)) as "hasOthers"`,
    [new Date(work.clock.now().getTime() - recentMs), topics, organizations],
  );
  return rows[0]?.hasOthers ?? false;
}

/** A listener that has handled an event does not fail on everything. */
export async function noteListenerSuccess(work: Work, listener: string): Promise<void> {
  await work.runAsSystem('delete from listener_states where listener = $1 and held_at is null', [listener]);
}

export async function noteProbe(work: Work, listener: string, error: string | null): Promise<void> {
  await work.runAsSystem(
    `update listener_states set probes = probes + 1, probed_at = $2, error = coalesce($3, error)
     where listener = $1 and held_at is not null`,
    [listener, work.clock.now(), error],
  );
}

const isFree = `d.listener = $1 and d.state = 'held' and not exists (select 1 from event_deliveries f
  where f.listener = d.listener and f.entity_id = d.entity_id and f.state = 'failing')`;

/** Records whose events wait, each of another organization: what fails for one may work for others. */
export async function recordsToProbe(work: Work, listener: string, limit: number): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ entityId: string }>(
    `select "entityId" from (select distinct on (e.organization_id) d.entity_id as "entityId" from event_deliveries d
         join events e on e.occurred_at = d.occurred_at and e.id = d.event_id
       where ${isFree} order by e.organization_id, random()) as sample order by random() limit $2`,
    [listener, limit],
  );
  return rows.map(({ entityId }) => entityId);
}

/** Lets go of a listener. Deliveries that wait for it are given back with `giveBackHeld`. */
export async function releaseListener(work: Work, listener: string): Promise<void> {
  await work.runAsSystem('delete from listener_states where listener = $1', [listener]);
}

/**
 * Gives the waiting events of some records back to the relay, which delivers them in batches as if they were new. Deliveries that wait
 * behind a failing one of their record follow when that ends. Deliveries whose events have been deleted because of their age no longer
 * wait.
 * @returns how many deliveries; 0 when none is left, or the listener is held again
 */
export async function giveBackHeld(work: Work, listener: string, maxRecords: number): Promise<number> {
  // Deliveries that are given back to a listener that is held would come back at once, without end.
  if (await isListenerHeld(work, listener)) return 0;
  const rows = await work.rowsAsSystem<{ entityId: string }>(
    `select distinct d.entity_id as "entityId" from event_deliveries d where ${isFree} limit $2`,
    [listener, maxRecords],
  );
  if (rows.length === 0) return 0;
  const entityIds = rows.map(({ entityId }) => entityId);
  // Whole records, so that none of their events is delivered before an earlier one.
  await lockRecords(work, listener, entityIds);
  const given = await work.rowsAsSystem<{ count: number }>(
    `with free as (delete from event_deliveries d where ${isFree} and d.entity_id = any($2) returning d.occurred_at, d.event_id),
       given as (update events e set batch_id = null, claimed_at = null, settled_at = null from free
         where e.occurred_at = free.occurred_at and e.id = free.event_id)
     select count(*)::int as count from free`,
    [listener, entityIds],
  );
  return given[0]?.count ?? 0;
}
