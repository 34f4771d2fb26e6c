import type { Work } from '../kit/storage/work.ts';
import { managerRoles } from '../presets/roles.ts';

/**
 * Ids of the people who are notified of the deletion of an organization: whoever manages it, and the owners of the organizations below it, which
 * are deleted with it.
 */
export async function peopleOfDeletion(work: Work, organizationId: string): Promise<string[]> {
  const rows = await work.rowsAsSystem<{ userId: string }>(
    `with recursive below as (select $1::text as id union
       select o.id from organizations o join below on o.parent_id = below.id where o.deleted_at is null)
     select distinct m.user_id as "userId" from memberships m join below on below.id = m.organization_id
     where m.deleted_at is null and (m.role = 'owner' or (m.organization_id = $1 and m.role = any($2::text[]))) order by 1`,
    [organizationId, managerRoles],
  );
  return rows.map(({ userId }) => userId);
}
