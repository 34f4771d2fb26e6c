import { directoryAccount } from '#entities/integrations/directory-account.ts';
import { integration } from '#entities/integrations/integration.ts';
import {
  accountsToProvision,
  accountToProvision,
  isGivingMemberships,
  type ProvisionedAccount,
} from '#entities/integrations/provisioning-rows.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { provesDomain } from '#entities/kit/base/proven-domain.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { membership } from '#entities/organizations/membership.ts';
import { workContext } from '../../clients/temporal/work-origin.ts';
import type { ActivityDependencies } from '../../kit/activity-dependencies.ts';
import { readDirectoryRoles } from './directory-roles.ts';
import { decideMembership, domainOf, type MembershipDecision } from './decide-membership.ts';

/** Accounts that are read at once. */
const pageSize = 200;

const maxProblemLength = 500;

type Dependencies = Pick<ActivityDependencies, 'database' | 'textRecords' | 'logger'>;

/**
 * Decides about the memberships that the primary directory of an organization gives.
 * @param after id of the last account of the page before
 * @returns id of the last account; undefined after the last page, and for an integration that is not the primary directory
 */
export async function provisionPage(
  dependencies: Dependencies,
  integrationId: string,
  after: string,
): Promise<string | undefined> {
  const { database } = dependencies;
  const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
    database.transact(workContext(systemCaller('provision from directory'), `provision-${integrationId}`), work);
  const page = await transact(async (unit) => {
    const row = await unit.data.findOne(integration, { id: { eq: integrationId } });
    if (!row || !(await isGivingMemberships(unit, integrationId))) return undefined;
    const roleOf = await readDirectoryRoles(unit, row);
    return { row, roleOf, accounts: await accountsToProvision(unit, integrationId, { after, limit: pageSize }) };
  });
  if (!page) return undefined;
  const { row, roleOf, accounts } = page;
  // Between two transactions: a name server may take its time.
  const proven = await provenDomains(dependencies, row.organizationId, accounts);
  for (const account of accounts) {
    const decided = decideMembership(account, roleOf(account.groups), proven);
    if (!isNew(account, decided)) continue;
    const problem = await refusalOf(() => transact((unit) => provisionOne(unit, row.id, account.id, proven)));
    if (problem !== undefined) await transact((unit) => note(unit, account, { provisioning: 'refused', problem }));
  }
  return accounts.length < pageSize ? undefined : accounts.at(-1)?.id;
}

/** Domains of the addresses that belong to the organization, as their zones say. */
async function provenDomains(
  { textRecords, logger }: Dependencies,
  organizationId: string,
  accounts: readonly ProvisionedAccount[],
): Promise<ReadonlySet<string>> {
  const domains = new Set(accounts.flatMap(({ email }) => domainOf(email) ?? []));
  const proven = await Promise.all(
    [...domains].map(async (domain) => {
      try {
        return (await provesDomain(textRecords, organizationId, domain)) ? [domain] : [];
      } catch (error) {
        logger.warn({ err: error, domain }, 'a domain of a directory is not proven: no name server answers');
        return [];
      }
    }),
  );
  return new Set(proven.flat());
}

/** Whether a decision changes anything: a repeated one writes nothing. */
function isNew(account: ProvisionedAccount, decided: MembershipDecision): boolean {
  const { provisioning, problem, ...changes } = decided;
  return (
    shownPerson(account, decided) !== account.formerUserId ||
    provisioning !== account.provisioning ||
    problem !== account.provisioningProblem ||
    Object.keys(changes).length > 0
  );
}

/** The person of the account; nobody while it waits for somebody outside the organization, to whom the address may belong. */
function shownPerson(
  { userId, givenUserId, heldMembershipId }: ProvisionedAccount,
  { provisioning }: Pick<MembershipDecision, 'provisioning'>,
): string | null {
  return provisioning === 'waiting' && heldMembershipId === null ? null : (userId ?? givenUserId);
}

/** Decides again about an account that is locked. */
async function provisionOne(
  unit: UnitOfWork,
  integrationId: string,
  accountId: string,
  proven: ReadonlySet<string>,
): Promise<void> {
  const { data } = unit;
  const row = await data.findLocked(integration, integrationId);
  if (
    !row ||
    !(await isGivingMemberships(unit, integrationId)) ||
    !(await data.findLocked(directoryAccount, accountId))
  )
    return;
  const account = await accountToProvision(unit, integrationId, accountId);
  if (!account) return;
  const role = (await readDirectoryRoles(unit, row))(account.groups);
  const decided = decideMembership(account, role, proven);
  const { ends, changes, adopts, admits } = decided;
  if (ends !== undefined) await data.remove(membership, ends);
  if (changes) await data.update(membership, changes.membershipId, { role: changes.role });
  const made =
    admits === undefined
      ? undefined
      : await data.create(membership, { organizationId: row.organizationId, userId: admits, role });
  await note(unit, account, decided, made?.id ?? adopts);
}

async function note(
  { data, clock }: UnitOfWork,
  account: ProvisionedAccount,
  { provisioning, problem }: MembershipDecision,
  newId?: string,
): Promise<void> {
  const kept = provisioning === 'member' || provisioning === 'refused' ? account.membershipId : null;
  await data.update(directoryAccount, account.id, {
    provisioning,
    provisioningProblem: problem?.slice(0, maxProblemLength).toWellFormed() ?? null,
    userId: shownPerson(account, { provisioning }),
    membershipId: newId ?? kept,
    provisionedAt: clock.now(),
  });
}

/** Why the rules of memberships refuse a change; undefined when it was made. */
async function refusalOf(change: () => Promise<void>): Promise<string | undefined> {
  try {
    await change();
    return undefined;
  } catch (error) {
    if (isAppError(error) && (error.code === 'rule_violated' || error.code === 'last_owner')) return error.message;
    throw error;
  }
}
