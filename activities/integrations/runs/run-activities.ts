import { Context } from '@temporalio/activity';
import { directorySyncRun } from '#entities/integrations/directory-sync-run.ts';
import { noteArrival } from '#entities/integrations/sync-time-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { defineActivities } from '../../kit/activity-dependencies.ts';
import { advanceRun } from './advance-run.ts';
import { failRun } from './fail-run.ts';
import { retriedAsAsked } from './retried-as-asked.ts';
import { transact, type Advance, type RunDependencies } from './run-work.ts';

/** When records last came in; the rounds of loops note that themselves. */
async function noteArrivalOf(unit: UnitOfWork, runId: string): Promise<void> {
  const pass = await unit.data.findOne(directorySyncRun, { runId: { eq: runId } });
  if (pass?.status === 'completed' || pass?.status === 'waiting') await noteArrival(unit, pass.integrationId);
}

export type RunActivities = ReturnType<typeof createRunActivities>;

/** Runs of operations that bring records in. */
export const createRunActivities = defineActivities((dependencies: RunDependencies) => ({
  /** Continues a run from its row until it has ended or half of the time of the attempt is over. */
  advanceIntegrationRun: ({
    runId,
    budgetMs,
  }: {
    readonly runId: string;
    readonly budgetMs: number;
  }): Promise<Advance> =>
    retriedAsAsked(async () => {
      const { cancellationSignal: signal } = Context.current();
      const advance = await advanceRun(dependencies, runId, { budgetMs, signal });
      if (advance.isDone) await transact(dependencies, (unit) => noteArrivalOf(unit, runId));
      return advance;
    }),

  /** Ends a run that was tried often enough. */
  failIntegrationRun: ({ runId }: { readonly runId: string }): Promise<void> => failRun(dependencies, runId),
}));
