import { concurrently } from '#entities/kit/base/concurrently.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SentNotifications } from '#workflows/notifications/send-due-notifications.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sentChannel, type StartWorkflow } from '../listeners/notifications/channels.ts';
import { claimDue, claimLeft } from './claim-due.ts';

export type NotificationsActivities = ReturnType<typeof createNotificationsActivities>;

/** Workflows that are started at the same time. */
const maxStarts = 20;

export const createNotificationsActivities = defineActivities(
  ({ database, temporal }: Pick<ActivityDependencies, 'database' | 'temporal'>) => {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      database.transact(workContext(systemCaller('send notifications'), 'send-notifications'), work);

    /** Starts what channels ask for, after the rows that say so were committed. */
    const startAll = async <T extends { readonly channel: string; readonly organizationId: string }>(
      items: readonly T[],
      send: (item: T, start: StartWorkflow) => void,
    ): Promise<void> => {
      const starts: (() => Promise<unknown>)[] = [];
      for (const item of items) {
        const search = { OrganizationId: [item.organizationId] };
        send(item, (contract, input) => starts.push(() => temporal.start(contract, input, { search })));
      }
      await concurrently(starts, maxStarts, (start) => start());
    };

    return {
      /** Takes what is due, a few hundred people at a time, until there is nothing left. */
      async sendDueNotifications(): Promise<SentNotifications> {
        let [due, single, digests] = [0, 0, 0];
        for (let hasMore = true; hasMore;) {
          const left = await transact(claimLeft);
          const claimed = await transact(claimDue);
          failpoint('notifications-claimed');
          await startAll(claimed.single, (sending, start) => sentChannel(sending.channel).sendOne(sending, start));
          const made = [...left, ...claimed.digests];
          await startAll(made, (digest, start) => sentChannel(digest.channel).sendDigest(digest, start));
          due += claimed.due;
          single += claimed.single.length;
          digests += made.length;
          hasMore = claimed.due > 0 || left.length > 0;
        }
        return { due, single, digests };
      },
    };
  },
);
