import type { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationKinds } from '../../mails/index.ts';
import type { Recipient } from './recipient.ts';

type Notification = Pick<RowOf<typeof notification>, 'id' | 'topic' | 'targetId'>;

/** Ids of those of some notifications of a recipient that no longer apply to their record: they are not sent (`stillApplies`). */
export async function outdatedAmong(
  { data, clock }: UnitOfWork,
  { person, locale }: Pick<Recipient, 'person' | 'locale'>,
  notifications: readonly Notification[],
): Promise<ReadonlySet<string>> {
  const outdated = new Set<string>();
  const reader = { userId: person.id, timeZone: locale.timeZone, now: clock.now() };
  for (const { topic, about, stillApplies } of notificationKinds) {
    const own = notifications.filter((one) => one.topic === topic);
    if (!stillApplies || own.length === 0) continue;
    const ids = [...new Set(own.flatMap(({ targetId }) => targetId ?? []))];
    const found = ids.length === 0 ? [] : await data.find(about, { where: { id: { in: ids } }, limit: ids.length });
    const records = new Map<string, RowOf<typeof about>>(found.map((row) => [row.id, row]));
    for (const { id, targetId } of own) {
      const record = targetId === null ? undefined : records.get(targetId);
      if (!record || !stillApplies(record, reader)) outdated.add(id);
    }
  }
  return outdated;
}
