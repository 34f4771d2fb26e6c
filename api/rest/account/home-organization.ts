import { membership } from '#entities/organizations/membership.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';

/**
 * The organization in which a person goes on: where they were, while they have a role there, else the one they joined first.
 * @returns null for a person without an organization
 */
export async function homeOrganization(
  unit: UnitOfWork,
  userId: string,
  organizationId: string | null = null,
): Promise<string | null> {
  if (organizationId !== null && (await readMembershipState(unit, userId, organizationId)).role !== null)
    return organizationId;
  const [first] = await unit.data.privileged('find home organization').find(membership, {
    where: { userId: { eq: userId } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: 1,
  });
  return first?.organizationId ?? null;
}
