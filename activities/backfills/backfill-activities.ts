import { systemCaller } from '#entities/kit/model/caller.ts';
import { backfillRun } from '#entities/organizations/backfill-run.ts';
import type { BackfillProgress, BackfillVersion } from '#workflows/maintenance/run-backfill-routine.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { BackfillPace, runSlice } from './backfill-slice.ts';
import { releaseBackfills } from './release-backfills.ts';

export type BackfillActivities = ReturnType<typeof createBackfillActivities>;

export const createBackfillActivities = defineActivities(
  ({ config, database }: Pick<ActivityDependencies, 'config' | 'database'>, pace = new BackfillPace()) => ({
    /** The backfills that the configuration wants, and of which neither this version nor a higher one is completed. */
    async wantedBackfills(): Promise<BackfillVersion[]> {
      const wanted = releaseBackfills.filter(({ isWanted }) => isWanted(config.current));
      if (!config.current.backfill.enabled || wanted.length === 0) return [];
      const context = workContext(systemCaller('backfill'), 'backfill');
      return database.transact(context, async ({ data }) => {
        const open: BackfillVersion[] = [];
        for (const { name, version } of wanted) {
          const where = { routine: { eq: name }, version: { gte: version }, status: { eq: 'completed' } } as const;
          if (!(await data.findOne(backfillRun, where))) open.push({ routine: name, version });
        }
        return open;
      });
    },

    /**
     * A higher version looks at all records again: a lower one stops.
     * @throws Error in a process of the previous release, which does not have the version: the next attempt may be made elsewhere
     */
    async backfillSlice({ routine, version }: BackfillVersion): Promise<BackfillProgress> {
      const backfill = releaseBackfills.find((one) => one.name === routine && one.version >= version);
      if (!backfill) throw new Error(`This release has no version ${version} of the backfill ${routine}.`);
      if (backfill.version > version) return { status: 'stopped', examined: 0, changed: 0, failed: 0 };
      return runSlice({ config, database, pace }, backfill);
    },
  }),
);
