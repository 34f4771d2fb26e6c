import { groupMembership } from '../../groups/group-membership.ts';
import { personIn, roles, type Role } from '../../kit/model/caller.ts';
import { membership } from '../../organizations/membership.ts';
import { managerRoles } from '../../presets/roles.ts';
import { resolversOf } from '../document/automated-kinds.ts';
import type { Target } from '../document/definition-document.ts';
import { rowOfRecord } from '../../kit/unit/record-rows.ts';
import type { ApprovalWork, LockedInstance } from './approval-work.ts';

/** Most people of one group or role who are asked. */
const maxPeople = 500;

/** Roles of the resolver OWNER. */
const ownerRoles = ['owner', 'super_admin'] as const satisfies readonly Role[];

/** A record about which people are asked, and its organization. */
interface AskedAbout extends Pick<LockedInstance, 'module' | 'record'> {
  readonly instance: Pick<LockedInstance['instance'], 'organizationId' | 'subjectId'>;
}

/** Ids of the people whom targets name now, in a deleted record by its last values. They may have left, or lack rights (`eligibleOf`). */
export async function peopleOf(
  work: ApprovalWork,
  about: AskedAbout,
  targets: readonly Target[],
): Promise<ReadonlySet<string>> {
  const people = new Set<string>();
  for (const target of targets) for (const userId of await peopleOfTarget(work, about, target)) people.add(userId);
  return people;
}

/** Owners and admins, who are asked where nobody else is named. */
export function managersOf(
  work: ApprovalWork,
  { instance }: { readonly instance: Pick<LockedInstance['instance'], 'organizationId'> },
) {
  return peopleWith(work, instance.organizationId, managerRoles);
}

async function peopleOfTarget(
  work: ApprovalWork,
  { instance: { organizationId, subjectId }, module, record }: AskedAbout,
  target: Target,
): Promise<readonly string[]> {
  if (target.type === 'ROLE') {
    const held = roles.filter((role) => role === target.id.toLowerCase());
    return peopleWith(work, organizationId, held);
  }
  if (target.type !== 'RESOLVER') return target.type === 'USER' ? [target.id] : groupMembers(work, target.id);
  if (target.resolver_key === 'OWNER') return peopleWith(work, organizationId, ownerRoles);
  const named = record ?? (await rowOfRecord(work.unit, module, subjectId));
  const { createdBy } = named ?? {};
  if (target.resolver_key === 'OBJECT_CREATOR') return typeof createdBy === 'string' ? personIn(createdBy) : [];
  const value = named?.[resolversOf(module).get(target.resolver_key) ?? ''];
  return typeof value === 'string' ? [value] : [];
}

async function groupMembers({ data }: ApprovalWork, groupId: string): Promise<string[]> {
  const found = await data.find(groupMembership, { where: { groupId: { eq: groupId } }, limit: maxPeople });
  return found.map(({ userId }) => userId);
}

async function peopleWith(
  { data }: ApprovalWork,
  organizationId: string,
  held: readonly Role[],
): Promise<readonly string[]> {
  const where = { organizationId: { eq: organizationId }, role: { in: [...held] } };
  const found = held.length === 0 ? [] : await data.find(membership, { where, limit: maxPeople });
  return found.map(({ userId }) => userId);
}
