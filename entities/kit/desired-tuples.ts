import type { Tuple } from './tuples.ts';
import type { UnitOfWork } from './unit-of-work.ts';

export interface DesiredTuple extends Tuple {
  readonly present: boolean;
  readonly version: string;
}

/** Tuples the authorization store does not have right yet, locked; other relays pass them by. */
export async function unappliedTuples(unit: UnitOfWork, most: number): Promise<DesiredTuple[]> {
  const session = await unit.readAs('system');
  const { rows } = await session.query<DesiredTuple>(
    `select object, relation, subject, present, version from desired_tuples where applied_version < version
     order by object, relation, subject limit $1 for update skip locked`,
    [most],
  );
  return rows;
}

/** Remembers that the store has these tuples as they were read. */
export async function markApplied(unit: UnitOfWork, tuples: readonly DesiredTuple[]): Promise<void> {
  const session = await unit.readAs('system');
  await session.query(
    `update desired_tuples held set applied_version = given.version
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (object, relation, subject, version)
     where held.object = given.object and held.relation = given.relation and held.subject = given.subject`,
    [
      tuples.map((tuple) => tuple.object),
      tuples.map((tuple) => tuple.relation),
      tuples.map((tuple) => tuple.subject),
      tuples.map((tuple) => tuple.version),
    ],
  );
}
