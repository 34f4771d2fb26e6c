import { readMembershipStates } from '#entities/kit/access/membership-states.ts';
import { callerIn } from '#entities/kit/access/principal-state.ts';
import { user } from '#entities/identity/user.ts';
import { organization } from '#entities/organizations/organization.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { Locale } from '#entities/kit/base/localized.ts';
import type { Caller } from '#entities/kit/model/caller.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { readLocales } from './read-locales.ts';

export interface Recipient {
  readonly person: RowOf<typeof user>;
  readonly organizationId: string;
  /** Has their rights in the organization. */
  readonly caller: Caller;
  readonly locale: Locale;
}

/** The record of the notification: its topic and id; null for none. */
interface About {
  readonly targetKind: string | null;
  readonly targetId: string | null;
}

/** A person as a current member of an organization; undefined unless they are an active member of it. */
export async function recipientIn(
  unit: UnitOfWork,
  { userId, organizationId }: { readonly userId: string; readonly organizationId: string },
): Promise<Recipient | undefined> {
  return (await recipientsIn(unit, [userId], organizationId)).get(userId);
}

/** Some people as current members of an organization, by their ids. People who are not active members of it are left out. */
export async function recipientsIn(
  unit: UnitOfWork,
  userIds: readonly string[],
  organizationId: string,
): Promise<ReadonlyMap<string, Recipient>> {
  const ids = [...new Set(userIds)];
  const members = await unit.data.find(membership, {
    where: { userId: { in: ids }, organizationId: { eq: organizationId } },
    limit: ids.length,
  });
  const memberIds = members.map(({ userId }) => userId);
  if (memberIds.length === 0) return new Map();
  const people = await unit.data.find(user, { where: { id: { in: memberIds } }, limit: memberIds.length });
  const states = await readMembershipStates(unit, memberIds, organizationId);
  const locales = await readLocales(
    unit,
    people.map(({ id: userId }) => ({ userId, organizationId })),
  );
  const recipients = new Map<string, Recipient>();
  for (const person of people) {
    const state = states.get(person.id);
    if (person.status !== 'active' || !state) continue;
    recipients.set(person.id, {
      person,
      organizationId,
      locale: locales.for({ userId: person.id, organizationId }),
      caller: callerIn(person.id, organizationId, state, {}),
    });
  }
  return recipients;
}

/** Records of the notifications of one recipient. */
interface AddressedRecords<One> {
  readonly recipient: Recipient;
  readonly about: readonly One[];
}

/**
 * Of the possible notifications of some people, those about a record that they may view, or about none. Members see their organization: its
 * rows are found by the session of a person, and here is none.
 */
export async function visibleToEach<One extends About>(
  unit: UnitOfWork,
  told: readonly AddressedRecords<One>[],
): Promise<One[][]> {
  const visible = told.map(({ recipient }) => new Set([recipient.organizationId]));
  for (const topic of new Set(told.flatMap(({ about }) => about.map(({ targetKind }) => targetKind)))) {
    const module = unit.registry.modules.find((one) => one.topic === topic);
    if (!module || module.kind === organization.kind) continue;
    const viewings = told.map(({ recipient, about }) => ({
      caller: recipient.caller,
      ids: [
        ...new Set(about.flatMap((one) => (one.targetKind === topic && one.targetId !== null ? [one.targetId] : []))),
      ],
    }));
    const viewed = await unit.data.viewedByEach(module, viewings);
    for (const [n, ids] of viewed.entries()) for (const id of ids) visible[n]?.add(id);
  }
  return told.map(({ about }, n) => about.filter(({ targetId }) => targetId === null || visible[n]?.has(targetId)));
}

/** The same for one person. */
export async function visibleTo<One extends About>(
  recipient: Recipient,
  unit: UnitOfWork,
  about: readonly One[],
): Promise<One[]> {
  const [visible = []] = await visibleToEach(unit, [{ recipient, about }]);
  return visible;
}
