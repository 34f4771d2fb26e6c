import { externalIdentity } from '#entities/identity/external-identity.ts';
import { user } from '#entities/identity/user.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { failed, type ProviderIdentity } from '../../../auth/sign-in-providers.ts';
import { workOf } from '../../../http/request-context.ts';
import type { Call } from '../../../http/route.ts';
import { checkNewEmail } from '../account/check-new-email.ts';
import { createAccount } from '../account/create-account.ts';

type Identity = RowOf<typeof externalIdentity>;

/** Where an identity comes from: an issuer can be the provider of several realms, which know nothing of each other. */
export type IdentitySource = Pick<Identity, 'provider' | 'realm'>;

/** A person, and the identity with which they sign in. */
export interface IdentityOwner {
  readonly userId: string;
  /** Id of the identity. */
  readonly credentialId: string;
}

/**
 * Checks the address of an identity that no account knows, as sign-up does. It may wait for servers elsewhere, so no transaction may
 * have begun.
 * @throws AppError invalid_input, too_many_requests
 */
export async function checkNewIdentity(
  call: Call<unknown>,
  identity: ProviderIdentity,
  source: IdentitySource,
): Promise<void> {
  const { services, request } = call;
  const context = workOf(request.core, systemCaller('provider sign-in'));
  const known = await services.database.transact(context, ({ data }) => findIdentity(data, identity, source));
  if (!known) await checkNewEmail(call, verifiedAddress(identity), '/email');
}

/**
 * The person to whom an identity belongs; a new one for an unknown identity with a verified address that no account has. An account
 * with that address is never taken over: its owner links the identity.
 * @param refused the error for an address that has an account
 * @throws AppError provider_sign_in_failed without a verified address, identity_not_linked
 */
export async function personOfIdentity(
  unit: UnitOfWork,
  data: DataClient,
  identity: ProviderIdentity,
  source: IdentitySource,
  refused: () => AppError = notLinked,
): Promise<IdentityOwner> {
  const known = await findIdentity(data, identity, source);
  if (known) return ownerOf(known);
  const email = verifiedAddress(identity);
  await lockEmail(unit, email);
  // Two first sign-ins at the same time: the second finds what the first has created.
  const meanwhile = await findIdentity(data, identity, source);
  if (meanwhile) return ownerOf(meanwhile);
  if (await data.findOne(user, { email: { eq: email } })) throw refused();
  const person = await createAccount(unit, data, {
    email,
    passwordHash: null,
    firstName: null,
    lastName: null,
    displayName: identity.name ?? email,
  });
  return ownerOf(await storeIdentity(data, person.id, identity, source));
}

/**
 * Links an identity to the account of a person who has asked for it.
 * @throws AppError provider_sign_in_failed without a verified address, already_exists for an identity of another person
 */
export async function linkIdentity(
  unit: UnitOfWork,
  data: DataClient,
  userId: string,
  identity: ProviderIdentity,
  source: IdentitySource,
): Promise<void> {
  verifiedAddress(identity);
  const known = await findIdentity(data, identity, source);
  if (!known) {
    const linked = await storeIdentity(data, userId, identity, source);
    unit.emit(customEvent(externalIdentity, 'linked', linked, { userId }));
  } else if (known.userId !== userId)
    throw new AppError('already_exists', 'This identity is linked to another account; unlink it there first.');
}

/** The person to whom an identity belongs. */
export function ownerOf({ id, userId }: Identity): IdentityOwner {
  return { userId, credentialId: id };
}

/** An identity that an organization's single sign-on has linked opens that organization alone, and nothing else opens the organization. */
export function findIdentity(data: DataClient, { issuer, subject }: ProviderIdentity, { realm }: IdentitySource) {
  return data.findOne(externalIdentity, { realm: { eq: realm }, issuer: { eq: issuer }, subject: { eq: subject } });
}

function storeIdentity(
  data: DataClient,
  userId: string,
  identity: ProviderIdentity,
  { provider, realm }: IdentitySource,
): Promise<Identity> {
  const { issuer, subject } = identity;
  const email = verifiedAddress(identity);
  return data.create(externalIdentity, { userId, provider, realm, issuer, subject, email });
}

function verifiedAddress({ email }: ProviderIdentity): string {
  if (email === null) throw failed('it has not verified an e-mail address of the user');
  return email;
}

function notLinked(): AppError {
  return new AppError(
    'identity_not_linked',
    'There is an account with your e-mail address. Sign in to it in another way, then link this identity with POST /v1/account/identities.',
  );
}
