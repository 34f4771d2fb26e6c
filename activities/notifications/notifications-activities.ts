import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { SendingAddress } from '#entities/notifications/notification-sending-rows.ts';
import type { DueCursor } from '#entities/work/task-reminder-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { RemindedTasks } from '#workflows/notifications/remind-due-tasks.contract.ts';
import type { SentNotifications } from '#workflows/notifications/send-due-notifications.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sentChannel, type StartWorkflow } from '../mails/channels.ts';
import { claimDue, claimLeft } from './claim-due.ts';
import { remindPage, type RemindedPage } from './remind-page.ts';

export type NotificationsActivities = ReturnType<typeof createNotificationsActivities>;

/** Workflows that are started at the same time. */
const maxStarts = 20;

export const createNotificationsActivities = defineActivities(
  ({ database, temporal }: Pick<ActivityDependencies, 'database' | 'temporal'>) => {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      database.transact(workContext(systemCaller('send notifications'), 'send-notifications'), work);

    /** Starts the workflow of each message, after the rows that say so were committed. */
    const startAll = <T extends SendingAddress>(
      items: readonly T[],
      send: (item: T, start: StartWorkflow) => Promise<unknown>,
    ): Promise<unknown> =>
      concurrently(items, maxStarts, (item) => {
        const search = { OrganizationId: [item.organizationId] };
        return send(item, (contract, input) => temporal.start(contract, input, { search }));
      });

    return {
      /** Takes what is due, a few hundred people at a time, until there is nothing left. */
      async sendDueNotifications(): Promise<SentNotifications> {
        let [due, single, digests] = [0, 0, 0];
        for (let hasMore = true; hasMore;) {
          const left = await transact(claimLeft);
          const claimed = await transact(claimDue);
          failpoint('notifications-claimed');
          const made = [...left, ...claimed.digests];
          await startAll(claimed.single, (sending, start) => sentChannel(sending.channel).sendOne(sending, start));
          await startAll(made, (digest, start) => sentChannel(digest.channel).sendDigest(digest, start));
          due += claimed.due;
          single += claimed.single.length;
          digests += made.length;
          hasMore = claimed.due > 0 || left.length > 0;
        }
        return { due, single, digests };
      },

      /** Announces tasks that are due or overdue, page by page. */
      async remindDueTasks(): Promise<RemindedTasks> {
        let reminded = 0;
        for (let after: DueCursor | undefined, isFirst = true; isFirst || after; isFirst = false) {
          const page: RemindedPage = await transact((unit) => remindPage(unit, after));
          reminded += page.reminded;
          after = page.next;
        }
        return { reminded };
      },
    };
  },
);
