import type { Tuple } from './tuples.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface DesiredTuple extends Tuple {
  readonly present: boolean;
  readonly version: string;
}

/** A write of an older state may still be on its way for this long after the process that sent it is gone. */
const longestWriteMs = 60_000;

/** The transaction stands still while the store is written to; ending it meanwhile would let go of the lock. */
const longestStandstillMs = 30_000;

const key = `hashtextextended(jsonb_build_array(object, relation, subject)::text, 0)`;

/**
 * Tuples the authorization store does not have right yet, or whose last change is to be confirmed, kept from other relays
 * until the end of the transaction. What another relay has in hand is left out.
 *
 * The lock is not on the rows: a request that changes a tuple while it is being written does not wait for the store.
 */
export async function lockUnapplied(unit: UnitOfWork, most: number): Promise<DesiredTuple[]> {
  const session = await unit.readAs('system');
  const now = unit.database.options.clock.now();
  const [, { rows: locked }] = await Promise.all([
    session.query(`select set_config('idle_in_transaction_session_timeout', $1, true)`, [String(longestStandstillMs)]),
    session.query<Tuple>(
      `with waiting as materialized (
       (select object, relation, subject from desired_tuples where applied_version < version order by 1, 2, 3 limit $1)
       union (select object, relation, subject from desired_tuples where confirm_at <= $2 order by confirm_at limit $1)
       limit $1)
     select * from waiting where pg_try_advisory_xact_lock(${key})`,
      [most, now],
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

/**
 * Remembers that the store has these tuples as they were read.
 * @returns whether one of them has changed again meanwhile
 */
export async function markApplied(unit: UnitOfWork, tuples: readonly DesiredTuple[]): Promise<boolean> {
  const session = await unit.readAs('system');
  const confirmAt = new Date(unit.database.options.clock.now().getTime() + longestWriteMs);
  // A relay that died may have had an older state of the tuple on its way. It lands soon or never: a tuple that has had
  // another state is written once more after that time.
  const { rows } = await session.query<{ hasChanged: boolean }>(
    `update desired_tuples held set applied_version = given.version,
       confirm_at = case when given.version > 1 and held.applied_version < given.version then $5::timestamptz end
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (object, relation, subject, version)
     where held.object = given.object and held.relation = given.relation and held.subject = given.subject
     returning held.version > given.version as "hasChanged"`,
    [...columnsOf(tuples), tuples.map((tuple) => tuple.version), confirmAt],
  );
  return rows.some((row) => row.hasChanged);
}

function columnsOf(tuples: readonly Tuple[]): [string[], string[], string[]] {
  return [
    tuples.map((tuple) => tuple.object),
    tuples.map((tuple) => tuple.relation),
    tuples.map((tuple) => tuple.subject),
  ];
}
