/** SQL: whether a person only reads in an organization: an auditor there, without another role there or in an organization above. */
export function isAuditor(userId: string, organizationId: string): string {
  return `exists (select 1 from memberships m where m.user_id = ${userId} and m.organization_id = ${organizationId}
      and m.role = 'auditor' and m.deleted_at is null)
    and not exists (select 1 from memberships m join organization_chain(${organizationId}) as c on c.id = m.organization_id
      where m.user_id = ${userId} and m.role <> 'auditor' and m.deleted_at is null)`;
}

/** SQL: whether all members of the group of `row` are auditors. A group without members may get others. */
export const hasOnlyAuditors = `exists (select 1 from group_memberships g where g.group_id = row.group_id and g.deleted_at is null)
  and not exists (select 1 from group_memberships g where g.group_id = row.group_id and g.deleted_at is null
    and not (${isAuditor('g.user_id', 'row.organization_id')}))`;
