import { shortened } from '#entities/kit/base/shortened.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import { addSendings, gatheredMs, type NewSending } from '#entities/notifications/notification-sending-rows.ts';
import { notification } from '#entities/notifications/notification.ts';
import { defineListener, type Delivery, type Listener } from '../listener.ts';
import { sentChannelNames } from '../../mails/channels.ts';
import type { NotificationKind } from '../../mails/define-notification.ts';
import { saidOf } from '../../mails/notice-content.ts';
import { actorNameOf } from './actor-name.ts';
import { readPreferences } from './read-preferences.ts';
import { recipientsIn, visibleToEach } from './recipient.ts';
import { sendingPlan } from './sending-plan.ts';

const limits = { title: 200, body: 1_000, value: 500 } as const;

/** Notifies people of the events of a kind of notification. */
export function notifyListener(kind: NotificationKind): Listener {
  return defineListener(kind.listener, [{ topic: kind.topic }], (delivery) => notify(delivery, kind));
}

/**
 * Notifies people of an event, each once: those who are members of its organization and may view the record, and not the person who acted.
 * A person who has muted it in the app does not find it there. Each further message is a row for its channel.
 */
async function notify(delivery: Delivery<unknown>, kind: NotificationKind): Promise<void> {
  const { event, unit } = delivery;
  const { organizationId } = event;
  const record = await unit.data.findOne(kind.about, { id: { eq: event.entityId } });
  // Deleted since.
  if (organizationId === null || !record) return;
  const actorName = await actorNameOf(event.actor, unit);
  const context = { ...delivery, record, actorName };
  const target = kind.target?.(context) ?? { module: kind.about, id: event.entityId };
  const targetKind = snakeCase(target.module.kind);
  const actors = kind.tellsActor ? [] : personIn(event.actor);
  const possible = new Set((await kind.audience(context)).map(({ userId }) => userId));
  const userIds = [...possible].filter((id) => !actors.includes(id)).toSorted();
  if (userIds.length === 0) return;
  const known = await unit.data.find(notification, {
    where: { eventId: { eq: event.id }, userId: { in: userIds } },
    limit: userIds.length,
  });
  const preferences = await readPreferences(
    unit,
    userIds.map((userId) => ({ organizationId, userId, topic: kind.topic })),
  );
  const valuesFor = await kind.values(context);
  const now = unit.clock.now();
  const gathered = new Date(now.getTime() + gatheredMs);
  const sendings: NewSending[] = [];
  const unknown = userIds.filter((id) => !known.some(({ userId }) => userId === id));
  const people = await recipientsIn(unit, unknown, organizationId);
  const recipients = [...people.values()];
  const about = [{ targetKind, targetId: target.id }];
  const visible = await visibleToEach(
    unit,
    recipients.map((recipient) => ({ recipient, about })),
  );
  const viewers = new Set(recipients.flatMap(({ person }, n) => (visible[n]?.length === 1 ? [person.id] : [])));
  for (const userId of unknown) {
    const locale = people.get(userId)?.locale;
    if (!locale || !viewers.has(userId)) continue;
    const planOf = (channel: string, isDefault: boolean) =>
      sendingPlan(preferences.for({ organizationId, userId, channel, topic: kind.topic }), {
        isDefault,
        toldAt: now,
        now,
      });
    // The list interrupts nobody, so it shows at once what is not muted.
    const isShown = planOf('in_app', true).is !== 'never';
    const planned = sentChannelNames.flatMap((channel) => {
      const isDefault = kind.channels.includes(channel);
      const plan = planOf(channel, isDefault);
      return plan.is === 'never' ? [] : [{ channel, isDefault, dueAt: plan.is === 'later' ? plan.at : gathered }];
    });
    if (!isShown && planned.length === 0) continue;
    const values = shortValues(valuesFor(locale));
    const { title, lines } = saidOf(kind.text, values);
    const { id: notificationId } = await unit.data.create(notification, {
      userId,
      shownTo: isShown ? userId : null,
      topic: event.topic,
      title: shortened(title, limits.title - 1),
      body: shortened(lines.join('\n'), limits.body),
      link: kind.link(target),
      variables: values,
      targetKind,
      targetId: target.id,
      eventId: event.id,
    });
    const isUrgent = kind.isUrgent ?? false;
    for (const one of planned)
      sendings.push({
        notificationId,
        organizationId,
        userId,
        topic: kind.topic,
        isUrgent,
        requestId: event.requestId,
        ...one,
      });
  }
  await addSendings(unit, sendings);
}

/** Values on one line: the lines of a text are those of the product. */
function shortValues(values: Readonly<Record<string, string>>): Record<string, string> {
  const oneLine = (value: string) => value.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, shortened(oneLine(value), limits.value)]),
  );
}
