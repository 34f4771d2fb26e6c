import type { Refusal } from '../behaviour.ts';

/** SQL: whether a person only reads in an organization: an auditor there, without another role there or in an organization above. */
export function isAuditor(userId: string, organizationId: string): string {
  return `exists (select 1 from memberships m where m.user_id = ${userId} and m.organization_id = ${organizationId}
      and m.role = 'auditor' and m.deleted_at is null)
    and not exists (select 1 from memberships m join organization_chain(${organizationId}) as c on c.id = m.organization_id
      where m.user_id = ${userId} and m.role <> 'auditor' and m.deleted_at is null)`;
}

/** SQL: whether all members of the group of `row` are auditors. A group without members may get others. */
const hasOnlyAuditors = `exists (select 1 from group_memberships g where g.group_id = row.group_id and g.deleted_at is null)
  and not exists (select 1 from group_memberships g where g.group_id = row.group_id and g.deleted_at is null
    and not (${isAuditor('g.user_id', 'row.organization_id')}))`;

/** Groups of auditors alone get no right that auditors do not have. @param which SQL: a condition on the record that gives it */
export function refusedToAuditors(message: string, which = 'true'): Refusal<'groupId'> {
  const refuseIf = `${which} and ${hasOnlyAuditors}`;
  return { unlessSystem: true, refuseIf, field: 'groupId', code: 'rule_violated', message };
}
