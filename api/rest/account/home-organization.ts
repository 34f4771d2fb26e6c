import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/**
 * The organization in which a person goes on: where they were, while they have a role there, else their default organization, else the
 * one they joined first.
 * @returns null for a person without an organization
 */
export async function homeOrganization(
  unit: UnitOfWork,
  userId: string,
  organizationId: string | null = null,
): Promise<string | null> {
  if (await hasRole(unit, userId, organizationId)) return organizationId;
  const data = unit.data.privileged('find home organization');
  const { defaultOrganizationId } = await data.get(user, userId);
  if (await hasRole(unit, userId, defaultOrganizationId)) return defaultOrganizationId;
  const [first] = await data.find(membership, {
    where: { userId: { eq: userId } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: 1,
  });
  return first?.organizationId ?? null;
}

async function hasRole(unit: UnitOfWork, userId: string, organizationId: string | null): Promise<boolean> {
  return organizationId !== null && (await readMembershipState(unit, userId, organizationId)).role !== null;
}
