import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Maximum numbers of rows that are looked through: organizations of a person, and owners of these. */
const maxOrganizations = 1_000;

/** Names that a message lists. */
const maxNames = 10;

/** The organizations of which a person is the last active owner. */
export interface LastOwned {
  /** Nobody else is in them, or below them. */
  readonly alone: readonly string[];
  /** Others are in them, who would be left without an owner. */
  readonly withOthers: readonly string[];
}

/** Ids of the organizations that a person owns, in the order in which they are locked. */
export async function ownedOrganizations(data: DataClient, userId: string): Promise<string[]> {
  const owned = await data.find(membership, {
    where: { userId: { eq: userId }, role: { eq: 'owner' } },
    limit: maxOrganizations,
  });
  return owned.map(({ organizationId }) => organizationId).toSorted();
}

/** @param owned organizations of the person, which are locked: owners who leave at the same time wait for each other */
export async function lastOwned(data: DataClient, userId: string, owned: readonly string[]): Promise<LastOwned> {
  const others = await data.find(membership, {
    where: { organizationId: { in: owned }, userId: { ne: userId }, role: { eq: 'owner' } },
    limit: maxOrganizations,
  });
  const active = new Set(
    (
      await data.find(user, {
        where: { id: { in: others.map((one) => one.userId) }, status: { eq: 'active' } },
        limit: maxOrganizations,
      })
    ).map(({ id }) => id),
  );
  const shared = new Set(others.filter((one) => active.has(one.userId)).map(({ organizationId }) => organizationId));
  const result = { alone: [] as string[], withOthers: [] as string[] };
  for (const id of owned.filter((one) => !shared.has(one)))
    result[(await hasOthers(data, userId, id)) ? 'withOthers' : 'alone'].push(id);
  return result;
}

/** @throws AppError last_owner that names the organizations */
export async function refuseLastOwner(data: DataClient, { withOthers }: LastOwned): Promise<void> {
  if (withOthers.length === 0) return;
  const found = await data.find(organization, { where: { id: { in: withOthers } }, limit: maxNames });
  const names = found.map(({ name, displayName }) => `"${displayName || name}"`);
  const more = withOthers.length > names.length ? ` and ${withOthers.length - names.length} more` : '';
  throw new AppError(
    'last_owner',
    `You are the last owner of ${names.join(', ')}${more}, which has other members. Transfer the ownership to one of them, or delete the organization first.`,
  );
}

/** Whether somebody else is a member of the organization or of one below it, which would go with it. */
async function hasOthers(data: DataClient, userId: string, id: string): Promise<boolean> {
  const tree = [id];
  for (let level: readonly string[] = tree; level.length > 0;) {
    const children = await data.find(organization, {
      where: { parentId: { in: level } },
      limit: maxOrganizations,
    });
    level = children.map((child) => child.id).filter((child) => !tree.includes(child));
    tree.push(...level);
  }
  const [other] = await data.find(membership, {
    where: { organizationId: { in: tree }, userId: { ne: userId } },
    limit: 1,
  });
  return other !== undefined;
}
