-- Returns whether a person may act in an organization in a session of a given origin (readEntry, firstOrganization).
-- Sign-in, switch and refresh ask it before a session acts there. It must agree with request_context, but reads neither
-- the session nor groups, relations and gates (test/entities/caller-changes.test.ts compares both).
-- begun_with: the organization whose single sign-on began the session; '' for other ways to sign in.
-- Always one row. role: the strongest in the organization or an ancestor, whatever the session; null without one, and
-- then the other columns are empty. gap: null when the session may act; '' when it is valid only in the organization
-- whose single sign-on began it, and below; otherwise the id of the organization whose single sign-on is required.
-- modules: of entitlements_of. lacks_second_factor: required and missing; role stays.
-- single_sign_on_gap and lacks_second_factor are called only where a provider, the session or a setting requires it.
-- Security definer: it decides before row-level security applies.
create or replace function organization_entry(wanted_user text, wanted_organization text, begun_with text)
returns table(role text, gap text, modules text[], lacks_second_factor boolean)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare chain_ids text[];
begin
  chain_ids := array(select c.id from organization_chain(wanted_organization) c);
  select m.role into role from memberships m
    where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
    order by array_position(role_order(), m.role) limit 1;
  modules := '{}';
  lacks_second_factor := false;
  if role is not null then
    if begun_with <> '' or exists (select 1 from identity_providers p
        where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null) then
      gap := single_sign_on_gap(wanted_user, wanted_organization, begun_with);
    end if;
    select e.modules into modules from entitlements_of(chain_ids) e;
    lacks_second_factor := exists (select 1 from organization_settings o
        where o.organization_id = any(chain_ids) and o.requires_second_factor and o.deleted_at is null)
      and lacks_second_factor(wanted_user, wanted_organization);
  end if;
  return next;
end
$$;
revoke all on function organization_entry(text,text,text) from public;
grant execute on function organization_entry(text,text,text) to core_app, core_system;
