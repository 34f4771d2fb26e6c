import { columnsOf, tupleKey, type Tuple } from '../model/tuples.ts';
import type { Work } from '../storage/work.ts';

export interface DesiredTuple extends Tuple {
  readonly present: boolean;
  readonly version: string;
}

/** A write of an older state may still be on its way for this long after the process that sent it is gone. */
const maxWriteMs = 60_000;

/** The transaction stands still while the store is written to; ending it meanwhile would let go of the lock. */
const maxStandstillMs = 30_000;

const key = `hashtextextended(jsonb_build_array(object, relation, subject)::text, 0)`;
const isNotExcepted = `(object, relation, subject) not in (select * from unnest($3::text[], $4::text[], $5::text[]))`;

/**
 * Tuples the authorization store does not have right yet, or whose last change is to be confirmed, kept from other relays
 * until the end of the transaction. What another relay has in hand is left out.
 *
 * The lock is not on the rows: a request that changes a tuple while it is being written does not wait for the store.
 * @param except tuples that are left for another time
 */
export async function lockUnapplied(work: Work, most: number, except: readonly Tuple[] = []): Promise<DesiredTuple[]> {
  const session = await work.readAs('system');
  const now = work.clock.now();
  const [, { rows: locked }] = await Promise.all([
    session.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(maxStandstillMs)]),
    session.query<Tuple>(
      `with waiting as materialized (
       (select object, relation, subject from desired_tuples
        where applied_version < version and ${isNotExcepted} order by 1, 2, 3 limit $1)
       union (select object, relation, subject from desired_tuples
        where confirm_at <= $2 and ${isNotExcepted} order by confirm_at limit $1)
       limit $1)
     select * from waiting where pg_try_advisory_xact_lock(${key})`,
      [most, now, ...columnsOf(except)],
    ),
  ]);
  if (locked.length === 0) return [];
  // Read again under the lock: the relay that had it before may have applied them.
  const { rows } = await session.query<DesiredTuple>(
    `select object, relation, subject, held.present, held.version
     from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject)
     join desired_tuples held using (object, relation, subject)
     where held.applied_version < held.version or held.confirm_at <= $4`,
    [...columnsOf(locked), now],
  );
  return rows;
}

export interface Marked {
  /** Whether one of them has changed again meanwhile. */
  readonly hasChanged: boolean;
  /** Those that a transaction under way is changing: they stay as they are, and are applied again. */
  readonly held: readonly Tuple[];
}

/**
 * Remembers that the store has these tuples as they were read. Never waits for a request that is changing one of them: it
 * would keep all others of the process from the store, and that request may wait for one of these.
 */
export async function markApplied(work: Work, tuples: readonly DesiredTuple[]): Promise<Marked> {
  const session = await work.readAs('system');
  const confirmAt = new Date(work.clock.now().getTime() + maxWriteMs);
  // A relay that died may have had an older state of the tuple on its way. It lands soon or never: a tuple that has had
  // another state is written once more after that time.
  const { rows } = await session.query<Tuple & { hasChanged: boolean }>(
    `with free as materialized (
       select object, relation, subject, given.version
       from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (object, relation, subject, version)
       join desired_tuples held using (object, relation, subject)
       for no key update of held skip locked)
     update desired_tuples held set applied_version = free.version,
       confirm_at = case when free.version > 1 and held.applied_version < free.version then $5::timestamptz end
     from free
     where held.object = free.object and held.relation = free.relation and held.subject = free.subject
     returning held.object, held.relation, held.subject, held.version > free.version as "hasChanged"`,
    [...columnsOf(tuples), tuples.map((tuple) => tuple.version), confirmAt],
  );
  const marked = new Set(rows.map(tupleKey));
  return {
    hasChanged: rows.some((row) => row.hasChanged),
    held: tuples.filter((tuple) => !marked.has(tupleKey(tuple))),
  };
}
