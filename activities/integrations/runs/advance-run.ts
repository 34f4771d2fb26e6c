import { createHash } from 'node:crypto';
import {
  contextOf,
  type IngestOperation,
  type IntegrationDefinition,
  type Operation,
  type Page,
  type ProviderContext,
} from '../../clients/integrations/definition.ts';
import { ProviderError } from '../../clients/integrations/provider-error.ts';
import { kindsToIngest } from '../ingest/ingested-kinds.ts';
import { mapRecords, repetitionOf, type RecordFailure } from '../ingest/map-records.ts';
import { writeRecords } from '../ingest/write-records.ts';
import { directorySyncRun } from '#entities/integrations/directory-sync-run.ts';
import { endRun, type Run, type RunError } from '#entities/integrations/runs/end-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import type { integration } from '#entities/integrations/integration.ts';
import { addToPass, notePage, noteRunError, restartPass } from '#entities/integrations/run-progress-rows.ts';
import { endSurplusMemberships } from '#entities/integrations/connections/end-surplus-memberships.ts';
import { forgetSightings, noteSightings } from '#entities/integrations/run-sighting-rows.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { finishPass } from './finish-pass.ts';
import { placePauseMs, takePassPlace } from './pass-places.ts';
import { performOnce } from './perform-once.ts';
import { runningRun, transact, type Advance, type RunDependencies } from './run-work.ts';

type Integration = RowOf<typeof integration>;

interface AdvanceOptions {
  /** Time after which no further page is begun, in milliseconds. */
  readonly budgetMs: number;
  readonly signal?: AbortSignal;
}

/** Failures of records that a run keeps, and their size as JSON. */
const [maxFailures, maxFailureBytes] = [100, 60_000];

const maxCursorBytes = 65_536;

/** Most records of a page: it is mapped and written as a whole. The largest pages that providers document have 1,000. */
const maxPageRecords = 10_000;

/** How often a pass begins again because its position was not valid any more. */
const maxRestarts = 1;

/** Pause after a failure of the other system that names none, in milliseconds. */
const defaultPauseMs = 2_000;

const done: Advance = { isDone: true, pauseMs: 0 };

/**
 * Continues a run from its row: takes over page after page, each in one transaction together with the position after it, until the time is
 * over or the run has ended. An attempt that crashes is continued by the next one.
 * @throws ProviderError that a later attempt may not have, when nothing was taken over in this call
 */
export async function advanceRun(
  dependencies: RunDependencies,
  runId: string,
  options: AdvanceOptions,
): Promise<Advance> {
  const run = await transact(dependencies, (unit) => beginRun(unit, runId));
  if (!run) return done;
  const progress = { pages: 0 };
  try {
    return await dependencies.integrations.use(run.integrationId, (opened, row, definition) => {
      const operation = operationOf(definition, run);
      const context = contextOf(opened, operation);
      return operation.policy === 'inline'
        ? performOnce(dependencies, { run, context }, operation)
        : inItsPlace(() =>
            takePages(dependencies, { runId, context, row, definition, operation }, { ...options, progress }),
          );
    });
  } catch (error) {
    return handleFailure(dependencies, runId, error, progress.pages);
  }
}

/** Makes a pass if the process has a place for it; else it waits. */
async function inItsPlace(work: () => Promise<Advance>): Promise<Advance> {
  const leave = takePassPlace();
  if (!leave) return { isDone: false, pauseMs: placePauseMs };
  try {
    return await work();
  } finally {
    leave();
  }
}

/** Begins a run that nobody has begun. @returns undefined when there is nothing to do any more */
async function beginRun(unit: UnitOfWork, runId: string): Promise<Run | undefined> {
  const run = await unit.data.findLocked(integrationRun, runId);
  if (!run) await forgetSightings(unit, runId);
  if (run?.status !== 'pending') return run?.status === 'running' ? run : undefined;
  return unit.data.update(integrationRun, runId, { status: 'running', startedAt: unit.clock.now() });
}

interface OpenRun {
  readonly runId: string;
  readonly context: ProviderContext;
  readonly row: Integration;
  readonly definition: IntegrationDefinition;
  readonly operation: IngestOperation;
}

async function takePages(
  dependencies: RunDependencies,
  open: OpenRun,
  { budgetMs, signal, progress }: AdvanceOptions & { readonly progress: { pages: number } },
): Promise<Advance> {
  const endsAt = performance.now() + budgetMs;
  const { operation } = open;
  for (;;) {
    signal?.throwIfAborted();
    const run = await currentRun(dependencies, open.runId);
    if (run?.status !== 'running') return done;
    if (run.pages > 0 && run.cursor === null) {
      if (await finishPass(dependencies, run, operation, endsAt)) return done;
      return { isDone: false, pauseMs: 0 };
    }
    const input = (run.input ?? {}) as Readonly<Record<string, unknown>>;
    const page = await operation.readPage(open.context, input, run.cursor ?? undefined);
    failpoint('integration-page-read');
    refusePage(page);
    if (!(await takePage(dependencies, open, { run, page, operation }))) return done;
    failpoint('integration-page-taken');
    progress.pages += 1;
    if (performance.now() >= endsAt) return { isDone: false, pauseMs: 0 };
  }
}

function currentRun(dependencies: RunDependencies, runId: string): Promise<Run | undefined> {
  return transact(dependencies, (unit) => unit.data.findOne(integrationRun, { id: { eq: runId } }));
}

/** @throws ProviderError refused for an operation that the definition does not have any more */
function operationOf({ id, operations }: IntegrationDefinition, run: Run): Operation {
  const found = operations.find(({ name }) => name === run.operationName);
  if (found) return found;
  throw new ProviderError(
    'refused',
    `The integration ${id} has no operation "${run.operationName}" any more. Choose one of those that GET /v1/integration-definitions lists.`,
  );
}

/** @throws ProviderError refused */
function refusePage({ records, next }: Page): void {
  if (records.length > maxPageRecords)
    throw new ProviderError(
      'refused',
      `The other system sends a page of ${records.length} records, and the server takes at most ${maxPageRecords}. Report it to those who operate the server.`,
    );
  if (next === undefined || (next !== '' && Buffer.byteLength(next) <= maxCursorBytes)) return;
  throw new ProviderError(
    'refused',
    `The other system gives a position of ${Buffer.byteLength(next)} bytes, and the server keeps 1 to ${maxCursorBytes}. Report it to those who operate the server.`,
  );
}

/** Takes a page over, in one transaction with the position after it. @returns false when the run was ended, or continued elsewhere, meanwhile */
async function takePage(
  dependencies: RunDependencies,
  { row, definition }: OpenRun,
  { run, page, operation }: { readonly run: Run; readonly page: Page; readonly operation: IngestOperation },
): Promise<boolean> {
  const { organizationId, integrationId } = run;
  const owner = { organizationId, integrationId };
  const other = page.records.find(({ kind }) => !operation.ingests.includes(kind));
  if (other)
    throw new ProviderError(
      'invalid_answer',
      `The operation "${operation.name}" brings in ${other.kind} records, which it does not declare. Report it to those who operate the server.`,
    );
  const { filterExpr } = (row.userInput ?? {}) as { readonly filterExpr?: string };
  const { mappings } = definition;
  const mapped = await mapRecords(dependencies.expressions, { mappings, filterExpr, records: page.records, owner });
  return transact(dependencies, async (unit) => {
    const locked = await runningRun(unit, run.id);
    if (locked?.pages !== run.pages || locked.restarts !== run.restarts) return false;
    await refuseCircle(unit, run.id, page.next);
    if (operation.ingests.some((kind) => kind in kindsToIngest)) await beginPass(unit, locked);
    const {
      left,
      repeated: seenBefore,
      seen,
      ...counts
    } = await writeRecords(unit, { ...owner, runId: run.id }, mapped.records);
    // A repeated record says nothing against the completeness of the pass: its key was seen, and the other system has it.
    const repeated = [...mapped.repeated, ...seenBefore.map(repetitionOf)];
    await unit.flush();
    // In the same transaction: somebody who is inactive now has no rights with the next request, however long the pass takes.
    const among = seen.get('directoryAccount');
    let after = among === undefined ? undefined : '';
    while (after !== undefined) after = await endSurplusMemberships(unit, integrationId, { after, among });
    for (const [kind, ids] of seen)
      await addToPass(unit, run.id, kindsToIngest[kind].seen, await noteSightings(unit, run.id, kind, ids));
    await notePage(unit, run.id, {
      ...counts,
      read: page.records.length,
      filtered: mapped.filtered + left + repeated.length,
      failed: mapped.failures.length,
      failures: keptFailures(locked.failures as readonly RecordFailure[] | null, [...mapped.failures, ...repeated]),
      cursor: page.next ?? null,
    });
    return true;
  });
}

/** @throws ProviderError refused for a position that the run had before */
async function refuseCircle(unit: UnitOfWork, runId: string, next: string | undefined): Promise<void> {
  if (next === undefined) return;
  const digest = createHash('sha256').update(next).digest('base64url');
  if ((await noteSightings(unit, runId, 'cursor', [digest])) === 1) return;
  throw new ProviderError(
    'refused',
    'The other system gives the same page again and again, so the run would not end. Nothing was removed. Start the operation again later; if it happens again, ask the support of the other system.',
  );
}

async function beginPass({ data }: UnitOfWork, { id: runId, organizationId, integrationId }: Run): Promise<void> {
  if (await data.findOne(directorySyncRun, { runId: { eq: runId } })) return;
  await data.create(directorySyncRun, { organizationId, integrationId, runId });
}

/** The first failures of the run, as many as there is room for. */
function keptFailures(
  kept: readonly RecordFailure[] | null,
  failures: readonly RecordFailure[],
): readonly RecordFailure[] | null {
  if (failures.length === 0) return kept;
  const all = [...(kept ?? []), ...failures].slice(0, maxFailures);
  while (Buffer.byteLength(JSON.stringify(all)) > maxFailureBytes) all.pop();
  return all;
}

/**
 * Decides after an error: a passing one is tried again, an outdated position begins the pass again, any other one of the other system ends the
 * run.
 * @throws the error, for another attempt
 */
async function handleFailure(
  dependencies: RunDependencies,
  runId: string,
  error: unknown,
  takenPages: number,
): Promise<Advance> {
  const reason = reasonOf(error);
  if (!reason) throw error;
  if (error instanceof ProviderError && error.isPassing) {
    await transact(dependencies, (unit) => noteRunError(unit, runId, reason));
    if (takenPages === 0) throw error;
    return { isDone: false, pauseMs: error.retryAfterMs ?? defaultPauseMs };
  }
  return transact(dependencies, async (unit) => {
    const run = await runningRun(unit, runId);
    if (!run) return done;
    if (reason.code === 'cursor_expired' && run.restarts < maxRestarts) {
      await restartPass(unit, runId);
      await forgetSightings(unit, runId);
      return { isDone: false, pauseMs: 0 };
    }
    await endRun(unit, run, { status: 'failed', error: reason });
    return done;
  });
}

/** The reason for people; undefined for an error of the server itself. */
function reasonOf(error: unknown): RunError | undefined {
  if (error instanceof ProviderError) return { code: error.code, message: error.message };
  return isAppError(error) && error.code === 'integration_not_connected'
    ? { code: error.code, message: error.message }
    : undefined;
}
