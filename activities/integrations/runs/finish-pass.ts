import { kindsToIngest } from '../ingest/ingested-kinds.ts';
import type { IngestedKind, IngestOperation } from '../../clients/integrations/definition.ts';
import { directorySyncRun } from '#entities/integrations/directory-sync-run.ts';
import { endRun, type Run } from '#entities/integrations/runs/end-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { addRemoved, addToPass } from '#entities/integrations/run-progress-rows.ts';
import { countUnseen, unseenRecords } from '#entities/integrations/run-sighting-rows.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { maxRows } from '#entities/kit/write/change-counters.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { runningRun, transact, type RunDependencies } from './run-work.ts';

/** Part of the records of a kind that a pass removes without asking. */
const maxRemovedPart = 0.5;

/**
 * Ends a pass whose last page was taken over: removes what the other system no longer has, unless a record could not be taken over. A pass that
 * would remove more than half of the accounts, groups or memberships waits for a person.
 * @returns false when the time is over before everything is removed
 */
export async function finishPass(
  dependencies: RunDependencies,
  { id: runId }: Run,
  { ingests, isPartial }: Pick<IngestOperation, 'ingests' | 'isPartial'>,
  endsAt: number,
): Promise<boolean> {
  // Memberships first: those of a removed account are removed with it, without an event.
  const kinds = ingests.toSorted((one, other) => order.indexOf(other) - order.indexOf(one));
  const isToRemove = await transact(dependencies, (unit) =>
    isPartial ? keepAll(unit, runId) : decide(unit, runId, kinds),
  );
  if (!isToRemove) return true;
  for (const kind of kinds)
    for (;;) {
      const removed = await transact(dependencies, (unit) => removeChunk(unit, runId, kind));
      failpoint('integration-records-removed');
      if (removed === undefined) return true;
      if (removed < maxRows) break;
      if (performance.now() >= endsAt) return false;
    }
  await transact(dependencies, async (unit) => {
    const run = await runningRun(unit, runId);
    if (run) await endRun(unit, run, { status: 'succeeded' });
  });
  return true;
}

const order = Object.keys(kindsToIngest) as IngestedKind[];

/** Ends a pass over a directory that lists only some of its records. @returns that nothing is removed */
async function keepAll(unit: UnitOfWork, runId: string): Promise<false> {
  const run = await runningRun(unit, runId);
  const incompleteness = 'The other system lists only some of its records, so those that were brought in before stay.';
  if (run) await endRun(unit, run, { status: 'succeeded', incompleteness });
  return false;
}

/** @returns whether the records that were not seen are removed */
async function decide(unit: UnitOfWork, runId: string, kinds: readonly IngestedKind[]): Promise<boolean> {
  const run = await runningRun(unit, runId);
  if (!run) return false;
  if (run.failedRecords > 0) {
    const incompleteness = `${run.failedRecords} ${run.failedRecords === 1 ? 'record' : 'records'} could not be taken over, so nothing was removed. The run names them, each with the reason; correct them at the other system or change the filter.`;
    await endRun(unit, run, { status: 'succeeded', incompleteness });
    return false;
  }
  let removals = 0;
  let isMany = false;
  for (const kind of kinds) {
    const { unseen, before } = await countUnseen(unit, kindsToIngest[kind].module, begunRun(run));
    removals += unseen;
    isMany ||= unseen > before * maxRemovedPart;
  }
  if (!isMany || removals <= run.pendingRemovals) return true;
  const waiting = await unit.data.update(integrationRun, runId, { status: 'waiting', pendingRemovals: removals });
  const pass = await unit.data.findOne(directorySyncRun, { runId: { eq: runId } });
  if (pass) await unit.data.update(directorySyncRun, pass.id, { status: 'waiting' });
  unit.emit(customEvent(integrationRun, 'ended', waiting, { status: 'waiting' }));
  return false;
}

/** @returns how many were removed; undefined when the run was ended meanwhile */
async function removeChunk(unit: UnitOfWork, runId: string, kind: IngestedKind): Promise<number | undefined> {
  const run = await runningRun(unit, runId);
  if (!run) return undefined;
  const { module, removed } = kindsToIngest[kind];
  const ids = await unseenRecords(unit, module, begunRun(run), maxRows);
  if (ids.length === 0) return 0;
  await unit.data.removeAll(module, ids);
  await addToPass(unit, runId, removed, ids.length);
  await addRemoved(unit, runId, ids.length);
  return ids.length;
}

function begunRun({ id, integrationId, startedAt, createdAt }: Run) {
  return { id, integrationId, startedAt: startedAt ?? createdAt };
}
