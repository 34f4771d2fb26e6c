import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { isSignOnCurrent, readEntry } from '#entities/kit/access/single-sign-on.ts';
import { secondFactorRequired } from '../../http/request-caller.ts';
import type { Call } from '../../http/route.ts';
import { singleSignOnRequired } from '../../credentials/single-sign-on-required.ts';

/** Memberships that are looked through for one in which the person can act. */
const maxMemberships = 100;

/** A session, as far as it decides where it may act. */
interface Session {
  readonly userId: string;
  /** The organization whose single sign-on began it; null for other ways to sign in. */
  readonly singleSignOnId: string | null;
  /** `revision` of the provider that began it. */
  readonly singleSignOnRevision: string | null;
}

/**
 * The organization in which a person goes on: where they were, while they have a role there, else their default organization, else the
 * one they joined first of those in which they can act in this session.
 * @param call without services, nobody is refused: the result is null
 * @returns null for a person without an organization
 * @throws AppError unauthenticated for a session whose single sign-on is another one now; second_factor_required, single_sign_on_required
 * if where they were requires what they do not have: nobody goes on elsewhere unasked; single_sign_on_required also if there is no other
 * organization
 */
export async function homeOrganization(
  { unit, services }: Pick<Call<unknown>, 'unit'> & Partial<Pick<Call<unknown>, 'services'>>,
  { userId, singleSignOnId, singleSignOnRevision }: Session,
  organizationId: string | null = null,
): Promise<string | null> {
  if (singleSignOnId !== null && !(await isSignOnCurrent(unit, singleSignOnId, singleSignOnRevision)))
    throw new AppError('unauthenticated', 'The single sign-on of your organization has changed; sign in again.');
  const enter = async (id: string) => {
    const { requiredSignOn, isElsewhere } = await readEntry(unit, userId, id, singleSignOnId);
    const { role, lacksSecondFactor } = await readMembershipState(unit, userId, id);
    const isOpen = requiredSignOn === null && !isElsewhere && role !== null;
    return { requiredSignOn, lacksSecondFactor, isOpen };
  };
  if (organizationId !== null) {
    const { requiredSignOn, lacksSecondFactor, isOpen } = await enter(organizationId);
    if (requiredSignOn !== null && services) throw singleSignOnRequired(services, requiredSignOn);
    if (lacksSecondFactor) throw secondFactorRequired();
    if (isOpen) return organizationId;
  }
  const data = unit.data.privileged('find home organization');
  const { defaultOrganizationId } = await data.get(user, userId);
  const joined = await data.find(membership, {
    where: { userId: { eq: userId } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: maxMemberships,
  });
  let required: string | undefined;
  for (const id of [defaultOrganizationId, ...joined.map((one) => one.organizationId)]) {
    if (id === null) continue;
    const { requiredSignOn, isOpen } = await enter(id);
    if (isOpen) return id;
    required ??= requiredSignOn ?? undefined;
  }
  if (required !== undefined && services) throw singleSignOnRequired(services, required);
  return null;
}
