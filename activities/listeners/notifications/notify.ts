import { callerIn, readMembershipState } from '#entities/kit/access/principal-state.ts';
import { shortened } from '#entities/kit/base/shortened.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { personIn } from '#entities/kit/model/caller.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { notification } from '#entities/notifications/notification.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { Delivery } from '../listener.ts';

/** What people are told of an event. */
interface Message {
  /** Ids of those who would be told. */
  readonly userIds: readonly string[];
  /** The kind of the event's record, which the notification is about. */
  readonly module: EntityModule;
  readonly title: string;
  readonly body: string | null;
}

/** Maximum number of characters of a body. */
const maxBody = 500;

/**
 * Tells people of an event, each once: those who are members of its organization and may view the record, and not the person who
 * acted.
 */
export async function notify(
  { event, unit }: Delivery<unknown>,
  { userIds, module, title, body }: Message,
): Promise<void> {
  const { organizationId } = event;
  const others = [...new Set(userIds)].filter((id) => !personIn(event.actor).includes(id));
  if (organizationId === null || others.length === 0) return;
  const limit = others.length;
  const members = await unit.data.find(membership, { where: { userId: { in: others } }, limit });
  const told = await unit.data.find(notification, {
    where: { eventId: { eq: event.id }, userId: { in: others } },
    limit,
  });
  for (const { userId } of members) {
    if (told.some((one) => one.userId === userId)) continue;
    const state = await readMembershipState(unit, userId, organizationId);
    const recipient = unit.data.as(callerIn(userId, organizationId, state, {}));
    if (!(await recipient.findOne(module, { id: { eq: event.entityId } }))) continue;
    await unit.data.create(notification, {
      userId,
      topic: event.topic,
      title,
      body: body === null ? null : shortened(body, maxBody),
      targetKind: snakeCase(module.kind),
      targetId: event.entityId,
      eventId: event.id,
    });
  }
}
