import { parseEmail } from '#entities/kit/base/email-address.ts';
import { domainProof } from '#entities/kit/base/proven-domain.ts';
import type { ProvisionedAccount } from '#entities/integrations/provisioning-rows.ts';
import type { DirectoryRole } from '../../clients/integrations/directory-settings.ts';

/** Consequences for an active account of the primary directory. */
export interface MembershipDecision {
  readonly provisioning: ProvisionedAccount['provisioning'];
  readonly problem: string | null;
  /** Membership that ends: the account is that of somebody else now. */
  readonly ends?: string;
  /** Membership that gets another role. */
  readonly changes?: { readonly membershipId: string; readonly role: DirectoryRole };
  /** Membership that a former directory has given, and about which this one decides from now on. */
  readonly adopts?: string;
  /** Person who becomes a member. */
  readonly admits?: string;
}

/** Roles that people alone give and take. */
const ownRoles: ReadonlySet<string> = new Set(['owner', 'super_admin']);

/**
 * Decides about the membership of the person of an account.
 * @param proven domains that belong to the organization
 */
export function decideMembership(
  account: ProvisionedAccount,
  role: DirectoryRole,
  proven: ReadonlySet<string>,
): MembershipDecision {
  const { membershipId, givenUserId, givenRole, userId } = account;
  const isGiven = membershipId !== null && givenUserId !== null;
  // Without another person who has the address, it is still theirs: they may have changed it here.
  if (isGiven && (userId === null || userId === givenUserId))
    return {
      provisioning: 'member',
      problem: null,
      ...roleChange(membershipId, givenRole, role),
    };
  const next = decideAdmission(account, role, proven);
  return isGiven ? { ...next, ends: membershipId } : next;
}

function roleChange(
  membershipId: string,
  held: string | null,
  role: DirectoryRole,
): Pick<MembershipDecision, 'changes'> {
  return held === role || ownRoles.has(held ?? '') ? {} : { changes: { membershipId, role } };
}

function decideAdmission(
  { organizationId, email, userId, heldMembershipId, heldRole, ...account }: ProvisionedAccount,
  role: DirectoryRole,
  proven: ReadonlySet<string>,
): MembershipDecision {
  if (email === null) return refused('The account has no e-mail address. Add one in the directory.');
  // It may end with that account; then this one gives one.
  if (account.isHeldByAnother)
    return waiting('Another account of the directory with this address gives the membership.');
  if (heldMembershipId === null) {
    if (account.wasRemoved)
      return refused('The person has left the organization or was removed by somebody. Invite them again.');
  } else if (!account.isHeldByDirectory)
    // Somebody has added the person, so the directory does not decide about them.
    return { provisioning: 'none', problem: null };
  const domain = domainOf(email);
  if (domain === undefined || !proven.has(domain)) return waiting(unproven(organizationId, domain ?? ''));
  // Said only about addresses of the organization: nobody finds out here who else has an account.
  if (userId === null)
    return waiting(`Nobody has confirmed the address ${email} here yet. The person signs up with it.`);
  if (heldMembershipId === null) return { provisioning: 'member', problem: null, admits: userId };
  return {
    provisioning: 'member',
    problem: null,
    adopts: heldMembershipId,
    ...roleChange(heldMembershipId, heldRole, role),
  };
}

function unproven(organizationId: string, domain: string): string {
  const { name, value } = domainProof(organizationId, domain);
  return `The domain ${domain} is not proven to belong to the organization. Publish the TXT record ${name} with the value ${value} in its zone.`;
}

export function domainOf(email: string | null): string | undefined {
  return email === null ? undefined : parseEmail(email)?.domain;
}

function refused(problem: string): MembershipDecision {
  return { provisioning: 'refused', problem };
}

function waiting(problem: string): MembershipDecision {
  return { provisioning: 'waiting', problem };
}
