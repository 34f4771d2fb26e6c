import { Migration } from '@mikro-orm/migrations';

const signature = `create or replace function file_availability(verdict text, organization text, owner_kind text) returns text`;
const security = 'stable security definer set search_path = public, pg_temp';
const isAwaited = `verdict is null and owner_kind not in ('export', 'import') and exists (select 1 from organization_settings s
      where s.organization_id = organization and s.files_need_verdict and s.deleted_at is null)`;

/**
 * Asked for each file of a list, and for each download. PostgreSQL plans the body of a function in SQL anew for each statement if it is
 * not inlined, which those with the rights of their owner are not; plans of PL/pgSQL are kept.
 */
const planned = `${signature}
  language plpgsql ${security} as $$
  begin
    if verdict = 'infected' then return 'infected'; end if;
    if ${isAwaited} then return 'awaiting_verdict'; end if;
    return 'available';
  end $$`;

const unplanned = `${signature}
  language sql ${security} as $$
  select case
    when verdict = 'infected' then 'infected'
    when ${isAwaited} then 'awaiting_verdict'
    else 'available'
  end $$`;

export class Migration20261125230500QuickFileAvailability extends Migration {
  override up(): void {
    this.addSql(planned);
  }

  override down(): void {
    this.addSql(unplanned);
  }
}
