import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sweepTime } from '../kit/sweep-time.ts';
import { workflowRetentionMs } from '../clients/temporal/temporal-admin.ts';
import { prunedRecords } from './pruned-records.ts';
import { reconcileWork } from './reconcile-work.ts';
import { resealSecretsPage } from './reseal-secrets-page.ts';
import { resumeDeliveries } from '../events/resume-deliveries.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { ResealCursor, ResealedSecrets } from '#workflows/maintenance/reseal-secrets.contract.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { pruneFailures } from '#entities/kit/outbox/failing-work.ts';
import { pruneAccountRates } from '#entities/integrations/account-rate-rows.ts';
import { pruneSightings } from '#entities/integrations/run-sighting-rows.ts';
import { removeReceivedEvents } from '#entities/integrations/received-event-rows.ts';
import { pruneMessages } from '#entities/webhooks/webhook-message-rows.ts';
import { pruneRepairs } from '#entities/kit/outbox/delivery-repairs.ts';
import { pruneSystemMessages } from '#entities/notifications/system-message-rows.ts';
import { pruneRecords } from '#entities/kit/outbox/old-records.ts';
import { pruneSendings } from '#entities/notifications/notification-sending-rows.ts';
import { pruneLeftPages } from '#entities/transfers/export-page-rows.ts';
import { pruneReminders } from '#entities/work/task-reminder-rows.ts';
import { maintainPartitions, partitionMaintenance } from '#entities/kit/outbox/outbox.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/** History is an audit record: it is kept for ten years. */
const historyRetentionMs = 10 * 365 * 86_400_000;

export type MaintenanceActivities = ReturnType<typeof createMaintenanceActivities>;

/** Regular maintenance of an installation. */
export const createMaintenanceActivities = defineActivities(
  (
    deps: Omit<
      ActivityDependencies,
      | 'store'
      | 'endedSessions'
      | 'storage'
      | 'storageMetrics'
      | 'fileReceiver'
      | 'contextOfCallers'
      | 'payment'
      | 'textRecords'
      | 'onBillingRepaired'
      | 'onSwept'
    >,
  ) => {
    const { config, database, logger } = deps;
    let reconciledAt = -Infinity;
    const positions = { failing: {}, held: {} };
    const now = () => sweepTime(deps);
    const retention = { eventsMs: workflowRetentionMs(config.current.jobqueue), historyMs: historyRetentionMs };
    return {
      /** Restarts what was left behind; the counts are shown in the Temporal UI. A part that fails does not stop the others. */
      async sweepOutbox(): Promise<{ batches: number; deliveries: number; tuples: number }> {
        const { RescueStuckJobsAfter, JobTimeout } = config.current.jobqueue.queueconf;
        const before = new Date(now().getTime() - RescueStuckJobsAfter);
        const parts = await Promise.allSettled([
          deps.sweepEvents(before),
          resumeDeliveries(deps, before, { timeoutMs: JobTimeout, positions }),
          deps.applyTuples(),
          isDue(reconciledAt) ? reconcileWork(deps).then(() => (reconciledAt = performance.now())) : undefined,
        ]);
        // The attempt fails with the first of them only.
        for (const part of parts)
          if (part.status === 'rejected') logger.error({ err: part.reason }, 'a part of the sweep failed');
        const [batches, deliveries, tuples, work] = parts;
        valueOf(work);
        return { batches: valueOf(batches), deliveries: valueOf(deliveries), tuples: valueOf(tuples) };
      },

      async pruneRecords({ timeoutMs }: { readonly timeoutMs: number }): Promise<void> {
        const context = {
          caller: systemCaller('prune records'),
          requestId: `prune-${newId()}`,
          deadline: Date.now() + timeoutMs,
        };
        // Events and deliveries are kept as long as ended workflows stay visible.
        const at = now();
        await database.transact(context, (unit) => maintainPartitions(unit, at, retention));
        // Half of the time is enough for the other parts, and what is left over is removed an hour later.
        const endsAt = Date.now() + timeoutMs / 2;
        const parts: readonly ((unit: UnitOfWork) => Promise<boolean>)[] = [
          (unit) => pruneMessages(unit, at),
          (unit) => pruneSendings(unit, at),
          (unit) => pruneReminders(unit, at),
          pruneLeftPages,
          ...prunedRecords.map((records) => (unit: UnitOfWork) => pruneRecords(unit, records, at)),
          (unit) => removeReceivedEvents(unit),
          (unit) => pruneSystemMessages(unit, at),
          pruneSightings,
          pruneAccountRates,
          (unit) => pruneFailures(unit, at),
          (unit) => pruneRepairs(unit, new Date(at.getTime() - historyRetentionMs)),
        ];
        // A batch of each in turn, so that none of them waits for all of another.
        for (let left = parts; left.length > 0 && Date.now() < endsAt;) {
          const full: (typeof left)[number][] = [];
          for (const part of left) if (await database.transact(context, part)) full.push(part);
          left = full;
        }
        await database.options.hook?.maintain(partitionMaintenance(at, retention));
      },

      resealSecrets({ cursor }: { readonly cursor?: ResealCursor }): Promise<ResealedSecrets> {
        return resealSecretsPage({ config, database }, cursor);
      },
    };
  },
);

/** Shortest time between two comparisons of failing work with its workflows in one process, in milliseconds. */
const reconcileEveryMs = 60_000;

function isDue(at: number): boolean {
  return performance.now() - at >= reconcileEveryMs;
}

function valueOf<T>(result: PromiseSettledResult<T>): T {
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}
