import { isDeepStrictEqual } from 'node:util';
import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { organization } from '#entities/organizations/organization.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from './asking.ts';
import { ownSession } from './recent-proof.ts';
import { signedInPerson } from './signed-in-person.ts';
import { singleSignOnRequired } from './single-sign-on-required.ts';

/** Whether a personal token is valid in an organization although its single sign-on is enforced. */
export interface TokenAuthorization {
  readonly tokenId: string;
  readonly organizationId: string;
  readonly isAuthorized: boolean;
}

/**
 * Makes a personal token of the caller valid where single sign-on is enforced. The session must have begun with that single sign-on:
 * whoever has only the password of the account, or the provider of another organization, cannot do so. Such a session does not see the
 * token, so the answer has nothing that the caller has not sent.
 * @throws AppError not_found, permission_denied, single_sign_on_required
 */
export async function authorizeToken(asking: Asking, id: string, organizationId: string): Promise<TokenAuthorization> {
  const { unit, services } = asking;
  const { userId } = signedInPerson(asking);
  const wanted = existingId(organization, organizationId);
  const {
    singleSignOnId,
    singleSignOnRevision: revision,
    singleSignOnMembershipId: membershipId,
  } = await ownSession(asking);
  // Says the same for every id, so it does not say which organizations there are.
  if (singleSignOnId !== wanted || revision === null || membershipId === null)
    throw singleSignOnRequired(services, wanted);
  const data = unit.data.privileged('authorize token');
  const tokenId = existingId(personalAccessToken, id);
  // Before the token is locked: nobody holds up what others do with theirs.
  const found = await data.findOne(personalAccessToken, { id: { eq: tokenId } });
  const held = found?.userId === userId ? await data.findLocked(personalAccessToken, tokenId) : undefined;
  if (!held) throw missingRecord(personalAccessToken, id);
  const before = signOnsOf(held);
  if (!isDeepStrictEqual(before.get(wanted), { revision, membershipId })) {
    const changes = listsOf(new Map([...before, [wanted, { revision, membershipId }]]));
    const authorized = await data.update(personalAccessToken, held.id, changes);
    unit.emit(
      customEvent(personalAccessToken, 'authorized', forOrganization(authorized, wanted), {
        userId,
        organizationId: wanted,
      }),
    );
  }
  return { tokenId: held.id, organizationId: wanted, isAuthorized: true };
}

/** Ends that, from any session that sees the token. @throws AppError not_found, permission_denied */
export async function deauthorizeToken(
  asking: Asking,
  id: string,
  organizationId: string,
): Promise<TokenAuthorization> {
  const { unit } = asking;
  signedInPerson(asking);
  const held = await unit.data.findLocked(personalAccessToken, existingId(personalAccessToken, id));
  if (!held) throw missingRecord(personalAccessToken, id);
  const left = signOnsOf(held);
  if (!left.delete(organizationId))
    throw new AppError('not_found', 'The token is not authorized for the single sign-on of this organization.');
  const changed = await unit.data.update(personalAccessToken, held.id, listsOf(left));
  unit.emit(
    customEvent(personalAccessToken, 'deauthorized', forOrganization(changed, organizationId), { organizationId }),
  );
  return { tokenId: held.id, organizationId, isAuthorized: false };
}

/** Facts on which an authorization depends. */
interface Basis {
  /** `revision` of the provider. */
  readonly revision: string;
  readonly membershipId: string;
}

/** The authorization concerns this organization alone, wherever the token works. */
function forOrganization<T>(token: T, organizationId: string): T & { readonly organizationIds: readonly string[] } {
  return { ...token, organizationIds: [organizationId] };
}

interface Lists {
  readonly singleSignOnIds: string[];
  readonly singleSignOnRevisions: string[];
  readonly singleSignOnMembershipIds: string[];
}

/** The authorizations of a token, by the ids of their organizations. */
function signOnsOf(lists: Lists): Map<string, Basis> {
  const { singleSignOnIds, singleSignOnRevisions: revisions, singleSignOnMembershipIds: membershipIds } = lists;
  return new Map(
    singleSignOnIds.map((id, index) => [
      id,
      { revision: revisions[index] ?? '', membershipId: membershipIds[index] ?? '' },
    ]),
  );
}

function listsOf(signOns: ReadonlyMap<string, Basis>): Lists {
  const bases = [...signOns.values()];
  return {
    singleSignOnIds: [...signOns.keys()],
    singleSignOnRevisions: bases.map(({ revision }) => revision),
    singleSignOnMembershipIds: bases.map(({ membershipId }) => membershipId),
  };
}
