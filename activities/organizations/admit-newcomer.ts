import { user } from '#entities/identity/user.ts';
import { identityProvider } from '#entities/organizations/identity-provider.ts';
import { membership } from '#entities/organizations/membership.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';
import { organization } from '#entities/organizations/organization.ts';
import { parseEmail } from '#entities/kit/base/email-address.ts';
import { wasMember } from '#entities/kit/access/single-sign-on.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { organizationsOfDomain } from '#entities/kit/base/proven-domain.ts';
import { workContext } from '../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../kit/activity-dependencies.ts';

/**
 * Makes a person a member of each organization that admits the domain of their confirmed address (`admitsEmailDomains`), and that the zone
 * of the domain names. The zone is asked first: any number of organizations can claim a domain, and it names one, or a few. A former member
 * needs an invitation.
 * @returns the number of organizations that the person has joined
 */
export async function admitNewcomer(
  { database, textRecords }: Pick<ActivityDependencies, 'database' | 'textRecords'>,
  userId: string,
): Promise<number> {
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact(workContext(systemCaller('admit by domain'), `admit-by-domain-${userId}`), work);
  const email = await transact(({ data }) => confirmedEmail(data, userId));
  if (email === undefined) return 0;
  const domain = parseEmail(email)?.domain;
  if (domain === undefined) return 0;
  let joined = 0;
  // Between two transactions: a name server may take its time.
  for (const organizationId of await organizationsOfDomain(textRecords, domain))
    if (await transact((unit) => join(unit, { userId, organizationId, domain }))) joined++;
  return joined;
}

/** The address of an active account, if it is confirmed. */
async function confirmedEmail(data: DataClient, userId: string): Promise<string | undefined> {
  const person = await data.findLocked(user, userId);
  return person?.status === 'active' && person.emailConfirmedAt !== null ? person.email : undefined;
}

interface Joining {
  readonly userId: string;
  readonly organizationId: string;
  readonly domain: string;
}

async function join(unit: UnitOfWork, { userId, organizationId, domain }: Joining): Promise<boolean> {
  const { data } = unit;
  // Read again: the address may have changed while the name server was asked.
  const email = await confirmedEmail(data, userId);
  const of = { organizationId: { eq: organizationId } };
  const setting = await data.findOne(organizationSetting, of);
  const home = await data.findOne(organization, { id: { eq: organizationId } });
  if (
    email === undefined ||
    parseEmail(email)?.domain !== domain ||
    !setting?.admitsEmailDomains ||
    !setting.emailDomains.includes(domain)
  )
    return false;
  if (!home || home.isPersonal || home.isArchived) return false;
  if ((await data.findOne(identityProvider, of))?.isEnforced) return false;
  if (await data.findOne(membership, { ...of, userId: { eq: userId } })) return false;
  if (await wasMember(unit, userId, organizationId, { issuer: '', subject: '', email })) return false;
  await data.create(membership, { organizationId, userId, role: 'member' });
  return true;
}
