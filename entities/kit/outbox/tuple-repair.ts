import { bumpRevisions, systemScope } from '../access/authorization-state.ts';
import type { EntityModule } from '../model/define.ts';
import type { DesiredTuple } from './desired-tuples.ts';
import { lockRowTuples, rowTuples, orphanedAmong, type RowTuples } from './tuple-comparison.ts';
import { columnsOf, deduplicateTuples, tupleKey, type Tuple } from '../model/tuples.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** What was looked at in one piece, and what of it was repaired. `last` is where the next piece begins; null at the end. */
export interface RepairedPage<Place> {
  readonly checked: number;
  readonly repaired: readonly Tuple[];
  readonly last: Place | null;
}

/** A desired tuple that the authorization store should have as it is. */
type Settled = Tuple & Pick<DesiredTuple, 'version'>;

/** Joins `held` to the tuples given as three columns. */
const given = `from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject)
  join desired_tuples held using (object, relation, subject)`;

/**
 * Makes tuples desired that live rows of a kind stand for. Rows where something is missing are looked at again under a lock,
 * so that a change under way is not taken for a mistake.
 */
export async function repairMissing(
  work: Work,
  module: EntityModule,
  { after, most }: { readonly after: string; readonly most: number },
): Promise<RepairedPage<string>> {
  const session = await work.readAs('system');
  const rows = await rowTuples(session, module, { after, most });
  const suspects = await lacking(session, rows);
  const locked =
    suspects.length === 0
      ? []
      : await lockRowTuples(
          session,
          module,
          suspects.map(({ id }) => id),
        );
  const missing = (await lacking(session, locked)).flatMap(({ organizationId, tuples }) =>
    tuples.map((tuple) => ({ ...tuple, organization_id: organizationId, present: true, raises: true })),
  );
  if (missing.length > 0) {
    await session.query('select write_records($1)', [JSON.stringify({ tuples: deduplicateTuples(missing) })]);
    await bumpRevisions(session, new Set(missing.map((tuple) => tuple.organization_id ?? systemScope)));
  }
  return { checked: rows.length, repaired: missing.map(tupleOnly), last: placeOf(rows, most)?.id ?? null };
}

/** Those of these rows of which tuples are not desired, with these tuples only. */
async function lacking(session: RoleSession, rows: readonly RowTuples[]): Promise<RowTuples[]> {
  const { rows: present } = await session.query<Tuple>(
    `select object, relation, subject ${given} where held.present`,
    columnsOf(rows.flatMap(({ tuples }) => tuples)),
  );
  const desired = new Set(present.map(tupleKey));
  return rows.flatMap((row) => {
    const tuples = row.tuples.filter((tuple) => !desired.has(tupleKey(tuple)));
    return tuples.length === 0 ? [] : [{ ...row, tuples }];
  });
}

/** Takes back desired tuples that no live row stands for. One that changes meanwhile is left alone. */
export async function repairOrphaned(
  work: Work,
  { after, most }: { readonly after: Tuple | null; readonly most: number },
): Promise<RepairedPage<Tuple>> {
  const session = await work.readAs('system');
  const rows = await desiredPage(session, 'held.present', { after, most });
  const unfounded = await orphanedAmong(session, work.registry, rows);
  const repaired = await change(session, unfounded, 'present = false, version = held.version + 1');
  return { checked: rows.length, repaired, last: placeOf(rows, most) };
}

/** Tuples that the authorization store should have by now. */
export async function settledPage(
  work: Work,
  { after, most }: { readonly after: Tuple | null; readonly most: number },
): Promise<{ readonly rows: readonly Settled[]; readonly last: Tuple | null }> {
  const session = await work.readAs('system');
  const isSettled = 'held.present and held.applied_version = held.version and held.confirm_at is null';
  const rows = await desiredPage(session, isSettled, { after, most });
  return { rows, last: placeOf(rows, most) };
}

/** What the rows say of tuples that the authorization store has. */
export async function unexpectedAmong(
  work: Work,
  tuples: readonly Tuple[],
): Promise<{ readonly takenBack: readonly Settled[]; readonly unknown: readonly Tuple[] }> {
  const session = await work.readAs('system');
  const { rows } = await session.query<Settled & { isAbsent: boolean }>(
    `select object, relation, subject, held.version, not held.present and held.applied_version = held.version as "isAbsent" ${given}`,
    columnsOf(tuples),
  );
  const known = new Set(rows.map(tupleKey));
  return {
    takenBack: rows.filter(({ isAbsent }) => isAbsent),
    unknown: tuples.filter((tuple) => !known.has(tupleKey(tuple))),
  };
}

/**
 * Has the relay write these tuples to the authorization store once more, as they are desired. One that changed since it was
 * read is on its way anyhow.
 */
export async function applyAgain(work: Work, tuples: readonly Settled[]): Promise<Tuple[]> {
  return change(await work.readAs('system'), tuples, 'applied_version = 0');
}

/** Has the relay delete tuples that nothing is known of, unless they have become desired meanwhile. */
export async function tombstone(work: Work, tuples: readonly Tuple[]): Promise<Tuple[]> {
  if (tuples.length === 0) return [];
  const session = await work.readAs('system');
  const { rows } = await session.query<Tuple>(
    `insert into desired_tuples (object, relation, subject, organization_id, present)
     select object, relation, subject, null, false
     from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject) order by 1, 2, 3
     on conflict do nothing returning object, relation, subject`,
    columnsOf(tuples),
  );
  // Whose decisions they changed is not known.
  if (rows.length > 0) await bumpRevisions(session, [systemScope]);
  return rows.map(tupleOnly);
}

/** Changes desired tuples that still have the version that was read; remembered decisions of their scopes end with it. */
async function change(session: RoleSession, tuples: readonly Settled[], how: string): Promise<Tuple[]> {
  if (tuples.length === 0) return [];
  const { rows } = await session.query<Tuple & { scope: string }>(
    `update desired_tuples held set raises = true, ${how}
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (object, relation, subject, version)
     where held.object = given.object and held.relation = given.relation and held.subject = given.subject
       and held.version = given.version
     returning held.object, held.relation, held.subject, coalesce(held.organization_id, $5) as scope`,
    [...columnsOf(tuples), tuples.map(({ version }) => version), systemScope],
  );
  if (rows.length > 0) await bumpRevisions(session, new Set(rows.map(({ scope }) => scope)));
  return rows.map(tupleOnly);
}

async function desiredPage(
  session: RoleSession,
  which: string,
  { after, most }: { readonly after: Tuple | null; readonly most: number },
): Promise<Settled[]> {
  const { rows } = await session.query<Settled>(
    `select held.object, held.relation, held.subject, held.version from desired_tuples held
     where ${which} and (held.object, held.relation, held.subject) > ($1, $2, $3)
     order by held.object, held.relation, held.subject limit $4`,
    [after?.object ?? '', after?.relation ?? '', after?.subject ?? '', most],
  );
  return rows;
}

/** The last of a full page; null when there is nothing behind it. */
function placeOf<T>(rows: readonly T[], most: number): T | null {
  return rows.length < most ? null : (rows.at(-1) ?? null);
}

function tupleOnly({ object, relation, subject }: Tuple): Tuple {
  return { object, relation, subject };
}
