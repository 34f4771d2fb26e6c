import type { WorkflowExecutionInfo } from '@temporalio/client';
import { isRefused, isUnknownWorkflow } from '../clients/temporal/temporal-client.ts';
import { problemsOf, searchValuesOf } from '../clients/temporal/search-values.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';
import { placeOfWork } from '../kit/work-kind.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import {
  endFailures,
  noteFailures,
  oldestFailures,
  touchFailures,
  unknownFailures,
  type ListedFailure,
  type WorkFailure,
} from '#entities/kit/outbox/failing-work.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

type Dependencies = Pick<ActivityDependencies, 'database' | 'temporal' | 'logger'>;

/** Runs that are listed at once. */
const listed = 200;

/** Most runs that one pass notes, and most rows that it compares with their workflows. */
const compared = 50;

/** How far back ended runs are listed, in milliseconds: longer than workers are usually away. */
const lookBackMs = 86_400_000;

/** Rows that were looked at within this time are left out, in milliseconds. */
const freshMs = 60_000;

/** Notes workflows that ended without success and those whose code fails again and again, and ends the rows of work that has succeeded or was cancelled. */
export async function reconcileWork(deps: Dependencies): Promise<void> {
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    deps.database.transact({ caller: systemCaller('failing work'), requestId: `work-${newId()}` }, work);
  const unknown: WorkFailure[] = [];
  for await (const page of endedRuns(deps)) {
    unknown.push(...(await transact((unit) => unknownFailures(unit, page))));
    if (unknown.length >= compared) break;
  }
  const noted = await Promise.all(
    unknown.slice(0, compared).map(async (failure) => ({ ...failure, error: await reasonOf(failure, deps) })),
  );
  const stuck = await stuckRuns(deps);
  await transact((unit) => noteFailures(unit, [...noted, ...stuck]));

  const before = new Date(deps.database.options.clock.now().getTime() - freshMs);
  const rows = await transact((unit) => oldestFailures(unit, { before, limit: compared }));
  const verdicts = await Promise.all(rows.map(async (row) => ({ key: row.key, verdict: await verdictOn(row, deps) })));
  const keysOf = (wanted: Verdict) => verdicts.filter(({ verdict }) => verdict === wanted).map(({ key }) => key);
  await transact(async (unit) => {
    await endFailures(unit, keysOf('ended'));
    await touchFailures(unit, keysOf('open'), keysOf('failed'));
  });
}

/** Pages of runs, the newest first. Runs of schedules are left out: the next run does the same work, and its activities are noted when they fail. */
async function* endedRuns({ database, temporal }: Dependencies): AsyncGenerator<WorkFailure[]> {
  const since = new Date(database.options.clock.now().getTime() - lookBackMs).toISOString();
  const query = `WorkflowId STARTS_WITH "${temporal.settings.prefix}/" AND ExecutionStatus IN ("Failed", "TimedOut", "Terminated") AND TemporalScheduledById IS NULL AND CloseTime > "${since}"`;
  const runs = temporal.client.workflow.list({ query, pageSize: listed })[Symbol.asyncIterator]();
  let hasMore = true;
  while (hasMore) {
    const page = await temporal.call('list workflows', async () => {
      const found: WorkFailure[] = [];
      while (found.length < listed) {
        const { done, value } = await runs.next();
        if (done) break;
        found.push(failureOf(value));
      }
      return found;
    });
    hasMore = page.length === listed;
    yield page;
  }
}

function failureOf(run: Omit<WorkflowExecutionInfo, 'raw'>): WorkFailure {
  const { workflowId, runId, type, status, closeTime, startTime } = run;
  return {
    ...placeOfWork({ workflowId, runId, workflowType: type }, null),
    ...searchValuesOf(run),
    status: 'failed',
    attempts: null,
    error: status.name,
    nextAttemptAt: null,
    at: closeTime ?? startTime,
  };
}

/** Runs of which Temporal reports that attempt after attempt at their code fails. It tries them again until they are terminated. */
async function stuckRuns({ database, temporal, logger }: Dependencies): Promise<WorkFailure[]> {
  const { workflow } = temporal.client;
  const query = `WorkflowId STARTS_WITH "${temporal.settings.prefix}/" AND ExecutionStatus = "Running" AND TemporalReportedProblems IN ("category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut")`;
  const at = database.options.clock.now();
  const found: WorkFailure[] = [];
  try {
    await temporal.call('list workflows', async () => {
      for await (const { workflowId, runId } of workflow.list({ query, pageSize: compared })) {
        // The list may be older than what an operator has done since.
        const run = await workflow.getHandle(workflowId, runId).describe();
        const problems = problemsOf(run);
        if (run.status.name === 'RUNNING' && problems.length > 0) {
          const error = `its code fails: ${problems.join(', ')}`.slice(0, 500);
          found.push({ ...failureOf(run), status: 'failing', error, at });
        }
        if (found.length === compared) break;
      }
    });
  } catch (error) {
    if (!isRefused(error)) throw error;
    logger.warn({ err: error }, 'Temporal reports no problems of workflows; those whose code fails are not listed');
  }
  return found;
}

/** Why a run ended; its failures carry codes, and messages that are safe to show. */
async function reasonOf({ workflowId, runId, error }: WorkFailure, { temporal }: Dependencies): Promise<string> {
  const handle = temporal.client.workflow.getHandle(workflowId, runId, { followRuns: false });
  try {
    await temporal.call('read the result of a workflow', () => handle.result());
    return error;
  } catch (failure) {
    let reason = failure;
    while (reason instanceof Error && reason.cause instanceof Error) reason = reason.cause;
    return `${error}: ${(reason as Error).message}`.slice(0, 500);
  }
}

type Verdict = 'open' | 'failed' | 'ended';

/** @returns `ended` when the work has succeeded, was cancelled, or is gone */
async function verdictOn(
  { workflowId, runId, activity, status, kind }: ListedFailure,
  { temporal }: Dependencies,
): Promise<Verdict> {
  const { workflow } = temporal.client;
  try {
    const latest = await temporal.call('find a workflow', () => workflow.getHandle(workflowId).describe());
    if (latest.runId !== runId && latest.status.name === 'COMPLETED') return 'ended';
    const run =
      latest.runId === runId
        ? latest
        : await temporal.call('find a workflow', () => workflow.getHandle(workflowId, runId).describe());
    if (run.status.name === 'CANCELLED') return 'ended';
    if (activity === null && (run.status.name === 'COMPLETED' || run.status.name === 'CONTINUED_AS_NEW'))
      return 'ended';
    if (run.status.name === 'RUNNING') {
      if (activity === null && status === 'failing') return problemsOf(run).length > 0 ? 'open' : 'ended';
      // An activity that is not pending has succeeded, or is a local one, which is noted again when it fails again.
      const isPending = (run.raw.pendingActivities ?? []).some(({ activityType }) => activityType?.name === activity);
      return status === 'failed' || isPending ? 'open' : 'ended';
    }
    // A run that has succeeded has no failing activity.
    if (run.status.name === 'COMPLETED' && status === 'failing') return 'ended';
    // The next run of a schedule has the same work to do.
    return status === 'failed' || kind === 'schedule' ? 'open' : 'failed';
  } catch (error) {
    if (isUnknownWorkflow(error)) return 'ended';
    throw error;
  }
}
