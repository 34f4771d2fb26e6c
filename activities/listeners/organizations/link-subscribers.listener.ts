import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { subscriber } from '#entities/organizations/subscriber.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineListener } from '../listener.ts';

/** An address has a subscriber in each organization at most; one that subscribes to more is linked in the first of them. */
const maxSubscriptions = 1_000;

/** Subscribers name the member who has confirmed the same address. Of people who are no members nobody learns that they have an account. */
export const linkSubscribers = defineListener(
  'link-subscribers',
  [on(subscriber, 'created'), on(membership, 'created'), on(emailChange, 'confirmed')],
  async ({ event, unit: { data } }) => {
    const at = { id: { eq: event.entityId } };
    const joined = event.topic === 'membership.created' ? await data.findOne(membership, at) : undefined;
    if (joined) return link(data, joined.userId, joined.organizationId);
    const change = event.topic === 'email_change.confirmed' ? await data.findOne(emailChange, at) : undefined;
    if (change) {
      await unlink(data, change.userId);
      return link(data, change.userId);
    }
    const held = await data.findOne(subscriber, at);
    const person = held && (await data.findOne(user, { email: { eq: held.email } }));
    if (person) await link(data, person.id, held.organizationId);
  },
);

/** Ends the links to a person that are those of another address. */
async function unlink(data: DataClient, userId: string): Promise<void> {
  // Locked, so that nobody links the address of before meanwhile.
  const person = await data.findLocked(user, userId);
  const linked = await data.find(subscriber, { where: { userId: { eq: userId } }, limit: maxSubscriptions });
  const former = linked.filter(({ email }) => email !== person?.email);
  await data.updateAll(
    subscriber,
    former.map(({ id }) => id),
    { userId: null },
  );
}

/** Links a person with the subscribers of their confirmed address, in one organization or in all of which they are a member. */
async function link(data: DataClient, userId: string, organizationId?: string): Promise<void> {
  const person = await data.findLocked(user, userId);
  if (!person?.emailConfirmedAt) return;
  const memberships = await data.find(membership, {
    where: {
      userId: { eq: userId },
      ...(organizationId === undefined ? {} : { organizationId: { eq: organizationId } }),
    },
    limit: maxSubscriptions,
  });
  if (memberships.length === 0) return;
  const found = await data.find(subscriber, {
    where: {
      subscribedEmail: { eq: person.email },
      organizationId: { in: memberships.map((one) => one.organizationId) },
    },
    limit: maxSubscriptions,
  });
  const unlinked = found.filter((one) => one.userId !== userId);
  await data.updateAll(
    subscriber,
    unlinked.map(({ id }) => id),
    { userId },
  );
}
