import { sql } from 'kysely';
import type { RecordedChange } from '../model/recorded-changes.ts';
import { linesOf } from '../outbox/comparison.ts';
import { column } from '../storage/column.ts';
import { compileSql, type Sql } from '../storage/sql.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { ChangeBehaviour, FollowedChange, FollowingKinds } from '../write/change-behaviour.ts';
import { recordChanges } from '../write/change-log.ts';
import { stampOf, type ChangeWork } from '../write/change-work.ts';
import { deleteRows } from '../write/delete-rows.ts';
import { insertRows } from '../write/insert-rows.ts';

/** Records that the server keeps in line with those of another kind. @template By fields of both kinds whose values are equal */
interface Following<By extends string, Name extends string> {
  /** The kind that is followed. */
  readonly kind: string;
  /** Fields of both kinds whose values are equal: the records with those of a followed record belong to it. */
  readonly by: readonly By[];
  /** SQL: `table as alias on condition`: a record must be there for each such row and followed record, whose alias is `followed`. */
  readonly from: string;
  /** SQL: its values besides those of `by`, by field. */
  readonly values: Readonly<Record<Name, string>>;
  /** SQL condition on a record, with the alias `row`: the server made it. Other records are left alone. */
  readonly which: string;
}

type Follow = Following<string, string>;

/**
 * Behaviour: some records of the kind follow those of another one. Each transaction that changes a record also changes what follows it; it
 * has locked the record, so nobody else changes its followers.
 */
export function follows<const By extends string, const Name extends string>(
  following: Following<By, Name>,
): ChangeBehaviour<By | Name> {
  const { kind, by, values, which } = following;
  return {
    fields: [...by, ...(Object.keys(values) as Name[])],
    follows: {
      kind,
      which,
      align: (session, kinds, changes, work) => align(following, session, kinds, changes, work),
      compare: (session, kinds, ids) => unfollowed(following, session, kinds, ids),
    },
  };
}

async function align(
  follow: Follow,
  session: RoleSession,
  kinds: FollowingKinds,
  changes: readonly FollowedChange[],
  work: ChangeWork,
): Promise<number> {
  const idsOf = (operation: string) => changes.filter((change) => change.operation === operation).map(({ id }) => id);
  const updated = idsOf('updated');
  // Nothing follows a record that is new.
  const removed = updated.length === 0 ? [] : await removeSurplus(follow, session, kinds, updated, work);
  const added = await addMissing(follow, session, kinds, [...updated, ...idsOf('created')], work);
  const made = [...removed, ...added];
  if (made.length > 0) await recordChanges(session, made, [], work);
  return made.length;
}

function removeSurplus(
  follow: Follow,
  session: RoleSession,
  { follower, followed }: FollowingKinds,
  ids: readonly string[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const which = sql`row.deleted_at is null and (${sql.raw(follow.which)}) and exists (
    select 1 from ${sql.table(followed.table)} as followed where followed.id = any(${ids}) and ${belongs(follow)}
      and not exists (${wanted(follow)}))`;
  return deleteRows(session, follower, which, work);
}

async function addMissing(
  follow: Follow,
  session: RoleSession,
  kinds: FollowingKinds,
  ids: readonly string[],
  work: ChangeWork,
): Promise<RecordedChange[]> {
  const { text, values } = compileSql(missing(follow, kinds, ids));
  const { rows } = await session.query<Record<string, unknown>>(text, values);
  return insertRows(session, kinds.follower, rows, stampOf(work));
}

/** The values of records that should be there, by field. */
function missing(follow: Follow, { follower, followed }: FollowingKinds, ids: readonly string[]): Sql {
  const columns = [
    ...follow.by.map((name) => sql`${column('followed', name)} as ${sql.id(name)}`),
    ...Object.entries(follow.values).map(([name, value]) => sql`${sql.raw(value)} as ${sql.id(name)}`),
  ];
  return sql`select ${sql.join(columns)} from ${sql.table(followed.table)} as followed join ${sql.raw(follow.from)}
    where followed.deleted_at is null and followed.id = any(${ids}) and not exists (select 1 from ${sql.table(follower.table)} as row
      where row.deleted_at is null and ${belongs(follow)} and ${isWanted(follow)})`;
}

/** Selects what `row` should be, if it should be there. */
function wanted(follow: Follow): Sql {
  // A join needs two sides; the record that is followed is that of the outer query.
  return sql`select 1 from (select) as one join ${sql.raw(follow.from)} where followed.deleted_at is null and ${isWanted(follow)}`;
}

function isWanted({ values }: Follow): Sql {
  return sql.join(
    Object.entries(values).map(([name, value]) => sql`${column('row', name)} = ${sql.raw(value)}`),
    sql` and `,
  );
}

function belongs({ by }: Follow): Sql {
  return sql.join(
    by.map((name) => sql`${column('row', name)} = ${column('followed', name)}`),
    sql` and `,
  );
}

async function unfollowed(
  follow: Follow,
  session: RoleSession,
  kinds: FollowingKinds,
  ids: readonly string[],
): Promise<string[]> {
  const { follower, followed } = kinds;
  const lacking =
    compileSql(sql`select format('a %s is missing: %s', ${follower.topic}::text, to_jsonb(missing)) as line
    from (${missing(follow, kinds, ids)}) as missing`);
  const surplus =
    compileSql(sql`select format('%s %s does not follow a %s', ${follower.topic}::text, row.id, ${followed.topic}::text) as line
    from ${sql.table(follower.table)} as row join ${sql.table(followed.table)} as followed on ${belongs(follow)}
    where row.deleted_at is null and followed.deleted_at is null and followed.id = any(${ids})
      and (${sql.raw(follow.which)}) and not exists (${wanted(follow)})`);
  return [
    ...(await linesOf(session, lacking.text, lacking.values)),
    ...(await linesOf(session, surplus.text, surplus.values)),
  ];
}
