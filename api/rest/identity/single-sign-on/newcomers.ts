import { giveBackAttempt, takeAttempt, type SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { readEntry, wasMember } from '#entities/kit/access/single-sign-on.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { ProviderIdentity } from '../../../auth/sign-in-providers.ts';
import type { Call } from '../../../http/route.ts';
import { tooManyAttempts } from '../../../http/limits/too-many-attempts.ts';
import {
  checkNewIdentity,
  findIdentity,
  ownerOf,
  personOfIdentity,
  type IdentityOwner,
  type IdentitySource,
} from '../providers/person-of-identity.ts';
import { isDomainProven } from '../../../people/domain-proof.ts';
import { transactApart, type Provider } from './organization-provider.ts';

/** Refused people of one organization within the window, in milliseconds, after which nobody joins by single sign-on for a while. */
const refusals = { limit: 20, windowMs: 15 * 60_000 };

/** Claims of the single sign-on of an organization about a person. */
interface SignedOn {
  readonly identity: ProviderIdentity;
  readonly provider: Provider;
}

/** The organization in which identities of its single sign-on are valid. */
export function realmOf({ organizationId }: Provider): IdentitySource {
  return { provider: 'single_sign_on', realm: organizationId };
}

/**
 * Makes a person who is no member yet one, with an account if they have none: with a verified address of an allowed domain whose zone
 * names the organization. A former member needs an invitation. Refusals count although the request is refused, and a
 * membership stays although the sign-in is refused afterwards, for a second factor that is required, for example. It waits for servers
 * elsewhere, so no transaction may have begun.
 * @throws AppError provider_sign_in_failed, the same for every reason; too_many_requests, invalid_input
 */
export async function admitNewcomer(call: Call<unknown>, signedOn: SignedOn): Promise<void> {
  const { services } = call;
  const { identity, provider } = signedOn;
  const { organizationId, allowedDomains } = provider;
  const isMember = await transactApart(call, async (unit) => {
    if (await findMember(unit, signedOn)) return true;
    const freeAt = await takeAttempt(unit, [refusalsOf(provider)], refusals.windowMs);
    if (freeAt) throw tooManyAttempts('Too many people were refused', freeAt, services.clock.now());
    return false;
  });
  if (isMember) return;
  const domain = parseEmail(identity.email ?? '')?.domain;
  if (domain === undefined || !allowedDomains.includes(domain)) throw refused();
  if (!(await isDomainProven(services, organizationId, domain))) throw refused();
  await checkNewIdentity(call, identity, realmOf(provider));
  await transactApart(call, async (unit) => {
    const { userId } = await personOfIdentity(unit, unit.data, identity, realmOf(provider), refused);
    // Of two sign-ins at the same time, the second finds the membership that the first has created.
    await unit.data.findLocked(user, userId);
    if ((await roleOf(unit, userId, organizationId)) === null) {
      if (await wasMember(unit, userId, organizationId, identity)) throw refused();
      await unit.data.create(membership, { organizationId, userId, role: 'member' });
    }
    await giveBackAttempt(unit, [refusalsOf(provider)]);
  });
}

/** The member to whom an identity belongs. @throws AppError provider_sign_in_failed, the same for every reason */
export async function memberOf(unit: UnitOfWork, signedOn: SignedOn): Promise<IdentityOwner> {
  const member = await findMember(unit, signedOn);
  if (!member) throw refused();
  return member;
}

async function findMember(unit: UnitOfWork, { identity, provider }: SignedOn): Promise<IdentityOwner | undefined> {
  const known = await findIdentity(unit.data.privileged('single sign-on'), identity, realmOf(provider));
  if (!known || (await roleOf(unit, known.userId, provider.organizationId)) === null) return undefined;
  return ownerOf(known);
}

/** The role, also of somebody who lacks a second factor that the organization requires. */
async function roleOf(unit: UnitOfWork, userId: string, organizationId: string) {
  return (await readEntry(unit, userId, organizationId, organizationId)).role;
}

function refusalsOf({ organizationId }: Provider): SignInKey {
  return { key: `sso-refusal:${organizationId}`, limit: refusals.limit };
}

/** Says the same for every reason: whoever runs the provider must not learn which addresses have accounts. */
function refused(): AppError {
  return new AppError(
    'provider_sign_in_failed',
    'The single sign-on knows you, but you are no member of the organization, and cannot join it in this way. If you have an account here, sign in to it in another way and link this identity with POST /v1/account/identities; else ask a manager of the organization for an invitation.',
  );
}
