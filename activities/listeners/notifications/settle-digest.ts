import { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { changeDigest, lockDigest, type Digest } from '#entities/notifications/notification-digest-rows.ts';
import {
  changeSendings,
  lockCollected,
  type Sending,
  type SendingChange,
} from '#entities/notifications/notification-sending-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { endedTopicsOf } from '../email/suppress-address.ts';
import { outdatedAmong } from './outdated-notifications.ts';
import { readPreferences } from './read-preferences.ts';
import { recipientIn, visibleTo, type Recipient } from './recipient.ts';
import { sendingPlan } from './sending-plan.ts';

/** Notifications of a digest that one look reads; the app has the others. */
const maxRead = 200;

type Notification = RowOf<typeof notification>;

/** Current notifications of a digest for its recipient, the newest first. */
interface CurrentDigest extends Recipient {
  readonly notifications: readonly Notification[];
  /** Whether there are more than were read. */
  readonly hasMore: boolean;
}

interface Newest extends Pick<CurrentDigest, 'notifications' | 'hasMore'> {
  readonly hasChanged: boolean;
}

/**
 * Content of a digest, at each attempt to send its message, with the current rights and preferences. Once a message was made of it, that
 * one is sent again as it is; so if one of its notifications may no longer be sent, the message ends, and the next round makes another.
 * @param round of the message
 * @returns undefined for a message that is not sent
 */
export async function settleDigest(
  unit: UnitOfWork,
  { id, round }: { readonly id: string; readonly round: number },
): Promise<CurrentDigest | undefined> {
  const digest = await lockDigest(unit, id);
  if (!digest || digest.round !== round || digest.state === 'empty') return undefined;
  const recipient = await recipientIn(unit, digest);
  let newest = await settleNewest(unit, digest, recipient);
  // Where nothing of the newest is left, the next ones are older: notifications that are not sent leave the digest.
  while (newest.notifications.length === 0 && newest.hasMore)
    newest = { ...(await settleNewest(unit, digest, recipient)), hasChanged: true };
  const { notifications, hasMore, hasChanged } = newest;
  if (!recipient || notifications.length === 0) {
    await changeDigest(unit, id, 'empty');
    return undefined;
  }
  const isMade = digest.state === 'sent';
  if (isMade && hasChanged) {
    await changeDigest(unit, id, 'again');
    return undefined;
  }
  if (!isMade) await changeDigest(unit, id, 'sent');
  return { ...recipient, notifications, hasMore };
}

/** Ends a digest whose message nothing has sent, whatever has kept it from being settled. @param round of the message */
export async function dropDigest(
  unit: UnitOfWork,
  { id, round }: { readonly id: string; readonly round: number },
): Promise<void> {
  const digest = await lockDigest(unit, id);
  if (digest?.round === round && digest.state === 'claimed') await changeDigest(unit, id, 'empty');
}

/** Settles the newest of a digest. Notifications that are not sent with it leave it. */
async function settleNewest(unit: UnitOfWork, digest: Digest, recipient: Recipient | undefined): Promise<Newest> {
  const collected = await lockCollected(unit, digest.id, maxRead + 1);
  const read = collected.slice(0, maxRead);
  const visible = recipient ? await readTold(unit, read, recipient) : [];
  const visibleById = new Map(visible.map((one) => [one.id, one]));
  const preferences = await readPreferences(unit, read);
  const ended = recipient
    ? await endedTopicsOf(unit, digest.organizationId, recipient.person.email)
    : new Set<string>();
  const now = unit.clock.now();
  const changes = read.flatMap((sending): SendingChange[] => {
    const found = visibleById.get(sending.notificationId);
    // A message that was made keeps what has been read since: it says nothing that its recipient may not know.
    if (!found || (found.isRead && digest.state !== 'sent') || ended.has(found.topic))
      return [{ sending, state: 'dropped' }];
    return changeOf(sending, preferences.for(sending), now);
  });
  await changeSendings(unit, changes);
  const changed = new Set(changes.map(({ sending }) => sending.notificationId));
  return {
    notifications: visible.filter((one) => !changed.has(one.id)).toSorted((a, b) => (a.id < b.id ? 1 : -1)),
    // Former members get no notification, however many there are.
    hasMore: recipient !== undefined && collected.length > maxRead,
    hasChanged: changes.length > 0,
  };
}

/** Those of some notifications that apply to their record, which the recipient may view. */
async function readTold(
  unit: UnitOfWork,
  sendings: readonly Sending[],
  recipient: Recipient,
): Promise<readonly Notification[]> {
  const ids = sendings.map(({ notificationId }) => notificationId);
  if (ids.length === 0) return [];
  const found = await unit.data.find(notification, { where: { id: { in: ids } }, limit: ids.length });
  const visible = await visibleTo(recipient, unit, found);
  const outdated = await outdatedAmong(unit, recipient, visible);
  return visible.filter(({ id }) => !outdated.has(id));
}

/** Effect of the current preference; nothing as long as the person wants the notification. */
function changeOf(sending: Sending, preference: Parameters<typeof sendingPlan>[0], now: Date): SendingChange[] {
  const plan = sendingPlan(preference, { ...sending, now });
  if (plan.is === 'never') return [{ sending, state: 'dropped' }];
  return plan.is === 'later' ? [{ sending, state: 'due', dueAt: plan.at, isNextRound: true }] : [];
}
