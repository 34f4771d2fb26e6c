import type { Logger } from 'pino';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Database } from '#entities/kit/unit/database.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { maintainPartitions } from '#entities/kit/outbox/outbox.ts';

export interface MaintenanceDependencies {
  readonly database: Database;
  readonly logger: Logger;
  /** What sweeps take as now. */
  readonly now: () => Date;
  /** Age in milliseconds at which work counts as left behind (`jobqueue.queueconf.RescueStuckJobsAfter`). */
  readonly rescueAfterMs: () => number;
  /** Starts batches of events that were claimed before and not delivered; returns how many. */
  readonly sweepEvents: (before: Date) => Promise<number>;
  /** Brings back workflows of open deliveries; returns how many. */
  readonly resumeDeliveries: (before: Date) => Promise<number>;
  /** Brings the authorization store to the desired tuples; returns how many were written. */
  readonly applyTuples: () => Promise<number>;
  /** How long events with their deliveries are kept, and history, in milliseconds. */
  readonly keep: () => { readonly eventsMs: number; readonly historyMs: number };
}

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** What an installation does by itself from time to time. */
export function createMaintenanceActivities(deps: MaintenanceDependencies) {
  return {
    /** Restarts what was left behind; the counts are the result in the UI. One part that is away does not stop the others. */
    async sweepOutbox(): Promise<{ batches: number; deliveries: number; tuples: number }> {
      const before = new Date(deps.now().getTime() - deps.rescueAfterMs());
      const parts = await Promise.allSettled([
        deps.sweepEvents(before),
        deps.resumeDeliveries(before),
        deps.applyTuples(),
      ]);
      // The attempt fails with the first of them only.
      for (const part of parts)
        if (part.status === 'rejected') deps.logger.error({ err: part.reason }, 'a part of the sweep failed');
      const [batches, deliveries, tuples] = parts;
      return { batches: valueOf(batches), deliveries: valueOf(deliveries), tuples: valueOf(tuples) };
    },

    async pruneRecords({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
      const context = {
        caller: systemCaller('prune records'),
        requestId: `prune-${newId()}`,
        deadline: Date.now() + timeoutMs,
      };
      await deps.database.transact(context, (unit) => maintainPartitions(unit, deps.now(), deps.keep()));
    },
  };
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
