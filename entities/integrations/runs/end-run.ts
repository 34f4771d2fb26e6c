import type { RowOf } from '../../kit/model/define.ts';
import type { UnitOfWork } from '../../kit/unit/unit-of-work.ts';
import { customEvent } from '../../kit/write/custom-events.ts';
import { directorySyncRun } from '../directory-sync-run.ts';
import { integrationRun } from '../integration-run.ts';
import { forgetSightings } from '../run-sighting-rows.ts';

export type Run = RowOf<typeof integrationRun>;

/** An error with which a run ends. */
export interface RunError {
  readonly code: string;
  /** Sentences for people: the error, and the remedy. */
  readonly message: string;
}

const maxMessageLength = 2_000;

/** End of a run; `incompleteness`: why a run that succeeded says nothing about what is missing. */
interface RunEnd {
  readonly status: 'succeeded' | 'failed' | 'cancelled';
  readonly error?: RunError;
  readonly incompleteness?: string;
}

/** Ends a run that nobody has ended meanwhile. @param unit with the rights of the server */
export async function endOpenRun(unit: UnitOfWork, runId: string, end: RunEnd): Promise<void> {
  const run = await unit.data.findLocked(integrationRun, runId);
  if (run?.endedAt === null) await endRun(unit, run, end);
}

/**
 * Ends a run, and the pass over a directory that it makes.
 * @param unit with the rights of the server
 * @param run locked
 */
export async function endRun(unit: UnitOfWork, run: Run, { status, error, incompleteness }: RunEnd): Promise<void> {
  const data = unit.data.privileged('end integration run');
  const endedAt = unit.clock.now();
  const errorMessage = error?.message.slice(0, maxMessageLength).toWellFormed() ?? null;
  const ended = await data.update(integrationRun, run.id, {
    status,
    endedAt,
    cursor: null,
    openKey: null,
    pendingRemovals: 0,
    errorCode: error?.code ?? null,
    errorMessage,
  });
  const pass = await data.findOne(directorySyncRun, { runId: { eq: run.id } });
  if (pass)
    await data.update(directorySyncRun, pass.id, {
      status: status === 'succeeded' ? 'completed' : status,
      isComplete: status === 'succeeded' && incompleteness === undefined,
      errorMessage: incompleteness ?? errorMessage,
      endedAt,
    });
  await forgetSightings(unit, run.id);
  unit.emit(customEvent(integrationRun, 'ended', ended, { status }));
}
