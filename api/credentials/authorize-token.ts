import { personalAccessToken } from '#entities/identity/personal-access-token.ts';
import { organization } from '#entities/organizations/organization.ts';
import { readMembershipState } from '#entities/kit/access/principal-state.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from './asking.ts';
import { ownSession } from './recent-proof.ts';
import { signedInPerson } from './signed-in-person.ts';
import { singleSignOnRequired } from './single-sign-on-required.ts';

type Token = RowOf<typeof personalAccessToken>;

/**
 * Lets a personal token of the caller count in an organization although its single sign-on is enforced. The session must have begun with
 * that single sign-on: whoever has only the password of the account, or the provider of another organization, cannot do so.
 * @throws AppError not_found, the same for organizations that do not exist and for those of others; permission_denied,
 * single_sign_on_required
 */
export async function authorizeToken(asking: Asking, id: string, organizationId: string): Promise<Token> {
  const { unit, services } = asking;
  const { userId } = signedInPerson(asking);
  const held = await ownToken(asking, id);
  const wanted = existingId(organization, organizationId);
  // Says the same for every id, so it does not say which organizations there are.
  if ((await ownSession(asking))?.singleSignOnId !== wanted) throw singleSignOnRequired(services, wanted);
  if ((await readMembershipState(unit, userId, wanted)).role === null) throw missingRecord(organization, wanted);
  const { singleSignOnIds: before } = held;
  if (before.includes(wanted)) return held;
  const authorized = await unit.data.update(personalAccessToken, held.id, { singleSignOnIds: [...before, wanted] });
  unit.emit(customEvent(personalAccessToken, 'authorized', authorized, { organizationId: wanted }));
  return authorized;
}

/** Ends that, from any session of the caller. @throws AppError not_found, permission_denied */
export async function deauthorizeToken(asking: Asking, id: string, organizationId: string): Promise<Token> {
  const { unit } = asking;
  signedInPerson(asking);
  const held = await ownToken(asking, id);
  const { singleSignOnIds: before } = held;
  if (!before.includes(organizationId))
    throw new AppError('not_found', 'The token is not authorized for the single sign-on of this organization.');
  const singleSignOnIds = before.filter((one) => one !== organizationId);
  const changed = await unit.data.update(personalAccessToken, held.id, { singleSignOnIds });
  unit.emit(customEvent(personalAccessToken, 'deauthorized', changed, { organizationId }));
  return changed;
}

/** A token of the caller, locked. @throws AppError not_found */
async function ownToken({ unit }: Asking, id: string): Promise<Token> {
  const held = await unit.data.findLocked(personalAccessToken, existingId(personalAccessToken, id));
  if (!held) throw missingRecord(personalAccessToken, id);
  return held;
}
