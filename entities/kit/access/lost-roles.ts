import type { RoleSession } from '../storage/transaction.ts';

/** A person in an organization: as in a row of a membership. */
export type Place = Readonly<Record<'userId' | 'organizationId', string>>;

/**
 * The organizations below those of deleted memberships in which the person has no role any more, neither an own one nor one of an
 * organization above, and the organizations of the memberships themselves where that is so.
 * @param session of the system role: the organizations may be ones that the caller is not in
 */
export async function lostRoles(session: RoleSession, memberships: readonly Place[]): Promise<readonly Place[]> {
  const { rows } = await session.query<{ userId: string; organizationId: string }>(
    `with recursive below (user_id, organization_id) as (
       select user_id, organization_id from unnest($1::text[], $2::text[]) as given (user_id, organization_id)
       union select b.user_id, o.id from below b join organizations o on o.parent_id = b.organization_id and o.deleted_at is null)
     select b.user_id as "userId", b.organization_id as "organizationId" from below b where not exists (
       select 1 from memberships m where m.user_id = b.user_id and m.deleted_at is null
         and m.organization_id in (select c.id from organization_chain(b.organization_id) c))`,
    [memberships.map(({ userId }) => userId), memberships.map(({ organizationId }) => organizationId)],
  );
  return rows;
}
