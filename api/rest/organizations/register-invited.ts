import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { workOf } from '../../http/request-context.ts';
import type { Call, RouteResponse } from '../../http/route.ts';
import { createAccount, type Profile } from '../identity/account/create-account.ts';
import { joinOrganization } from './join-organization.ts';
import { usableInvite, type UsableInvite } from './usable-invite.ts';

interface Registration {
  /** In lower case. */
  readonly email: string;
  readonly token: string;
}

/**
 * Creates the account of an invited person, who becomes a member at once: the mailed token has proven the address. The holder of the token
 * reads the mails of the address, so the answer may say whether it has an account.
 * @param profile judges the password and makes the slow hash, once the token has turned out to be usable
 * @throws AppError invalid_token, token_expired, permission_denied, already_exists
 */
export async function registerInvited(
  call: Call<unknown>,
  registration: Registration,
  profile: (organization: UsableInvite['organization']) => Promise<Profile>,
): Promise<RouteResponse> {
  const { unit, services, request } = call;
  // A transaction of its own, which ends before the hashing begins. Its failure rolls it back and marks an expired invitation.
  const { organization } = await services.database.transact(
    workOf(request.core, systemCaller('sign-up with invitation')),
    (reading) => invitationOf({ ...call, unit: reading }, reading.data, registration),
  );
  const written = await profile(organization);
  const data = unit.data.privileged('sign-up with invitation');
  await lockEmail(unit, registration.email);
  const { existing, ...usable } = await invitationOf(call, data, registration);
  const person = await createAccount(unit, data, written, existing);
  await joinOrganization(unit, data, usable, person);
  // Where their first sign-in begins.
  await data.update(user, person.id, { lastOrganizationId: usable.organization.id });
  const { name } = usable.organization;
  return { status: 201, body: { message: `The account is created and has joined ${name}; you can sign in now.` } };
}

/** The invitation of a person without an account, or with one that was never confirmed. */
async function invitationOf(
  call: Call<unknown>,
  data: DataClient,
  { email, token }: Registration,
): Promise<UsableInvite & { readonly existing: RowOf<typeof user> | undefined }> {
  const usable = await usableInvite(call, data, token);
  if (usable.invite.recipient !== email)
    throw new AppError(
      'permission_denied',
      'This invitation was sent to another address. Sign up with the address that it was sent to.',
    );
  const existing = await data.findOne(user, { email: { eq: email } });
  if (existing?.emailConfirmedAt)
    throw new AppError('already_exists', 'This address has an account. Sign in, and accept the invitation there.');
  return { ...usable, existing };
}
