import { notification } from '#entities/notifications/notification.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import {
  changeDigests,
  lockDigests,
  type Digest,
  type DigestChange,
} from '#entities/kit/outbox/notification-digests.ts';
import {
  changeSendings,
  lockCollected,
  type CollectedSending,
  type SendingChange,
} from '#entities/kit/outbox/notification-sendings.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { suppressedTopicsOf } from '../suppress-address.ts';
import { outdatedAmong } from './outdated-notifications.ts';
import { readPreferences } from './read-preferences.ts';
import { recipientsIn, visibleToEach, type Recipient } from './recipient.ts';
import { sendingPlan } from './sending-plan.ts';

/** Notifications of a digest that are looked at; the app has the others. */
const maxRead = 200;

/** Notifications that one statement reads. */
const pageSize = 5_000;

type Notification = RowOf<typeof notification>;

/** What a digest tells its recipient now, the newest first. */
export interface CurrentDigest extends Recipient {
  readonly notifications: readonly Notification[];
  /** Whether there are more than were looked at. */
  readonly hasMore: boolean;
}

interface Newest extends Pick<CurrentDigest, 'notifications' | 'hasMore'> {
  readonly hasChanged: boolean;
}

/**
 * What digests have to tell, at each attempt to send their messages, with the rights and the preferences of now. Once a message was made of
 * one, that one is sent again as it is; so where something of it may no longer be told, the message ends, and the next round makes another.
 * The number of statements does not depend on how many people there are.
 * @param asked with the rounds of the messages
 * @param batch the batch in which the messages are sent; undefined for a message of its own
 * @returns by id of the digest; a message that is not sent is missing
 */
export async function settleDigests(
  unit: UnitOfWork,
  asked: readonly { readonly id: string; readonly round: number }[],
  batch?: string,
): Promise<ReadonlyMap<string, CurrentDigest>> {
  const rounds = new Map(asked.map(({ id, round }) => [id, round]));
  const locked = await lockDigests(unit, [...rounds.keys()]);
  const open = locked.filter(({ id, round, state }) => rounds.get(id) === round && state !== 'empty');
  const recipients = await recipientsOf(unit, open);
  const settled = new Map<string, Newest>();
  // Where nothing of the newest is left, the next ones are older: what is not told leaves the digest.
  for (let left = open; left.length > 0; left = left.filter(({ id }) => isToGoOn(settled.get(id))))
    for (const [id, newest] of await settleNewest(unit, left, recipients))
      settled.set(id, { ...newest, hasChanged: newest.hasChanged || settled.has(id) });
  const current = new Map<string, CurrentDigest>();
  const changes: DigestChange[] = [];
  for (const { id, state } of open) {
    const recipient = recipients.get(id);
    const { notifications = [], hasMore = false, hasChanged = false } = settled.get(id) ?? {};
    const isMade = state === 'sent';
    if (!recipient || notifications.length === 0) changes.push({ id, to: 'empty' });
    else if (isMade && hasChanged) changes.push({ id, to: 'again' });
    else {
      if (!isMade) changes.push({ id, to: 'sent' });
      current.set(id, { ...recipient, notifications, hasMore });
    }
  }
  await changeDigests(unit, changes, batch);
  return current;
}

function isToGoOn(newest: Newest | undefined): boolean {
  return newest !== undefined && newest.notifications.length === 0 && newest.hasMore;
}

/** The recipients of digests, by the ids of these. */
async function recipientsOf(unit: UnitOfWork, digests: readonly Digest[]): Promise<ReadonlyMap<string, Recipient>> {
  const recipients = new Map<string, Recipient>();
  for (const [organizationId, own] of Map.groupBy(digests, (digest) => digest.organizationId)) {
    const userIds = own.map(({ userId }) => userId);
    const people = await recipientsIn(unit, userIds, organizationId);
    for (const { id, userId } of own) {
      const recipient = people.get(userId);
      if (recipient) recipients.set(id, recipient);
    }
  }
  return recipients;
}

/** Settles the newest of some digests. What is not told with a digest leaves it. */
async function settleNewest(
  unit: UnitOfWork,
  digests: readonly Digest[],
  recipients: ReadonlyMap<string, Recipient>,
): Promise<ReadonlyMap<string, Newest>> {
  const collected = await lockCollected(
    unit,
    digests.map(({ id }) => id),
    maxRead + 1,
  );
  const looked = new Map(digests.map(({ id }) => [id, (collected.get(id) ?? []).slice(0, maxRead)]));
  const all = [...looked.values()].flat();
  const told = await readNotifications(
    unit,
    all.map(({ notificationId }) => notificationId),
  );
  const viewable = await visibleOf(unit, looked, told, recipients);
  const preferences = await readPreferences(unit, all);
  const people = digests.flatMap(({ id }) => recipients.get(id) ?? []);
  const isSuppressed = await suppressedTopicsOf(
    unit,
    [...new Set(people.map(({ organizationId }) => organizationId))],
    people.map(({ person }) => person.email),
  );
  const now = unit.clock.now();
  const newest = new Map<string, Newest>();
  const changes: SendingChange[] = [];
  for (const { id, state, organizationId } of digests) {
    const sendings = looked.get(id) ?? [];
    const address = recipients.get(id)?.person.email ?? '';
    const visible = viewable.get(id) ?? [];
    const visibleById = new Map(visible.map((one) => [one.id, one]));
    const own = sendings.flatMap((sending): SendingChange[] => {
      const found = visibleById.get(sending.notificationId);
      // A message that was made keeps what has been read since: it says nothing that its recipient may not know.
      if (!found || (found.isRead && state !== 'sent') || isSuppressed(organizationId, address, found.topic))
        return [{ sending, state: 'dropped' }];
      return changeOf(sending, preferences.for(sending), now);
    });
    changes.push(...own);
    const changed = new Set(own.map(({ sending }) => sending.notificationId));
    newest.set(id, {
      notifications: visible.filter((one) => !changed.has(one.id)).toSorted((a, b) => (a.id < b.id ? 1 : -1)),
      // Who is no member any more is told nothing, however much there is.
      hasMore: recipients.has(id) && (collected.get(id)?.length ?? 0) > maxRead,
      hasChanged: own.length > 0,
    });
  }
  await changeSendings(unit, changes);
  return newest;
}

/** By id. */
async function readNotifications(
  { data }: UnitOfWork,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Notification>> {
  const found = new Map<string, Notification>();
  for (let from = 0; from < ids.length; from += pageSize) {
    const page = ids.slice(from, from + pageSize);
    for (const row of await data.find(notification, { where: { id: { in: page } }, limit: page.length }))
      found.set(row.id, row);
  }
  return found;
}

/** Those notifications of each digest that apply to their record, which its recipient may view. */
async function visibleOf(
  unit: UnitOfWork,
  looked: ReadonlyMap<string, readonly CollectedSending[]>,
  told: ReadonlyMap<string, Notification>,
  recipients: ReadonlyMap<string, Recipient>,
): Promise<ReadonlyMap<string, readonly Notification[]>> {
  const asked = [...looked].flatMap(([id, sendings]) => {
    const recipient = recipients.get(id);
    const about = sendings.flatMap(({ notificationId }) => told.get(notificationId) ?? []);
    return recipient ? [{ id, recipient, about }] : [];
  });
  const visible = await visibleToEach(unit, asked);
  const outdated = await outdatedAmong(
    unit,
    asked.map(({ recipient }, n) => ({ recipient, about: visible[n] ?? [] })),
  );
  return new Map(asked.map(({ id }, n) => [id, (visible[n] ?? []).filter((one) => !outdated.has(one.id))]));
}

/** What the preference of now changes; nothing as long as the person wants to be told. */
function changeOf(
  sending: CollectedSending,
  preference: Parameters<typeof sendingPlan>[0],
  now: Date,
): SendingChange[] {
  const plan = sendingPlan(preference, { ...sending, now });
  if (plan.is === 'never') return [{ sending, state: 'dropped' }];
  return plan.is === 'later' ? [{ sending, state: 'due', dueAt: plan.at, isNextRound: true }] : [];
}
