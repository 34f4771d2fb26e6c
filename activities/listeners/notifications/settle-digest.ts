import { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { changeDigest, lockDigest, type Digest } from '#entities/kit/outbox/notification-digests.ts';
import {
  changeSendings,
  lockCollected,
  type Sending,
  type SendingChange,
} from '#entities/kit/outbox/notification-sendings.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { readPreferences } from './read-preferences.ts';
import { recipientIn, visibleTo, type Recipient } from './recipient.ts';
import { sendingPlan } from './sending-plan.ts';

/** Notifications of a digest that are looked at; the app has the others. */
const maxRead = 200;

/** What a digest tells its recipient now, the newest first. */
export interface CurrentDigest extends Recipient {
  readonly notifications: readonly RowOf<typeof notification>[];
  /** Whether there are more than were looked at. */
  readonly hasMore: boolean;
}

/**
 * What a digest has to tell, at each attempt to send its message, with the rights and the preferences of now. Once a message was made of
 * it, that one is sent again as it is; so where something of it may no longer be told, the message ends, and the next round makes another.
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
  const isMade = digest.state === 'sent';
  let newest = await settleNewest(unit, digest, recipient);
  let hasChanged = newest.hasChanged;
  // What is not told leaves the digest, so the next ones are older.
  while (newest.notifications.length === 0 && newest.hasMore) {
    newest = await settleNewest(unit, digest, recipient);
    hasChanged = true;
  }
  const { notifications, hasMore } = newest;
  if (!recipient || notifications.length === 0) {
    await changeDigest(unit, id, 'empty');
    return undefined;
  }
  if (isMade && hasChanged) {
    await changeDigest(unit, id, 'again');
    return undefined;
  }
  if (!isMade) await changeDigest(unit, id, 'sent');
  return { ...recipient, notifications, hasMore };
}

/** Settles the newest of a digest. What is not told with it leaves it. */
async function settleNewest(
  unit: UnitOfWork,
  { id, state }: Digest,
  recipient: Recipient | undefined,
): Promise<Pick<CurrentDigest, 'notifications' | 'hasMore'> & { readonly hasChanged: boolean }> {
  const collected = await lockCollected(unit, id, maxRead + 1);
  const looked = collected.slice(0, maxRead);
  const told = await unit.data.find(notification, {
    where: { id: { in: looked.map(({ notificationId }) => notificationId) } },
    limit: maxRead,
  });
  const visible = recipient ? await visibleTo(recipient, unit, told) : [];
  const preferences = await readPreferences(unit, looked);
  const changes = looked.flatMap((sending): SendingChange[] => {
    const found = visible.find((one) => one.id === sending.notificationId);
    // A message that was made keeps what has been read since: it says nothing that its recipient may not know.
    if (!found || (found.isRead && state !== 'sent')) return [{ sending, state: 'dropped' }];
    return changeOf(sending, preferences.for(sending), unit.clock.now());
  });
  await changeSendings(unit, changes);
  const changed = new Set(changes.map(({ sending }) => sending.notificationId));
  return {
    notifications: visible.filter((one) => !changed.has(one.id)).toSorted((a, b) => (a.id < b.id ? 1 : -1)),
    // Who is no member any more is told nothing, however much there is.
    hasMore: recipient !== undefined && collected.length > maxRead,
    hasChanged: changes.length > 0,
  };
}

/** What the preference of now changes; nothing as long as the person wants to be told. */
function changeOf(sending: Sending, preference: Parameters<typeof sendingPlan>[0], now: Date): SendingChange[] {
  const plan = sendingPlan(preference, { ...sending, now });
  if (plan.is === 'never') return [{ sending, state: 'dropped' }];
  return plan.is === 'later' ? [{ sending, state: 'due', dueAt: plan.at, isNextRound: true }] : [];
}
