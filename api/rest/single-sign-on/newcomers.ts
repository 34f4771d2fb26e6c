import type { SignInKey } from '#entities/kit/access/sign-in-failures.ts';
import { giveBackAttempt, takeAttempt } from '#entities/kit/access/sign-in-failures.ts';
import { readEntry, wasMember } from '#entities/kit/access/single-sign-on.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { user } from '#entities/identity/user.ts';
import { membership } from '#entities/organizations/membership.ts';
import type { ProviderIdentity } from '../../auth/sign-in-providers.ts';
import { workOf } from '../../http/request-context.ts';
import type { Call } from '../../http/route.ts';
import { tooManyAttempts } from '../account/too-many-attempts.ts';
import {
  checkNewIdentity,
  findIdentity,
  ownerOf,
  personOfIdentity,
  type IdentityOwner,
  type IdentitySource,
} from '../providers/person-of-identity.ts';
import { isDomainProven } from './domain-proof.ts';
import type { Provider } from './organization-provider.ts';

/** Refused people of one organization within the window, in milliseconds, after which nobody joins by single sign-on for a while. */
const refusals = { limit: 20, windowMs: 15 * 60_000 };

/** What the single sign-on of an organization says about a person. */
export interface SignedOn {
  readonly identity: ProviderIdentity;
  readonly provider: Provider;
}

/** Where identities of an organization's single sign-on count. */
export function realmOf({ organizationId }: Provider): IdentitySource {
  return { provider: 'single_sign_on', realm: organizationId };
}

/**
 * Whether a person who is no member yet may become one: with a verified address of an allowed domain whose zone names the organization.
 * Attempts count although they are refused. It waits for servers elsewhere, so no transaction may have begun.
 * @returns false for members, who need not become one
 * @throws AppError provider_sign_in_failed, the same for every reason; too_many_requests, invalid_input
 */
export async function mayJoin(call: Call<unknown>, { identity, provider }: SignedOn): Promise<boolean> {
  const { services, request } = call;
  const { organizationId, allowedDomains } = provider;
  const source = realmOf(provider);
  const isMember = await services.database.transact(
    workOf(request.core, systemCaller('single sign-on')),
    async (unit) => {
      const known = await findIdentity(unit.data, identity, source);
      if (known && (await roleOf(unit, known.userId, organizationId)) !== null) return true;
      const freeAt = await takeAttempt(unit, [refusalsOf(provider)], refusals.windowMs);
      if (freeAt) throw tooManyAttempts('Too many people were refused', freeAt, services.clock.now());
      return false;
    },
  );
  if (isMember) return false;
  const domain = identity.email?.slice(identity.email.lastIndexOf('@') + 1);
  if (domain === undefined || !allowedDomains.includes(domain)) throw refused();
  if (!(await isDomainProven(services, organizationId, domain))) throw refused();
  await checkNewIdentity(call, identity, source);
  return true;
}

/**
 * The member to whom an identity belongs. Whoever may join becomes one, with an account if they have none; whoever has been one before
 * needs an invitation.
 * @param isJoining what `mayJoin` has returned
 * @returns the person, who is locked
 * @throws AppError provider_sign_in_failed, the same for every reason
 */
export async function memberOf(
  unit: UnitOfWork,
  data: DataClient,
  { identity, provider }: SignedOn,
  isJoining: boolean,
): Promise<IdentityOwner> {
  const { organizationId } = provider;
  const source = realmOf(provider);
  const known = isJoining ? undefined : await findIdentity(data, identity, source);
  if (!isJoining && !known) throw refused();
  const owner = known ? ownerOf(known) : await personOfIdentity(unit, data, identity, source, refused);
  const { userId } = owner;
  // Of two sign-ins at the same time, the second finds the membership that the first has created.
  await data.findLocked(user, userId);
  if ((await roleOf(unit, userId, organizationId)) === null) {
    if (!isJoining || (await wasMember(unit, userId, organizationId))) throw refused();
    await data.create(membership, { organizationId, userId, role: 'member' });
  }
  if (isJoining) await giveBackAttempt(unit, [refusalsOf(provider)]);
  return owner;
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
