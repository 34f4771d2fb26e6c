import type { EntityModule } from '../kit/model/define.ts';
import type { Work } from '../kit/storage/work.ts';

/** A run that has begun. */
interface BegunRun {
  readonly id: string;
  readonly integrationId: string;
  readonly startedAt: Date;
}

/**
 * Notes what a run has seen.
 * @param kind of the records, or `cursor`
 * @param keys ids of records, or digests of cursors
 * @returns how many it had not seen before
 */
export function noteSightings(work: Work, runId: string, kind: string, keys: readonly string[]): Promise<number> {
  return work.runAsSystem(
    `insert into integration_sightings (run_id, kind, key) select $1, $2, key from unnest($3::text[]) as key
     on conflict do nothing`,
    [runId, kind, keys],
  );
}

/** Which of these a run has seen before. */
export async function sightedBefore(
  work: Work,
  runId: string,
  kind: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set();
  const rows = await work.rowsAsSystem<{ key: string }>(
    'select key from integration_sightings where run_id = $1 and kind = $2 and key = any($3)',
    [runId, kind, keys],
  );
  return new Set(rows.map(({ key }) => key));
}

export async function forgetSightings(work: Work, runId: string): Promise<void> {
  await work.runAsSystem('delete from integration_sightings where run_id = $1', [runId]);
}

const pruned = 10_000;

/** Forgets some of what runs have seen that were removed before they ended, with their organization. @returns whether there may be more */
export async function pruneSightings(work: Work): Promise<boolean> {
  const count = await work.runAsSystem(
    `delete from integration_sightings where (run_id, kind, key) in (
       select run_id, kind, key from integration_sightings s
       where not exists (select 1 from integration_runs r where r.id = s.run_id and r.deleted_at is null) limit ${pruned})`,
  );
  return count === pruned;
}

const unseen = `not exists (select 1 from integration_sightings s where s.run_id = $2 and s.kind = $3 and s.key = r.id)`;

/** How many records of a kind the run has not seen, of how many that the integration had before it. */
export async function countUnseen(
  work: Work,
  module: EntityModule,
  { id, integrationId, startedAt }: BegunRun,
): Promise<{ readonly unseen: number; readonly before: number }> {
  const [row] = await work.rowsAsSystem<{ unseen: number; before: number }>(
    `select count(*) filter (where ${unseen})::int as unseen, count(*) filter (where r.created_at < $4)::int as before
     from ${module.table} r where r.integration_id = $1 and r.deleted_at is null`,
    [integrationId, id, module.kind, startedAt],
  );
  return row ?? { unseen: 0, before: 0 };
}

/** Ids of records of a kind that the run has not seen. */
export async function unseenRecords(
  work: Work,
  module: EntityModule,
  { id, integrationId }: BegunRun,
  limit: number,
): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ id: string }>(
    `select r.id from ${module.table} r where r.integration_id = $1 and r.deleted_at is null and ${unseen}
     order by r.id limit $4`,
    [integrationId, id, module.kind, limit],
  );
  return rows.map((row) => row.id);
}
