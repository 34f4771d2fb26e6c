import { externalIdentity } from '#entities/identity/external-identity.ts';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { failed, type ProviderIdentity } from '../../auth/sign-in-providers.ts';
import { workOf } from '../../http/request-context.ts';
import type { Call } from '../../http/route.ts';
import { checkNewEmail } from '../account/check-new-email.ts';
import { createAccount } from '../account/create-account.ts';

/** Where an identity comes from. */
export type IdentitySource = RowOf<typeof externalIdentity>['provider'];

/**
 * Checks the address of an identity that no account knows, as sign-up does. It may wait for servers elsewhere, so no transaction may
 * have begun.
 * @throws AppError invalid_input, too_many_requests
 */
export async function checkNewIdentity(call: Call<unknown>, identity: ProviderIdentity): Promise<void> {
  const { services, request } = call;
  const context = workOf(request.core, systemCaller('provider sign-in'));
  const known = await services.database.transact(context, ({ data }) => findIdentity(data, identity));
  if (!known) await checkNewEmail(call, verifiedAddress(identity), '/email');
}

/**
 * The person to whom an identity belongs; a new one for an unknown identity with a verified address that no account has. An account
 * with that address is never taken over: its owner links the identity.
 * @param mayCreate whether an unknown identity may get an account
 * @returns the id of the person
 * @throws AppError provider_sign_in_failed without a verified address, identity_not_linked
 */
export async function personOfIdentity(
  unit: UnitOfWork,
  data: DataClient,
  identity: ProviderIdentity,
  provider: IdentitySource,
  mayCreate = true,
): Promise<string> {
  const known = await findIdentity(data, identity);
  if (known) return personOfKnown(known, provider);
  const email = verifiedAddress(identity);
  if (!mayCreate) throw failed('your address is of none of the domains whose people may join');
  await lockEmail(unit, email);
  // Two first sign-ins at the same time: the second finds what the first has created.
  const meanwhile = await findIdentity(data, identity);
  if (meanwhile) return personOfKnown(meanwhile, provider);
  if (await data.findOne(user, { email: { eq: email } })) throw notLinked();
  const person = await createAccount(unit, data, {
    email,
    passwordHash: null,
    firstName: null,
    lastName: null,
    displayName: identity.name ?? email,
  });
  await storeIdentity(data, person.id, identity, provider);
  return person.id;
}

/**
 * Links an identity to the account of a person who has asked for it.
 * @throws AppError provider_sign_in_failed without a verified address, already_exists for an identity of another person
 */
export async function linkIdentity(
  data: DataClient,
  userId: string,
  identity: ProviderIdentity,
  provider: IdentitySource,
): Promise<void> {
  verifiedAddress(identity);
  const known = await findIdentity(data, identity);
  if (!known) await storeIdentity(data, userId, identity, provider);
  else if (known.userId !== userId)
    throw new AppError('already_exists', 'This identity is linked to another account; unlink it there first.');
}

/**
 * What an organization's single sign-on has linked opens that organization alone: the providers of this server do not sign in with it.
 * @throws AppError identity_not_linked
 */
function personOfKnown(known: RowOf<typeof externalIdentity>, provider: IdentitySource): string {
  if (provider !== 'single_sign_on' && known.provider !== provider) throw notLinked();
  return known.userId;
}

function findIdentity(data: DataClient, { issuer, subject }: ProviderIdentity) {
  return data.findOne(externalIdentity, { issuer: { eq: issuer }, subject: { eq: subject } });
}

async function storeIdentity(
  data: DataClient,
  userId: string,
  { issuer, subject, email }: ProviderIdentity,
  provider: IdentitySource,
): Promise<void> {
  await data.create(externalIdentity, { userId, provider, issuer, subject, email: email ?? '' });
}

function verifiedAddress({ email }: ProviderIdentity): string {
  if (email === null) throw failed('it has not verified an e-mail address of yours');
  return email;
}

function notLinked(): AppError {
  return new AppError(
    'identity_not_linked',
    'There is an account with your e-mail address. Sign in to it in another way, then link this identity with POST /v1/account/identities.',
  );
}
