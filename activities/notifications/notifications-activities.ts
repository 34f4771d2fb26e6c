import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { failUnknownDigests } from '#entities/notifications/notification-digest-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { SentNotifications } from '#workflows/notifications/send-due-notifications.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sentChannelNames, unknownChannel } from '../mails/channels.ts';
import { claimDue } from './claim-due.ts';

export type NotificationsActivities = ReturnType<typeof createNotificationsActivities>;

export const createNotificationsActivities = defineActivities(
  ({ database, wakeRelays }: Pick<ActivityDependencies, 'database' | 'wakeRelays'>) => {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      database.transact(workContext(systemCaller('send notifications'), 'send-notifications'), work);

    return {
      /** Plans what is due, a few hundred people at a time, until there is nothing left. Its messages are due work. */
      async sendDueNotifications(): Promise<SentNotifications> {
        let [due, single, digests] = [0, 0, 0];
        await transact((unit) => failUnknownDigests(unit, sentChannelNames, unknownChannel));
        for (let hasMore = true; hasMore;) {
          const claimed = await transact(claimDue);
          failpoint('notifications-claimed');
          if (claimed.single > 0 || claimed.digests > 0) wakeRelays();
          due += claimed.due;
          single += claimed.single;
          digests += claimed.digests;
          hasMore = claimed.due > 0;
        }
        return { due, single, digests };
      },
    };
  },
);
