import { newId } from '../base/ids.ts';
import type { Statement } from '../storage/sql.ts';
import type { Work } from '../storage/work.ts';

/** An event as its listeners receive it. Payloads hold ids and small values only. */
export interface EventRow {
  readonly id: string;
  readonly occurredAt: Date;
  /** `<entity>.<past tense>`. */
  readonly topic: string;
  readonly entityKind: string;
  readonly entityId: string;
  readonly recordVersion: number;
  readonly organizationId: string | null;
  readonly actor: string;
  readonly requestId: string;
  readonly traceparent: string | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** A batch of events that are delivered together, with the values by which operators search for it in Temporal. */
export interface BatchHead {
  readonly batchId: string;
  readonly count: number;
  readonly requestIds: readonly string[];
  readonly topics: readonly string[];
  readonly organizationIds: readonly string[];
}

/** Maximum number and total size of distinct values per batch and search attribute; Temporal allows 2 KB for each attribute. */
const maxDistinct = 50;
const maxBytes = 1_800;

/** How many organizations a claim considers besides those of the oldest events, and how many events of each. */
const maxTenants = 50;
const maxPerTenant = 20;

export const eventColumns = `e.id, e.occurred_at as "occurredAt", e.topic, e.entity_kind as "entityKind", e.entity_id as "entityId",
  e.record_version as "recordVersion", e.organization_id as "organizationId", e.actor, e.request_id as "requestId",
  e.traceparent, e.payload`;

const headColumns = `count(*)::int as count, coalesce(array_agg(distinct request_id), '{}') as "requestIds",
  coalesce(array_agg(distinct topic), '{}') as topics,
  coalesce(array_agg(distinct organization_id) filter (where organization_id is not null), '{}') as "organizationIds"`;

export interface ClaimedBatch extends BatchHead {
  /** Whether unclaimed events are left. */
  readonly hasMore: boolean;
  /** The organization after which the next claim continues its round. */
  readonly lastTenant: string;
}

/**
 * Assigns a new batch id to waiting events. Events are taken from the organizations in turn, so that one with many events does not
 * delay the others; events without organization share one place. The oldest events of each organization come first. Concurrent
 * claims take different rows.
 * @param limit maximum number of events
 * @param afterTenant `lastTenant` of the previous claim; `''` to begin with the first organization
 * @returns undefined when no event waits, or another claim is taking those that do
 */
export async function claimBatch(work: Work, limit: number, afterTenant = ''): Promise<ClaimedBatch | undefined> {
  const session = await work.readAs('system');
  const batchId = newId();
  const now = work.clock.now();
  const [, { rows }] = await Promise.all([
    session.query(forceIndexScans),
    session.query<Omit<ClaimedBatch, 'batchId'>>(claim, [batchId, now, limit, afterTenant]),
  ]);
  const head = rows[0];
  return head && head.count > 0 ? { batchId, ...head } : undefined;
}

/**
 * Forces index scans: the size of the table `events` changes faster than its statistics, and a claim from 20,000 rows took 140 ms
 * instead of 6 ms with the plan that they suggested.
 */
export const forceIndexScans = `select ${['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'].map((name) => `set_config('enable_${name}', 'off', true)`).join(', ')}`;

/** A CTE with the distinct values of a column in the order of their first event, ranked to cut them where the search attribute would be too large. */
const rankedValues = (name: string, column: string) => `${name} as (
  select ${column} as value, row_number() over seen as rank, sum(octet_length(${column}) + 3) over seen as bytes
  from numbered where ${column} is not null group by ${column} window seen as (order by min(ordinal))
)`;
const fitsAttribute = (name: string, column: string) =>
  `(p.${column} is null or p.${column} in (select value from ${name} where rank <= ${maxDistinct} and bytes <= ${maxBytes}))`;

const waiting = `pending and batch_id is null`;
const tenant = `coalesce(organization_id, '')`;

/**
 * Finds organizations with a loose index scan, so that the backlog of one does not hide the others. Rows are chosen first and
 * locked afterwards, because a row lock writes to its row.
 */
const claim = `
with recursive tenants as (
  (select ${tenant} as tenant from events where ${waiting} and ${tenant} >= $4 order by 1 limit 1)
  union all
  select (select ${tenant} from events where ${waiting} and ${tenant} > t.tenant order by 1 limit 1)
  from tenants t where t.tenant is not null
),
some_tenants as materialized (select tenant from tenants where tenant is not null limit ${maxTenants}),
candidates as (
  select occurred_at, id from (select occurred_at, id from events where ${waiting} order by occurred_at, id limit $3 + 1) as oldest
  union
  select own.occurred_at, own.id from some_tenants t cross join lateral (
    select occurred_at, id from events where ${waiting} and ${tenant} = t.tenant order by occurred_at, id limit ${maxPerTenant}) as own
),
turned as (
  select e.occurred_at, e.id, e.organization_id, e.request_id, e.topic,
    row_number() over (partition by ${tenant} order by e.occurred_at, e.id) as turn
  from candidates join events e using (occurred_at, id)
),
numbered as materialized (select *, row_number() over (order by turn, occurred_at, id) as ordinal from turned),
${rankedValues('requests', 'request_id')},
${rankedValues('topics', 'topic')},
${rankedValues('organizations', 'organization_id')},
chosen as (
  select p.occurred_at, p.id from numbered p where p.ordinal <= $3
    and ${fitsAttribute('requests', 'request_id')} and ${fitsAttribute('topics', 'topic')} and ${fitsAttribute('organizations', 'organization_id')}
),
locked as (
  select e.occurred_at, e.id from events e join chosen using (occurred_at, id)
  where e.pending and e.batch_id is null for update of e skip locked
),
claimed as (
  update events e set batch_id = $1, claimed_at = $2 from locked l where e.occurred_at = l.occurred_at and e.id = l.id
  returning e.request_id, e.topic, e.organization_id
)
select ${headColumns}, count(*) < (select count(*) from numbered) as "hasMore",
  (select case when count(*) < ${maxTenants} then '' else max(tenant) end from some_tenants) as "lastTenant" from claimed`;

/** Batches claimed before the given instant whose delivery has not ended, for example after a crash. */
export function unfinishedBatches(work: Work, claimedBefore: Date, limit: number): Promise<BatchHead[]> {
  return work.rowsAsSystem<BatchHead>(
    `select batch_id as "batchId", ${headColumns} from events
     where pending and batch_id is not null and settled_at is null and claimed_at < $1
     group by batch_id order by batch_id limit $2`,
    [claimedBefore, limit],
  );
}

interface BatchEvent extends EventRow {
  readonly isSettled: boolean;
}

/** The events of a batch, settled ones as well. */
export function readBatch(work: Work, batchId: string): Promise<BatchEvent[]> {
  return work.rowsAsSystem<BatchEvent>(
    `select ${eventColumns}, e.settled_at is not null as "isSettled" from events e where e.batch_id = $1 and e.pending
     order by e.entity_id, e.record_version, e.id`,
    [batchId],
  );
}

/** Marks the events of a batch as settled: all of them have their delivery rows. */
export async function settleBatch(work: Work, batchId: string): Promise<void> {
  await work.runAsSystem('update events set settled_at = $2 where batch_id = $1 and settled_at is null', [
    batchId,
    work.clock.now(),
  ]);
}

/** Creates the partitions of the next days and drops those past their retention. */
export async function maintainPartitions(
  work: Work,
  ...request: Parameters<typeof partitionMaintenance>
): Promise<void> {
  const { text, values } = partitionMaintenance(...request);
  await work.runAsSystem(text, values);
}

interface Retention {
  readonly eventsMs: number;
  readonly historyMs: number;
}

/** The statement that does so. @param at the present time @param keep retention, in milliseconds */
export function partitionMaintenance(at: Date, keep: Retention): Statement {
  const text = `select maintain_partitions($1, $2 * interval '1 millisecond', $3 * interval '1 millisecond')`;
  return { text, values: [at, keep.eventsMs, keep.historyMs] };
}
