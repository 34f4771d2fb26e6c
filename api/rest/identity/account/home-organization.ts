import type { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { FirstOrganization } from '#entities/organizations/first-organization-rows.ts';
import type { MembershipState } from '#entities/kit/access/principal-state.ts';
import { isSignOnCurrent, readEntry, type Entry, type SignOn } from '#entities/kit/access/single-sign-on.ts';
import { secondFactorRequired } from '../../../http/request-caller.ts';
import type { Call } from '../../../http/route.ts';
import { singleSignOnRequired } from '../../../credentials/single-sign-on-required.ts';

/** Memberships that are looked through for one in which the person can act. */
const maxMemberships = 100;

/** Where a session acts, with what its access token says about it. */
export interface Home extends Pick<MembershipState, 'heldModules'> {
  readonly organizationId: string;
}

/** A session, as far as it decides where it may act. */
interface Session extends SignOn {
  readonly person: Pick<RowOf<typeof user>, 'id' | 'lastOrganizationId' | 'defaultOrganizationId'>;
}

/**
 * The organization in which a person continues: where the session was, while they have a role there, else where they acted last, else their
 * default organization, else the one they joined first of those in which they can act in this session.
 * @param call without services, nobody is refused: the result is null
 * @returns null for a person without an organization
 * @throws AppError unauthenticated for a session whose single sign-on is another one now; second_factor_required, single_sign_on_required
 * if where they were requires what they do not have: nobody continues elsewhere unasked; single_sign_on_required also if there is no other
 * organization
 */
export async function homeOrganization(
  { unit, services }: Pick<Call<unknown>, 'unit'> & Partial<Pick<Call<unknown>, 'services'>>,
  { person, ...signOn }: Session,
  organizationId: string | null = null,
): Promise<Home | null> {
  const { singleSignOnId } = signOn;
  if (singleSignOnId !== null && !(await isSignOnCurrent(unit, signOn)))
    throw new AppError(
      'unauthenticated',
      'The single sign-on of your organization, or your membership there, has changed; sign in again.',
    );
  const enter = async (id: string) => {
    const entry = await readEntry(unit, person.id, id, singleSignOnId);
    return { ...entry, home: homeIn(id, entry) };
  };
  if (organizationId !== null) {
    const { requiredSignOn, lacksSecondFactor, home } = await enter(organizationId);
    if (requiredSignOn !== null && services) throw singleSignOnRequired(services, requiredSignOn);
    if (lacksSecondFactor) throw secondFactorRequired();
    if (home) return home;
  }
  let required: string | undefined;
  for await (const id of candidates(unit, person)) {
    const { requiredSignOn, home } = await enter(id);
    if (home) return home;
    required ??= requiredSignOn ?? undefined;
  }
  if (required !== undefined && services) throw singleSignOnRequired(services, required);
  return null;
}

/**
 * The organization in which a person continues who has just signed in, without single sign-on, if it is the first organization that comes
 * into question.
 */
export function homeInFirst(first: FirstOrganization | undefined): Home | null {
  return first ? homeIn(first.organizationId, first) : null;
}

/** Null for an organization in which the session cannot act. */
function homeIn(
  organizationId: string,
  { role, requiredSignOn, isElsewhere, lacksSecondFactor, heldModules }: Entry,
): Home | null {
  const isOpen = requiredSignOn === null && !isElsewhere && role !== null && !lacksSecondFactor;
  return isOpen ? { organizationId, heldModules } : null;
}

/** Where a person acted last, their default organization, then those that they joined, the first one first. */
async function* candidates(
  unit: UnitOfWork,
  { id, lastOrganizationId, defaultOrganizationId }: Session['person'],
): AsyncGenerator<string, void, undefined> {
  if (lastOrganizationId !== null) yield lastOrganizationId;
  if (defaultOrganizationId !== null) yield defaultOrganizationId;
  const joined = await unit.data.privileged('find home organization').find(membership, {
    where: { userId: { eq: id } },
    orderBy: [{ field: 'createdAt', direction: 'asc' }],
    limit: maxMemberships,
  });
  for (const { organizationId } of joined) yield organizationId;
}
