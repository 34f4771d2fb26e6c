import type { Work } from '../kit/storage/work.ts';

/** SQL of the person of a record, which may be deleted; its parameter is the id of the record. */
const people = {
  membership: 'select user_id from memberships where id = $1',
  user: 'select id from users where id = $1',
} as const;

/** The integrations for which the person of a membership or of an account is responsible without being a member, and the owner who is it next. */
export function integrationsLeftBy(
  work: Work,
  kind: keyof typeof people,
  id: string,
): Promise<{ readonly id: string; readonly ownerId: string | null }[]> {
  return work.rowsAsSystem(
    `select i.id, (select m.user_id from memberships m join users u on u.id = m.user_id
         where m.organization_id = i.organization_id and m.role = 'owner' and m.deleted_at is null
           and u.status = 'active' and u.deleted_at is null order by m.id limit 1) as "ownerId"
       from integrations i where i.responsible_id = (${people[kind]}) and i.deleted_at is null
         and not exists (select 1 from memberships m join users u on u.id = m.user_id and u.deleted_at is null
           where m.user_id = i.responsible_id and m.organization_id = i.organization_id and m.deleted_at is null)
       order by i.id`,
    [id],
  );
}
