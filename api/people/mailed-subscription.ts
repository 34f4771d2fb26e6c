import { isHashOfAddress } from '#entities/email/address-hash.ts';
import { everyTopic } from '#entities/email/suppression-fields.ts';
import { email } from '#entities/email/email.ts';
import { emailSuppression } from '#entities/email/email-suppression.ts';
import { user } from '#entities/identity/user.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { notificationPreference } from '#entities/notifications/notification-preference.ts';
import {
  appliedTo,
  notificationTopics,
  patternsOf,
  topicInWords,
} from '#entities/notifications/notification-topics.ts';
import { invite } from '#entities/organizations/invite.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';

/** Messages that the link to unsubscribe of an e-mail ends: e-mails of an organization to an address. */
interface Subscription {
  readonly address: string;
  /** The same; null where the e-mail went to a former address of the person: whoever reads that one is not shown the present one. */
  readonly shownAddress: string | null;
  readonly organizationId: string;
  /** Topics of the e-mail, or its sort; none: the link ends all e-mails of the organization. */
  readonly topics: readonly string[];
  /** Id of the person, if the e-mail went to one. */
  readonly userId: string | null;
  readonly emailId: string | null;
  /** For an e-mail to a subscriber. */
  readonly subscriber: RowOf<typeof subscriber> | undefined;
}

/** Why a suppression was released that the recipient had wanted. */
export const resumed = 'The recipient wants to receive these e-mails again.';

/** How much a link has ended. */
type EndedPart = 'nothing' | 'topics' | 'organization';

const isNotificationTopic = (topic: string) => notificationTopics.includes(topic);

/**
 * @param id of the subscriber or of the e-mail
 * @param key with which the tokens of links are made
 * @returns undefined when its recipient is gone
 */
export async function readSubscription(data: DataClient, id: string, key: Buffer): Promise<Subscription | undefined> {
  const held = await data.findLocked(subscriber, id);
  if (held) {
    const { email: address, organizationId } = held;
    return {
      address,
      shownAddress: address,
      organizationId,
      topics: [],
      userId: null,
      emailId: null,
      subscriber: held,
    };
  }
  const sent = await data.findOne(email, { id: { eq: id } });
  const address = sent && (await addressOf(sent, data));
  if (!sent || address === undefined) return undefined;
  const { organizationId, topics, recipientId: userId, addressHash } = sent;
  const shownAddress = isHashOfAddress(key, id, address, addressHash) ? address : null;
  return { address, shownAddress, organizationId, topics, userId, emailId: id, subscriber: undefined };
}

/** The address that the e-mail goes to now; undefined when its recipient is deleted. */
async function addressOf({ recipientId, aboutId }: RowOf<typeof email>, data: DataClient): Promise<string | undefined> {
  if (recipientId !== null) return (await data.findOne(user, { id: { eq: recipientId } }))?.email;
  if (aboutId === null) return undefined;
  return (await data.findOne(invite, { id: { eq: aboutId } }))?.recipient;
}

/** How people read what a link ends. */
export async function subscriptionInWords(data: DataClient, { organizationId, topics }: Subscription) {
  const held = await data.findOne(organization, { id: { eq: organizationId } });
  return {
    organization: held?.displayName ?? held?.name ?? 'a deleted organization',
    topics: topics.map((topic) => ({ topic, name: topicInWords(topic) })),
  };
}

/** Messages that have ended. */
export async function endedOf(data: DataClient, subscription: Subscription): Promise<EndedPart> {
  const { topics, subscriber: held } = subscription;
  if (held) return held.isUnsubscribed ? 'organization' : 'nothing';
  if (await suppressionOn(data, subscription, everyTopic)) return 'organization';
  for (const topic of topics) {
    const preference = await preferenceOn(data, subscription, topic);
    const hasEnded = preference?.isUnsubscribed ?? (await suppressionOn(data, subscription, topic)) !== undefined;
    if (!hasEnded) return 'nothing';
  }
  return topics.length > 0 ? 'topics' : 'nothing';
}

/** Ends e-mails about the topics of the e-mail, or all of the organization. Repeated, it changes nothing. */
export async function endSubscription(
  data: DataClient,
  subscription: Subscription,
  part: Exclude<EndedPart, 'nothing'>,
): Promise<void> {
  const { topics, subscriber: held } = subscription;
  if (held) {
    if (!held.isUnsubscribed) await data.update(subscriber, held.id, { isUnsubscribed: true });
    return;
  }
  if (part === 'organization' || topics.length === 0) return suppress(data, subscription, everyTopic);
  for (const topic of topics) await endTopic(data, subscription, topic);
}

/** A member's own preferences say it, where they find and change it; for anybody else the address is suppressed. */
async function endTopic(data: DataClient, subscription: Subscription, topic: string): Promise<void> {
  const { userId, organizationId } = subscription;
  const preference = await preferenceOn(data, subscription, topic);
  if (preference) {
    if (!preference.isUnsubscribed) await data.update(notificationPreference, preference.id, { isUnsubscribed: true });
    return;
  }
  const isMember =
    userId !== null &&
    (await data.findOne(membership, { userId: { eq: userId }, organizationId: { eq: organizationId } })) !== undefined;
  if (!isMember || !isNotificationTopic(topic)) return suppress(data, subscription, topic);
  const { cadence, muteUntil, quietHoursStart, quietHoursEnd } =
    (await appliedPreference(data, subscription, topic)) ?? {};
  await data.create(notificationPreference, {
    organizationId,
    userId,
    channel: 'email',
    topicPattern: topic,
    isUnsubscribed: true,
    // Once its person takes that back, they get such e-mails as before.
    ...(cadence && { cadence, muteUntil, quietHoursStart, quietHoursEnd }),
  });
}

/**
 * Takes back what the link can end, and with it what ended all e-mails of the organization by a link. Nobody takes back that an address
 * takes no e-mails. Repeated, it changes nothing.
 */
export async function resumeSubscription(data: DataClient, subscription: Subscription, at: Date): Promise<void> {
  const { topics, subscriber: held } = subscription;
  if (held) {
    if (!held.isUnsubscribed) return;
    const values = { isUnsubscribed: false, isActive: held.isEmailVerified, subscribedEmail: held.email };
    await data.update(subscriber, held.id, values);
    return;
  }
  for (const topic of [everyTopic, ...topics]) {
    const suppression = await suppressionOn(data, subscription, topic);
    if (suppression?.reason === 'unsubscribed')
      await data.update(emailSuppression, suppression.id, { releasedAt: at, releaseReason: resumed });
    const preference = await preferenceOn(data, subscription, topic);
    if (!preference?.isUnsubscribed) continue;
    // Made by the link and not changed since: without it, other preferences apply again.
    if (preference.recordVersion === 1) await data.remove(notificationPreference, preference.id);
    else await data.update(notificationPreference, preference.id, { isUnsubscribed: false });
  }
}

async function suppress(data: DataClient, subscription: Subscription, topic: string): Promise<void> {
  const { organizationId, address, emailId } = subscription;
  if (await suppressionOn(data, subscription, topic)) return;
  await data.create(emailSuppression, { organizationId, email: address, topic, reason: 'unsubscribed', emailId });
}

function suppressionOn(data: DataClient, { organizationId, address }: Subscription, topic: string) {
  const where = { organizationId: { eq: organizationId }, suppressedEmail: { eq: address }, topic: { eq: topic } };
  return data.findOne(emailSuppression, where);
}

/** The preference for this topic alone, of the person to whom the e-mail went. */
async function preferenceOn(data: DataClient, subscription: Subscription, topic: string) {
  const applied = await appliedPreference(data, subscription, topic);
  return applied?.topicPattern === topic ? applied : undefined;
}

/** The preference of the person to whom the e-mail went that applies to a topic: the one with the longest pattern. */
async function appliedPreference(data: DataClient, { organizationId, userId }: Subscription, topic: string) {
  if (userId === null || !isNotificationTopic(topic)) return undefined;
  const patterns = patternsOf(topic);
  const where = {
    organizationId: { eq: organizationId },
    userId: { eq: userId },
    channel: { eq: 'email' },
    topicPattern: { in: patterns },
  } as const;
  return appliedTo(topic, await data.find(notificationPreference, { where, limit: patterns.length }));
}
