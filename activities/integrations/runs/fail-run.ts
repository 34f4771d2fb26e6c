import { currentOrigin } from '../../clients/temporal/work-origin.ts';
import { endRun } from '#entities/integrations/runs/end-run.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { transact, type RunDependencies } from './run-work.ts';

/** Ends a run whose attempts have failed, with the reason of the last one. */
export function failRun(dependencies: Pick<RunDependencies, 'database'>, runId: string): Promise<void> {
  return transact(dependencies, (unit) => failInUnit(unit, runId));
}

/** @param unit of the server */
export async function failInUnit(unit: UnitOfWork, runId: string): Promise<void> {
  const run = await unit.data.findLocked(integrationRun, runId);
  if (!run || run.endedAt !== null || run.status === 'waiting') return;
  const { errorCode, errorMessage } = run;
  const error =
    errorCode === null || errorMessage === null
      ? { code: 'internal', message: internalMessage() }
      : { code: errorCode, message: errorMessage };
  await endRun(unit, run, { status: 'failed', error });
}

function internalMessage(): string {
  const { requestId } = currentOrigin() ?? {};
  const named = requestId === undefined ? '' : `, and say the id of the request: ${requestId}`;
  return `The server could not do the work. Start the operation again later; if it fails again, ask those who operate the server${named}.`;
}
