import { systemCaller } from '#entities/kit/caller.ts';
import type { Database } from '#entities/kit/database.ts';
import { newId } from '#entities/kit/ids.ts';
import { maintainPartitions } from '#entities/kit/outbox.ts';

export interface MaintenanceDependencies {
  readonly database: Database;
  /** Starts what a crash left behind; returns how many batches. */
  readonly relay: { sweep(): Promise<number> };
  /** Brings the authorization store to the desired tuples; returns how many were written. */
  readonly tuples: { apply(): Promise<number> };
  /** How long events and their deliveries are kept after they settled, and history, in milliseconds. */
  readonly keep: () => { readonly eventsMs: number; readonly historyMs: number };
}

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

export function createMaintenanceActivities({ database, relay, tuples, keep }: MaintenanceDependencies) {
  return {
    /** Restarts what was left behind; the counts are the result in the UI. */
    async sweepOutbox(): Promise<{ batches: number; tuples: number }> {
      const batches = await relay.sweep();
      return { batches, tuples: await tuples.apply() };
    },

    async pruneRecords(): Promise<void> {
      await database.transact({ caller: systemCaller('prune records'), requestId: `prune-${newId()}` }, (unit) =>
        maintainPartitions(unit, keep()),
      );
    },
  };
}
