import type { Work } from '../kit/storage/work.ts';
import { entryColumns, entryOf, type Entry, type EntryRow } from '../kit/access/single-sign-on.ts';

/** Facts that decide whether a person continues in an organization after a sign-in. */
export interface FirstOrganization extends Entry {
  readonly organizationId: string;
}

const text = `select first.organization_id as id, ${entryColumns}
  from (select coalesce(u.last_organization_id, u.default_organization_id, (select m.organization_id from memberships m
      where m.user_id = u.id and m.deleted_at is null order by m.created_at, m.id limit 1)) as organization_id
    from users u where u.id = $1 and u.deleted_at is null) first
  cross join lateral organization_entry($1, first.organization_id, '') entry
  where first.organization_id is not null`;

/**
 * The organization in which a person acted last, else their default organization, else the one that they joined first, with their state
 * in it, in one statement: nearly everybody begins there. For a session that began with no single sign-on.
 * @returns undefined for a person without an organization
 */
export async function firstOrganization(work: Work, userId: string): Promise<FirstOrganization | undefined> {
  const session = await work.readAs('system');
  const { rows } = await session.query<EntryRow & { readonly id: string }>(text, [userId]);
  const [first] = rows;
  return first && { organizationId: first.id, ...entryOf(first) };
}
