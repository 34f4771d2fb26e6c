-- Decides whether a person lacks a second factor that an organization requires, for the states of callers.
-- True when the organization or an ancestor sets requires_second_factor and the person has no confirmed second factor.
-- It does not look at roles: callers use the result for people with a role only.
-- Called by request_context, organization_entry, delegation_context, and the statement for tokens in
-- principal-state.ts; plpgsql because its plans are kept. It may read only columns that note_caller_change triggers
-- watch.
-- Security definer: row-level security would hide settings of ancestors and factors.
create or replace function lacks_second_factor(wanted_user text, wanted_organization text)
returns boolean
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return exists (select 1 from organization_settings s
      where s.organization_id in (select c.id from organization_chain(wanted_organization) c)
        and s.requires_second_factor and s.deleted_at is null)
    and not exists (select 1 from second_factors f
      where f.user_id = wanted_user and f.confirmed_at is not null and f.deleted_at is null);
end
$$;
revoke all on function lacks_second_factor(text,text) from public;
grant execute on function lacks_second_factor(text,text) to core_app, core_system;
