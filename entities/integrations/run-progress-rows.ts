import type { Work } from '../kit/storage/work.ts';

/** Numbers of records that a page adds to those of its run. */
export interface PageCounts {
  readonly read: number;
  readonly created: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly filtered: number;
  readonly failed: number;
}

/** A page that was taken over. */
export interface TakenPage extends PageCounts {
  /** Position after it; null after the last page. */
  readonly cursor: string | null;
  /** All failures of the run so far that are kept. */
  readonly failures: readonly object[] | null;
}

/**
 * Adds a page to a run that the caller has locked. It is an observation of the server: it has no version, no history and no event, so the
 * history of a run does not grow with its pages, and does not keep positions in other systems.
 */
export async function notePage(work: Work, runId: string, page: TakenPage): Promise<void> {
  await work.runAsSystem(
    `update integration_runs set pages = pages + 1, cursor = $2, failures = $3, error_code = null, error_message = null,
       read_records = read_records + $4, created_records = created_records + $5, updated_records = updated_records + $6,
       unchanged_records = unchanged_records + $7, filtered_records = filtered_records + $8, failed_records = failed_records + $9
     where id = $1`,
    [
      runId,
      page.cursor,
      page.failures === null ? null : JSON.stringify(page.failures),
      page.read,
      page.created,
      page.updated,
      page.unchanged,
      page.filtered,
      page.failed,
    ],
  );
}

/** Notes why an attempt to continue has failed; the next page that is taken over clears it. */
export async function noteRunError(
  work: Work,
  runId: string,
  { code, message }: { readonly code: string; readonly message: string },
): Promise<void> {
  await work.runAsSystem(
    'update integration_runs set error_code = $2, error_message = $3 where id = $1 and ended_at is null',
    [runId, code, message],
  );
}

/** Begins a pass again from its first page. Records that were written stay. */
export async function restartPass(work: Work, runId: string): Promise<void> {
  await work.runAsSystem(
    `update integration_runs set pages = 0, cursor = null, restarts = restarts + 1, failures = null,
       read_records = 0, unchanged_records = 0, filtered_records = 0, failed_records = 0 where id = $1`,
    [runId],
  );
  await work.runAsSystem(
    'update directory_sync_runs set seen_accounts = 0, seen_groups = 0, seen_memberships = 0 where run_id = $1 and deleted_at is null',
    [runId],
  );
}

/** Adds records of a kind that a pass has seen, or removed. @param runId of its run @param column such as `seen_accounts` */
export async function addToPass(work: Work, runId: string, column: PassColumn, count: number): Promise<void> {
  if (count === 0) return;
  await work.runAsSystem(
    `update directory_sync_runs set ${column} = ${column} + $2 where run_id = $1 and deleted_at is null`,
    [runId, count],
  );
}

export type PassColumn = `${'seen' | 'removed'}_${'accounts' | 'groups' | 'memberships'}`;

export async function addRemoved(work: Work, runId: string, count: number): Promise<void> {
  await work.runAsSystem('update integration_runs set removed_records = removed_records + $2 where id = $1', [
    runId,
    count,
  ]);
}
