import type { Work } from '../storage/work.ts';
import { snapshotOf, type FeedPosition, type FeedSnapshot, type FeedChange } from './feed-position.ts';

const feedPageSize = 1_000;

/** Which changes a reader wants: those of these kinds (topics), in this organization or in none. */
export interface FeedFilter {
  readonly kinds: readonly string[];
  readonly organizationId: string | null;
}

export interface FeedPage {
  readonly changes: readonly FeedChange[];
  /** Up to which snapshot the page is, or would be if it were larger. */
  readonly to: FeedSnapshot;
  /** Whether further changes follow before that snapshot. */
  readonly hasMore: boolean;
  /** Hashes of the ids of whom changes concern that were noted since (`caller_changes`). */
  readonly callers: readonly string[];
}

interface Read {
  /** From where; left out to learn the current snapshot only. */
  readonly from?: FeedPosition | undefined;
  /** Where to stop; the current snapshot when left out. */
  readonly to?: FeedSnapshot | undefined;
  readonly filter?: FeedFilter;
}

// A change is new if its transaction was not visible in the snapshot of the reader: exact, in whatever order transactions commit. The
// second part finds those whose ids had been given to other transactions before: PostgreSQL may give ids out again after a crash.
const text = `with this as materialized (select pg_current_snapshot() as snapshot),
  range as (select coalesce($2::pg_snapshot, this.snapshot) as until from this),
  fresh as (
    select c.* from record_changes c, range where c.xid >= pg_snapshot_xmin($1::pg_snapshot)
      and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot) and pg_visible_in_snapshot(c.xid, range.until)
    union all
    select c.* from record_changes c, range where c.changed_at > to_timestamp($3::numeric / 1000000)
      and pg_visible_in_snapshot(c.xid, $1::pg_snapshot) and pg_visible_in_snapshot(c.xid, range.until)),
  page as (
    select xid::text, id, entity_kind as kind, entity_id as "recordId", organization_id as "organizationId",
      viewer_id as "viewerId", operation, record_version as "recordVersion",
      (extract(epoch from changed_at) * 1000000)::bigint::text as "changedAt"
    from fresh where ($4::xid8 is null or (fresh.xid, fresh.id) > ($4::xid8, $5::text))
      and ($6::text[] is null or entity_kind = any($6) and (organization_id is null or organization_id = $7))
    order by fresh.xid, fresh.id limit $8)
  select this.snapshot::text as snapshot, (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as time,
    (select epoch::text from change_feed limit 1) as epoch, (select json_agg(page) from page) as changes,
    (select array_agg(distinct scope::text) from caller_changes c where c.xid >= pg_snapshot_xmin($1::pg_snapshot)
      and not pg_visible_in_snapshot(c.xid, $1::pg_snapshot)) as callers
  from this`;

interface Row extends FeedSnapshot {
  readonly changes: readonly FeedChange[] | null;
  readonly callers: readonly string[] | null;
}

/**
 * Reads what has been committed since a position, a page at a time, in one statement.
 * @throws AppError database_busy, database_unavailable, deadline_exceeded
 */
export async function readRecordChanges(work: Work, { from, to, filter }: Read): Promise<FeedPage> {
  const until = to ?? from?.within?.to;
  const { within } = from ?? {};
  const [row] = await work.rowsAsSystem<Row>(text, [
    from?.snapshot ?? null,
    until?.snapshot ?? null,
    from?.time ?? null,
    within?.xid ?? null,
    within?.id ?? null,
    filter?.kinds ?? null,
    filter?.organizationId ?? null,
    feedPageSize,
  ]);
  if (!row) throw new Error('the changes of records have no answer');
  const changes = row.changes ?? [];
  return {
    changes,
    to: until ?? snapshotOf(row),
    hasMore: changes.length === feedPageSize,
    callers: row.callers ?? [],
  };
}
