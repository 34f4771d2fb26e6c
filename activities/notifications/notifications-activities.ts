import { compareText } from '#entities/kit/base/compare-text.ts';
import { concurrently } from '#entities/kit/base/concurrency/concurrently.ts';
import { failpoint } from '#entities/kit/base/failpoint.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { Digest } from '#entities/kit/outbox/notification-digests.ts';
import type { DueCursor } from '#entities/kit/outbox/task-reminders.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import type { RemindedTasks } from '#workflows/notifications/remind-due-tasks.contract.ts';
import type { SentNotifications } from '#workflows/notifications/send-due-notifications.contract.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import { defineActivities, type ActivityDependencies } from '../kit/activity-dependencies.ts';
import { sentChannel, type StartWorkflow } from '../listeners/notifications/channels.ts';
import { claimDue, claimLeft } from './claim-due.ts';
import { remindPage, type RemindedPage } from './remind-page.ts';

export type NotificationsActivities = ReturnType<typeof createNotificationsActivities>;

/** Workflows that are started at the same time. */
const maxStarts = 20;

/** Organizations of which a workflow can be found; a list of more is refused. */
const maxOrganizations = 50;

interface Starting<T> {
  readonly organizationsOf: (item: T) => readonly string[];
  readonly send: (item: T, start: StartWorkflow) => void;
}

interface DigestBatch {
  readonly channel: string;
  readonly digests: readonly Digest[];
}

export const createNotificationsActivities = defineActivities(
  ({ database, temporal }: Pick<ActivityDependencies, 'database' | 'temporal'>) => {
    const transact = <T>(work: (unit: UnitOfWork) => Promise<T>): Promise<T> =>
      database.transact(workContext(systemCaller('send notifications'), 'send-notifications'), work);

    /** Starts what channels ask for, after the rows that say so were committed. */
    const startAll = async <T>(items: readonly T[], { organizationsOf, send }: Starting<T>): Promise<void> => {
      const starts: (() => Promise<unknown>)[] = [];
      for (const item of items) {
        const search = { OrganizationId: organizationsOf(item) };
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
          await startAll(claimed.single, {
            organizationsOf: ({ organizationId }) => [organizationId],
            send: (sending, start) => sentChannel(sending.channel).sendOne(sending, start),
          });
          const made = [...left, ...claimed.digests];
          await startAll(inBatches(made), {
            organizationsOf: ({ digests: batch }) => organizationsOf(batch),
            send: ({ channel, digests: batch }, start) => sentChannel(channel).sendDigests(batch, start),
          });
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

/** Digests that are sent together: of one channel, and those of an organization beside each other. */
function inBatches(digests: readonly Digest[]): DigestBatch[] {
  return [...Map.groupBy(digests, ({ channel }) => channel)].flatMap(([channel, own]) => {
    const { digestsAtOnce } = sentChannel(channel);
    const batches: Digest[][] = [];
    for (const digest of own.toSorted((a, b) => compareText(a.organizationId, b.organizationId))) {
      const last = batches.at(-1);
      const isFull =
        !last || last.length === digestsAtOnce || organizationsOf([...last, digest]).length > maxOrganizations;
      if (isFull) batches.push([digest]);
      else last.push(digest);
    }
    return batches.map((batch) => ({ channel, digests: batch }));
  });
}

function organizationsOf(digests: readonly Digest[]): string[] {
  return [...new Set(digests.map(({ organizationId }) => organizationId))];
}
