import { columnsOf } from '../base/columns-of.ts';
import { bumpRevisions, systemScope } from '../access/authorization-state.ts';
import type { EntityModule } from '../model/define.ts';
import type { DesiredTuple } from './desired-tuples.ts';
import { lockRowTuples, rowTuples, orphanedAmong, type RowTuples } from './row-tuples.ts';
import { deduplicateTuples, tupleKey, type Tuple } from '../model/tuples.ts';
import type { RoleSession } from '../storage/transaction.ts';
import type { Work } from '../storage/work.ts';

/** The result of checking one page. The next page begins after `last`; null at the end. */
export interface RepairedPage<Cursor> {
  readonly checked: number;
  readonly repaired: readonly Tuple[];
  readonly last: Cursor | null;
}

/** A desired tuple that was applied to the authorization store in this version. */
type Settled = Tuple & Pick<DesiredTuple, 'version'>;

/** Joins the desired tuples, as `held`, to the tuples given as three arrays. */
const given = `from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject)
  join desired_tuples held using (object, relation, subject)`;

/**
 * Adds missing desired tuples for live rows of a kind. Rows with missing tuples are read again under a lock, so that a change in
 * progress is not repaired by mistake.
 */
export async function repairMissing(
  work: Work,
  module: EntityModule,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<RepairedPage<string>> {
  const session = await work.readAs('system');
  const rows = await rowTuples(session, module, { after, limit });
  const suspects = await missingTuples(session, rows);
  const locked =
    suspects.length === 0
      ? []
      : await lockRowTuples(
          session,
          module,
          suspects.map(({ id }) => id),
        );
  const missing = (await missingTuples(session, locked)).flatMap(({ organizationId, tuples }) =>
    tuples.map((tuple) => ({ ...tuple, organization_id: organizationId, present: true, raises: true })),
  );
  if (missing.length > 0) {
    await session.query('select write_records($1)', [JSON.stringify({ tuples: deduplicateTuples(missing) })]);
    await bumpRevisions(session, new Set(missing.map((tuple) => tuple.organization_id ?? systemScope)));
  }
  return { checked: rows.length, repaired: missing.map(tupleOnly), last: cursorAfter(rows, limit)?.id ?? null };
}

/** Those of these rows whose tuples are not all desired, each with the missing tuples only. */
async function missingTuples(session: RoleSession, rows: readonly RowTuples[]): Promise<RowTuples[]> {
  const { rows: present } = await session.query<Tuple>(
    `select object, relation, subject ${given} where held.present`,
    columnsOf(
      rows.flatMap(({ tuples }) => tuples),
      'object',
      'relation',
      'subject',
    ),
  );
  const desired = new Set(present.map(tupleKey));
  return rows.flatMap((row) => {
    const tuples = row.tuples.filter((tuple) => !desired.has(tupleKey(tuple)));
    return tuples.length === 0 ? [] : [{ ...row, tuples }];
  });
}

/** Marks desired tuples that no live row declares as absent. A tuple that has changed since it was read is skipped. */
export async function repairOrphaned(
  work: Work,
  { after, limit }: { readonly after: Tuple | null; readonly limit: number },
): Promise<RepairedPage<Tuple>> {
  const session = await work.readAs('system');
  const rows = await desiredPage(session, 'held.present', { after, limit });
  const orphaned = await orphanedAmong(session, work.registry, rows);
  const repaired = await updateDesired(session, orphaned, 'present = false, version = held.version + 1');
  return { checked: rows.length, repaired, last: cursorAfter(rows, limit) };
}

/** A page of the desired tuples that the authorization store must have by now. */
export async function settledPage(
  work: Work,
  { after, limit }: { readonly after: Tuple | null; readonly limit: number },
): Promise<{ readonly rows: readonly Settled[]; readonly last: Tuple | null }> {
  const session = await work.readAs('system');
  const isSettled = 'held.present and held.applied_version = held.version and held.confirm_at is null';
  const rows = await desiredPage(session, isSettled, { after, limit });
  return { rows, last: cursorAfter(rows, limit) };
}

/** Compares tuples of the authorization store with the desired tuples: those that were removed, and those that are not known. */
export async function unexpectedAmong(
  work: Work,
  tuples: readonly Tuple[],
): Promise<{ readonly removed: readonly Settled[]; readonly unknown: readonly Tuple[] }> {
  const rows = await work.rowsAsSystem<Settled & { isAbsent: boolean }>(
    `select object, relation, subject, held.version, not held.present and held.applied_version = held.version as "isAbsent" ${given}`,
    columnsOf(tuples, 'object', 'relation', 'subject'),
  );
  const known = new Set(rows.map(tupleKey));
  return {
    removed: rows.filter(({ isAbsent }) => isAbsent),
    unknown: tuples.filter((tuple) => !known.has(tupleKey(tuple))),
  };
}

/**
 * Makes the relay write these tuples to the authorization store again. A tuple that has changed since it was read is skipped: the
 * relay writes it anyway.
 */
export async function applyAgain(work: Work, tuples: readonly Settled[]): Promise<Tuple[]> {
  return updateDesired(await work.readAs('system'), tuples, 'applied_version = 0');
}

/** Makes the relay delete unknown tuples from the authorization store, unless they have become desired meanwhile. */
export async function tombstone(work: Work, tuples: readonly Tuple[]): Promise<Tuple[]> {
  if (tuples.length === 0) return [];
  const session = await work.readAs('system');
  const { rows } = await session.query<Tuple>(
    `insert into desired_tuples (object, relation, subject, organization_id, present)
     select object, relation, subject, null, false
     from unnest($1::text[], $2::text[], $3::text[]) as given (object, relation, subject) order by 1, 2, 3
     on conflict do nothing returning object, relation, subject`,
    columnsOf(tuples, 'object', 'relation', 'subject'),
  );
  // The organization of these tuples is not known, so the system scope is bumped.
  if (rows.length > 0) await bumpRevisions(session, [systemScope]);
  return rows.map(tupleOnly);
}

/** Changes desired tuples that still have the version that was read, and invalidates cached decisions of their scopes. */
async function updateDesired(session: RoleSession, tuples: readonly Settled[], assignment: string): Promise<Tuple[]> {
  if (tuples.length === 0) return [];
  const { rows } = await session.query<Tuple & { scope: string }>(
    `update desired_tuples held set raises = true, ${assignment}
     from unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) as given (object, relation, subject, version)
     where held.object = given.object and held.relation = given.relation and held.subject = given.subject
       and held.version = given.version
     returning held.object, held.relation, held.subject, coalesce(held.organization_id, $5) as scope`,
    [...columnsOf(tuples, 'object', 'relation', 'subject', 'version'), systemScope],
  );
  if (rows.length > 0) await bumpRevisions(session, new Set(rows.map(({ scope }) => scope)));
  return rows.map(tupleOnly);
}

async function desiredPage(
  session: RoleSession,
  condition: string,
  { after, limit }: { readonly after: Tuple | null; readonly limit: number },
): Promise<Settled[]> {
  const { rows } = await session.query<Settled>(
    `select held.object, held.relation, held.subject, held.version from desired_tuples held
     where ${condition} and (held.object, held.relation, held.subject) > ($1, $2, $3)
     order by held.object, held.relation, held.subject limit $4`,
    [after?.object ?? '', after?.relation ?? '', after?.subject ?? '', limit],
  );
  return rows;
}

/** The last row of a full page; null when no further page exists. */
function cursorAfter<T>(rows: readonly T[], limit: number): T | null {
  return rows.length < limit ? null : (rows.at(-1) ?? null);
}

function tupleOnly({ object, relation, subject }: Tuple): Tuple {
  return { object, relation, subject };
}
