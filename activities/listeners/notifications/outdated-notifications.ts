import type { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationKinds } from './notification-kinds.ts';
import type { Recipient } from './recipient.ts';

/** Rows that one statement reads. */
const pageSize = 5_000;

type Notification = Pick<RowOf<typeof notification>, 'id' | 'topic' | 'targetId'>;

/** Notifications of one recipient. */
interface AddressedNotifications {
  readonly recipient: Pick<Recipient, 'person' | 'locale'>;
  readonly about: readonly Notification[];
}

/** Ids of those of some notifications that no longer apply to their record: they are sent no more (`stillApplies`). */
export async function outdatedAmong(
  { data, clock }: UnitOfWork,
  told: readonly AddressedNotifications[],
): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  const now = clock.now();
  const notifications = told.flatMap(({ recipient: { person, locale }, about }) =>
    about.map((one) => ({ ...one, reader: { userId: person.id, timeZone: locale.timeZone, now } })),
  );
  for (const { topic, about, stillApplies } of notificationKinds) {
    const own = notifications.filter((one) => one.topic === topic);
    if (!stillApplies || own.length === 0) continue;
    const ids = [...new Set(own.flatMap(({ targetId }) => targetId ?? []))];
    const records = new Map<string, RowOf<typeof about>>();
    for (let from = 0; from < ids.length; from += pageSize) {
      const page = ids.slice(from, from + pageSize);
      for (const row of await data.find(about, { where: { id: { in: page } }, limit: page.length }))
        records.set(row.id, row);
    }
    for (const { id, targetId, reader } of own) {
      const record = targetId === null ? undefined : records.get(targetId);
      if (!record || !stillApplies(record, reader)) outdated.add(id);
    }
  }
  return outdated;
}
