import { newId } from './ids.ts';
import type { UnitOfWork } from './unit-of-work.ts';

/** An event as its listeners see it. Payloads hold ids and small values only. */
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

/** Events that are delivered together; what an operator finds them by. */
export interface BatchHead {
  readonly batchId: string;
  readonly count: number;
  readonly requestIds: readonly string[];
  readonly topics: readonly string[];
  readonly organizationIds: readonly string[];
}

/** Most distinct values per batch and search attribute: Temporal allows 2 KB each. */
const mostDistinct = 50;

export const eventColumns = `e.id, e.occurred_at as "occurredAt", e.topic, e.entity_kind as "entityKind", e.entity_id as "entityId",
  e.record_version as "recordVersion", e.organization_id as "organizationId", e.actor, e.request_id as "requestId",
  e.traceparent, e.payload`;

const headColumns = `count(*)::int as count, coalesce(array_agg(distinct request_id), '{}') as "requestIds",
  coalesce(array_agg(distinct topic), '{}') as topics,
  coalesce(array_agg(distinct organization_id) filter (where organization_id is not null), '{}') as "organizationIds"`;

export interface ClaimedBatch extends BatchHead {
  /** More events wait than the batch took. */
  readonly hasMore: boolean;
}

/**
 * Stamps waiting events with a new batch id, organizations taking turns, so that one that writes a lot does not make the
 * others wait. Claimers beside each other take different rows.
 * @returns undefined when nothing waits
 */
export async function claimBatch(unit: UnitOfWork, most: number): Promise<ClaimedBatch | undefined> {
  const session = await unit.readAs('system');
  const batchId = newId();
  const { rows } = await session.query<Omit<ClaimedBatch, 'batchId'>>(claim, [
    batchId,
    unit.database.options.clock.now(),
    most,
    mostDistinct,
  ]);
  const head = rows[0];
  return head && head.count > 0 ? { batchId, ...head } : undefined;
}

const claim = `
with waiting as materialized (
  select occurred_at, id, organization_id, entity_id, request_id from events
  where pending and batch_id is null order by occurred_at, id limit $3 * 5 for update skip locked
),
turned as (
  select *, row_number() over (partition by coalesce(organization_id, entity_id) order by occurred_at, id) as turn from waiting
),
placed as (select *, row_number() over (order by turn, occurred_at, id) as place from turned),
first_placed as (select *, min(place) over (partition by request_id) as request_place from placed),
ranked as (select *, dense_rank() over (order by request_place) as request_rank from first_placed),
claimed as (
  update events e set batch_id = $1, claimed_at = $2 from ranked r
  where e.occurred_at = r.occurred_at and e.id = r.id and r.place <= $3 and r.request_rank <= $4
  returning e.request_id, e.topic, e.organization_id
)
select ${headColumns}, count(*) < (select count(*) from waiting) as "hasMore" from claimed`;

/** Batches claimed before the given instant whose delivery has not ended: what a crash left behind. */
export async function unfinishedBatches(unit: UnitOfWork, claimedBefore: Date, most: number): Promise<BatchHead[]> {
  const session = await unit.readAs('system');
  const { rows } = await session.query<BatchHead>(
    `select batch_id as "batchId", ${headColumns} from events
     where pending and batch_id is not null and settled_at is null and claimed_at < $1
     group by batch_id order by batch_id limit $2`,
    [claimedBefore, most],
  );
  return rows;
}

/** The events of a batch whose delivery has not ended yet. */
export async function readBatch(unit: UnitOfWork, batchId: string): Promise<EventRow[]> {
  const session = await unit.readAs('system');
  const { rows } = await session.query<EventRow>(
    `select ${eventColumns} from events e where e.batch_id = $1 and e.pending and e.settled_at is null
     order by e.entity_id, e.record_version, e.id`,
    [batchId],
  );
  return rows;
}

/** Marks a batch whose events all have their delivery rows. */
export async function settleBatch(unit: UnitOfWork, batchId: string): Promise<void> {
  const session = await unit.readAs('system');
  await session.query('update events set settled_at = $2 where batch_id = $1 and settled_at is null', [
    batchId,
    unit.database.options.clock.now(),
  ]);
}

/** Creates partitions ahead of time and drops those past their retention, in milliseconds. */
export async function maintainPartitions(
  unit: UnitOfWork,
  keep: { readonly eventsMs: number; readonly historyMs: number },
): Promise<void> {
  const session = await unit.readAs('system');
  await session.query(`select maintain_partitions($1 * interval '1 millisecond', $2 * interval '1 millisecond')`, [
    keep.eventsMs,
    keep.historyMs,
  ]);
}
