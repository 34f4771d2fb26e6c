import { newId } from '../base/ids.ts';
import type { Work } from '../storage/work.ts';

export const workKinds = [
  'delivery',
  'message',
  'notification',
  'email',
  'export',
  'import',
  'file',
  'organization',
  'schedule',
  'other',
] as const;
export type WorkKind = (typeof workKinds)[number];

/** Failed attempts after which work is listed. */
export const shownAttempts = 5;

/** Time for which rows of work that has ended are kept, in milliseconds. */
const retentionMs = 30 * 86_400_000;

const pruned = 1_000;

/** Which work a row is about. */
export interface WorkPlace {
  readonly kind: WorkKind;
  /** The same for all runs of the same work. */
  readonly key: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  /** Type of the activity; null for a workflow that ended. */
  readonly activity: string | null;
}

export interface WorkFailure extends WorkPlace {
  readonly organizationId: string | null;
  readonly recordId: string | null;
  readonly requestId: string | null;
  /** `failing`: it is tried again; `failed`: nobody tries it again. */
  readonly status: 'failing' | 'failed';
  readonly attempts: number | null;
  /** Code and message, without secrets. */
  readonly error: string;
  readonly nextAttemptAt: Date | null;
  readonly at: Date;
}

/**
 * Keeps that work has failed; of failures of the same work the last one. One that is older than what the row says changes nothing.
 * @param isGuess nobody has reported these failures: a reported one of the same run stays
 */
export async function noteFailures(work: Work, failures: readonly WorkFailure[], isGuess = false): Promise<void> {
  for (const failure of failures)
    await work.runAsSystem(
      `insert into failing_work as held (id, key, kind, workflow_id, run_id, workflow_type, activity, organization_id, record_id, request_id,
         status, attempts, error, since, next_attempt_at, updated_at, looked_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $15, $14, $15, $15)
       on conflict (key) do update set workflow_id = excluded.workflow_id, run_id = excluded.run_id, organization_id = excluded.organization_id,
         record_id = excluded.record_id, request_id = excluded.request_id, status = excluded.status, attempts = excluded.attempts,
         error = excluded.error, next_attempt_at = excluded.next_attempt_at, updated_at = excluded.updated_at, looked_at = excluded.looked_at, ended_at = null, is_run_settled = false,
         since = case when held.ended_at is null then held.since else excluded.since end
       where held.updated_at < excluded.updated_at
         and not ($16 and held.ended_at is null and held.run_id = excluded.run_id)`,
      [
        newId(),
        failure.key,
        failure.kind,
        failure.workflowId,
        failure.runId,
        failure.workflowType,
        failure.activity,
        failure.organizationId,
        failure.recordId,
        failure.requestId,
        failure.status,
        failure.attempts,
        failure.error,
        failure.nextAttemptAt,
        failure.at,
        isGuess,
      ],
    );
}

/**
 * Work that an operator has retried or stopped is not listed until it fails again.
 * @param id of its row
 * @param isRunSettled whether whatever else its run reports is settled with it: unless the run continues
 */
export async function endFailure(work: Work, id: string, isRunSettled: boolean): Promise<void> {
  await work.runAsSystem('update failing_work set ended_at = $2, updated_at = $2, is_run_settled = $3 where id = $1', [
    id,
    work.clock.now(),
    isRunSettled,
  ]);
}

/** Work that has succeeded is listed no more until it fails again. */
export async function endFailures(work: Work, keys: readonly string[]): Promise<void> {
  await work.runAsSystem(
    'update failing_work set ended_at = $2, updated_at = $2 where key = any($1) and ended_at is null',
    [keys, work.clock.now()],
  );
}

/**
 * Of these, what is neither known nor listed: the row of its key has a failure or an end from then on, or its run has a row that fails still, or
 * that an operator has ended. A run whose activity failed and then succeeded can fail for another reason.
 */
export async function unknownFailures<Failure extends Pick<WorkFailure, 'key' | 'runId' | 'at'>>(
  work: Work,
  failures: readonly Failure[],
): Promise<Failure[]> {
  const rows = await work.rowsAsSystem<{ key: string; runId: string; updatedAt: Date; hidesRun: boolean }>(
    `select key, run_id as "runId", updated_at as "updatedAt", ended_at is null or is_run_settled as "hidesRun"
     from failing_work where key = any($1) or run_id = any($2)`,
    [failures.map(({ key }) => key), failures.map(({ runId }) => runId)],
  );
  const runs = new Set(rows.flatMap(({ runId, hidesRun }) => (hidesRun ? runId : [])));
  const known = new Map(rows.map(({ key, updatedAt }) => [key, updatedAt]));
  return failures.filter(({ key, runId, at }) => !runs.has(runId) && (known.get(key) ?? new Date(0)) < at);
}

/** A row as it is compared with its workflow. */
export type ListedFailure = Pick<WorkFailure, 'key' | 'workflowId' | 'runId' | 'status' | 'kind' | 'activity'>;

/** Rows of work that seems to fail still, the one that was longest not looked at first. */
export function oldestFailures(
  work: Work,
  { before, limit }: { readonly before: Date; readonly limit: number },
): Promise<ListedFailure[]> {
  return work.rowsAsSystem<ListedFailure>(
    `select key, workflow_id as "workflowId", run_id as "runId", status, kind, activity from failing_work
     where ended_at is null and looked_at < $1 order by looked_at limit $2`,
    [before, limit],
  );
}

/** Rows that were looked at now. @param failed whether nobody tries the work again */
export async function touchFailures(work: Work, keys: readonly string[], failed: readonly string[]): Promise<void> {
  await work.runAsSystem(
    `update failing_work set looked_at = $3, status = case when key = any($2::text[]) then 'failed' else status end,
       next_attempt_at = case when key = any($2::text[]) then null else next_attempt_at end
     where key = any($1::text[] || $2::text[]) and ended_at is null`,
    [keys, failed, work.clock.now()],
  );
}

/** @returns whether there may be more */
export async function pruneFailures(work: Work, at: Date): Promise<boolean> {
  const count = await work.runAsSystem(
    `delete from failing_work where id in (select id from failing_work where ended_at < $1 order by ended_at limit ${pruned})`,
    [new Date(at.getTime() - retentionMs)],
  );
  return count === pruned;
}
