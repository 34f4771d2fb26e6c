import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { secondFactorRequired } from '../../http/request-caller.ts';

/** Memberships that are looked through for one in which the person can act. */
const maxMemberships = 100;

/**
 * The organization in which a person goes on: where they were, while they have a role there, else their default organization, else the
 * one they joined first of those in which they can act.
 * @returns null for a person without an organization
 * @throws AppError second_factor_required if where they were requires one that they do not have: nobody goes on elsewhere unasked
 */
export async function homeOrganization(
  unit: UnitOfWork,
  userId: string,
  organizationId: string | null = null,
): Promise<string | null> {
  if (organizationId !== null) {
    const { role, lacksSecondFactor } = await readMembershipState(unit, userId, organizationId);
    if (lacksSecondFactor) throw secondFactorRequired();
    if (role !== null) return organizationId;
  }
  const data = unit.data.privileged('find home organization');
  const { defaultOrganizationId } = await data.get(user, userId);
  if (await hasRole(unit, userId, defaultOrganizationId)) return defaultOrganizationId;
  const held = await data.find(membership, {
    where: { userId: { eq: userId } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: maxMemberships,
  });
  for (const { organizationId: id } of held) if (await hasRole(unit, userId, id)) return id;
  return null;
}

async function hasRole(unit: UnitOfWork, userId: string, organizationId: string | null): Promise<boolean> {
  return organizationId !== null && (await readMembershipState(unit, userId, organizationId)).role !== null;
}
