import { workContext } from '../../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../../kit/activity-dependencies.ts';
import type { ProviderAccess } from '../../clients/integrations/provider-access.ts';
import { integrationRun } from '#entities/integrations/integration-run.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Run } from '#entities/integrations/runs/end-run.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

export interface RunDependencies extends Pick<ActivityDependencies, 'database' | 'expressions'> {
  /** The way to the other systems of integrations. */
  readonly integrations: Pick<ProviderAccess, 'use'>;
}

/** Result of a call of `advanceRun`. */
export interface Advance {
  /** The run has ended, or waits for a person. */
  readonly isDone: boolean;
  /** Pause before the next call, in milliseconds: the other system has asked for it. */
  readonly pauseMs: number;
}

/** A transaction of the server itself. */
export function transact<T>(
  { database }: Pick<RunDependencies, 'database'>,
  work: (unit: UnitOfWork) => Promise<T>,
): Promise<T> {
  return database.transact(workContext(systemCaller('integration runs'), 'integration-runs'), work);
}

/** The run, locked, while it is in progress; undefined when the work is to stop. @param unit of the server */
export async function runningRun(unit: UnitOfWork, runId: string): Promise<Run | undefined> {
  const run = await unit.data.findLocked(integrationRun, runId);
  return run?.status === 'running' ? run : undefined;
}
