import { asOwner } from '../as-owner.ts';
import type { Person } from '../people.ts';
import type { World } from '../world.ts';

/** Organizations of one statement. */
const together = 10_000;

/**
 * Stores organizations as a release has left them that knew no addresses for invoices: rows alone, without history. The person owns all of
 * them.
 */
export async function storeOlderOrganizations(world: World, { user }: Person, count: number): Promise<void> {
  const stamps = `now(), now(), 'system:older', 'system:older', 1`;
  const stampColumns = 'created_at, updated_at, created_by, updated_by, record_version';
  for (let done = 0; done < count; done += together)
    await asOwner(
      world,
      `with numbers as (select lpad(upper(to_hex(n)), 23, '0') as digits, n from generate_series($1::int, $2::int) as n),
         made as (insert into organizations (id, ${stampColumns}, name, name_form, is_personal, is_archived)
           select '01A' || digits, ${stamps}, 'older-' || n, 'older-' || n, false, false from numbers),
         settings as (insert into organization_settings (id, ${stampColumns}, organization_id, timezone, requires_second_factor,
             files_need_verdict, email_domains, admits_email_domains, email_theme)
           select '01B' || digits, ${stamps}, '01A' || digits, 'UTC', false, false, '{}', false, 'modern' from numbers)
       insert into memberships (id, ${stampColumns}, organization_id, user_id, role)
       select '01C' || digits, ${stamps}, '01A' || digits, $3, 'owner' from numbers`,
      [done + 1, Math.min(done + together, count), user.id],
    );
  for (const table of ['organizations', 'organization_settings', 'memberships'])
    await asOwner(world, `analyze ${table}`);
}
