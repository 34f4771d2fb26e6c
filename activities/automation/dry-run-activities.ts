import { currentOrigin, workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { workflowDryRun } from '#entities/automation/workflow-dry-run.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { tryNextChanges } from './try-next-changes.ts';

export type DryRunActivities = ReturnType<typeof createDryRunActivities>;

interface DryRunReference {
  readonly dryRunId: string;
}

/** Trials of definitions over past changes. */
export const createDryRunActivities = defineActivities(
  ({ database, expressions }: Pick<ActivityDependencies, 'database' | 'expressions'>) => {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>, organizationId?: string): Promise<T> =>
      database.transact(workContext(systemCaller('dry run', organizationId), 'dry-run'), work);
    return {
      /** @returns whether the dry run has ended: it is complete, or was deleted */
      tryPage: async ({ dryRunId }: DryRunReference): Promise<boolean> => {
        const found = await transact(({ data }) => data.findOne(workflowDryRun, { id: { eq: dryRunId } }));
        if (!found) return true;
        // The rights of people are those in the organization.
        return transact(async (unit) => {
          const row = await unit.data.findLocked(workflowDryRun, dryRunId);
          if (row?.status !== 'running') return true;
          const changes = await tryNextChanges(unit, expressions, row);
          await unit.data.update(workflowDryRun, dryRunId, changes);
          return changes.status === 'completed';
        }, found.organizationId);
      },

      failDryRun: ({ dryRunId }: DryRunReference): Promise<void> =>
        transact(async (unit) => {
          const row = await unit.data.findLocked(workflowDryRun, dryRunId);
          if (row?.status !== 'running') return;
          const { requestId } = currentOrigin() ?? {};
          const named = requestId === undefined ? '' : `, and say the id of the request: ${requestId}`;
          const errorMessage = `The server could not try the definition. Ask for a new dry run later; if it fails again, ask those who operate the server${named}.`;
          await unit.data.update(workflowDryRun, dryRunId, {
            status: 'failed',
            errorMessage,
            finishedAt: unit.clock.now(),
          });
        }),
    };
  },
);
