import { columnsOf } from '../base/columns-of.ts';
import { tupleKey, type Tuple } from '../model/tuples.ts';
import type { Work } from '../storage/work.ts';

export interface DesiredTuple extends Tuple {
  readonly present: boolean;
  readonly version: string;
}

/** How long a write of an older state can still reach the store after the process that sent it has died. */
const maxWriteMs = 60_000;

/** The transaction is idle while the store is written to; if PostgreSQL ended it, the locks would be released too early. */
const maxIdleMs = 30_000;

const key = `hashtextextended(jsonb_build_array(object, relation, subject)::text, 0)`;
const isNotExcepted = `(object, relation, subject) not in (select * from unnest($3::text[], $4::text[], $5::text[]))`;

/**
 * Desired tuples whose last change was not written to the authorization store yet, or must be written once more to confirm it.
 * They are locked against other relays until the end of the transaction; tuples that another relay has locked are left out.
 *
 * The locks are advisory locks, not row locks: a request that changes a tuple does not wait for the store.
 * @param except tuples to leave out
 */
export async function lockUnapplied(work: Work, limit: number, except: readonly Tuple[] = []): Promise<DesiredTuple[]> {
  const session = await work.readAs('system');
  const now = work.clock.now();
  const [, { rows: locked }] = await Promise.all([
    session.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(maxIdleMs)]),
    session.query<Tuple>(
      `with waiting as materialized (
       (select object, relation, subject from desired_tuples
        where applied_version < version and ${isNotExcepted} order by 1, 2, 3 limit $1)
       union (select object, relation, subject from desired_tuples
        where confirm_at <= $2 and ${isNotExcepted} order by confirm_at limit $1)
       limit $1)
     select * from waiting where pg_try_advisory_xact_lock(${key})`,
      [limit, now, ...columnsOf(except, 'object', 'relation', 'subject')],
    ),
  ]);
  if (locked.length === 0) return [];
  // Read again under the lock: the relay that held it before may have applied them.
  const { rows } = await session.query<DesiredTuple>(
    `select object, relation, subject, held.present, held.version
     from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject)
     join desired_tuples held using (object, relation, subject)
     where held.applied_version < held.version or held.confirm_at <= $4`,
    [...columnsOf(locked, 'object', 'relation', 'subject'), now],
  );
  return rows;
}

interface Marked {
  /** Whether one of them changed again after it was read. */
  readonly hasChanged: boolean;
  /** Tuples that an open transaction is changing. They are not marked, and are applied again later. */
  readonly skipped: readonly Tuple[];
}

/**
 * Marks tuples as applied to the store in the version that was read. It skips tuples that a request is changing: waiting would block
 * all other writes of the relay, and the request may itself wait for one of them.
 */
export async function markApplied(work: Work, tuples: readonly DesiredTuple[]): Promise<Marked> {
  const confirmAt = new Date(work.clock.now().getTime() + maxWriteMs);
  // A relay that died may have sent an older state of a tuple that reaches the store only now. So a tuple that has had another
  // state is written once more after `maxWriteMs`.
  const rows = await work.rowsAsSystem<Tuple & { hasChanged: boolean }>(
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
    [...columnsOf(tuples, 'object', 'relation', 'subject', 'version'), confirmAt],
  );
  const marked = new Set(rows.map(tupleKey));
  return {
    hasChanged: rows.some((row) => row.hasChanged),
    skipped: tuples.filter((tuple) => !marked.has(tupleKey(tuple))),
  };
}
