-- Returns the current state of a person in a session and an organization, for principal-state.ts with each request.
-- wanted_session: id of the session; `*`: none is judged (is_signed_in is false, single sign-on ignored); '': none, as
-- for tokens, but enforced single sign-on applies. wanted_user `*`: nobody, of whom only the modules are wanted.
-- wanted_organization may be null. Always one row.
-- is_active: the person exists and is active. is_signed_in: the session is theirs and not deleted, and its single
-- sign-on is current. role: the strongest in the organization or an ancestor; null without one, or when
-- single_sign_on_gap refuses the session; then groups, relations, modules, billing and gates are empty. group_ids: groups in
-- this organization. relations: on the organization, of the person or these groups, except roles. modules, billing:
-- entitlements_of. gates: gates_of. single_sign_on_id: with which the session began. lacks_second_factor: role stays here, and stateIn
-- removes it.
-- Arrays are sorted: a state is compared as text with the one read before. Times are not judged.
-- Must stay stable, and plpgsql, because PostgreSQL would plan the statements of an SQL function anew at each call. It
-- may read only columns that note_caller_change triggers watch, each table with an alias
-- (test/entities/caller-changes.test.ts). organization_entry must agree; the recursion is that of organization_chain.
-- Security definer: row-level security would hide rows that decide the state.
create or replace function request_context(wanted_user text, wanted_session text, wanted_organization text)
returns table(is_active boolean, is_signed_in boolean, role text, group_ids text[], relations text[], modules text[], billing text[], gates text[], single_sign_on_id text, lacks_second_factor boolean)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare
  chain_ids text[]; found_role text; found_groups text[] := '{}'; found_relations text[] := '{}'; found_modules text[] := '{}'; found_billing text[] := '{}'; found_gates text[] := '{}';
  is_known boolean; begun_with text; begun_revision text; begun_membership text;
begin
  chain_ids := array(with recursive chain as (
      select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted_organization and o.deleted_at is null
      union all
      select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
      where o.deleted_at is null and chain.depth < 25
    ) select chain.id from chain);
  select m.role into found_role from memberships m
    where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
    order by array_position(role_order(), m.role) limit 1;
  select s.single_sign_on_id, s.single_sign_on_revision, s.single_sign_on_membership_id into begun_with, begun_revision, begun_membership from sessions s
    where s.id = wanted_session and s.user_id = wanted_user and s.deleted_at is null;
  is_known := found;
  if wanted_session <> '*' and found_role is not null
    and (begun_with is not null or exists (select 1 from identity_providers p
      where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null))
    and single_sign_on_gap(wanted_user, wanted_organization, coalesce(begun_with, '')) is not null then
    found_role := null;
  end if;
  if found_role is not null then
    found_groups := array(select g.group_id from group_memberships g
      where g.user_id = wanted_user and g.organization_id = wanted_organization and g.deleted_at is null order by g.group_id);
    found_relations := array(select distinct t.relation from desired_tuples t
      where t.present and t.object = 'organization:' || wanted_organization and t.relation <> all(role_order())
        and t.subject = any('user:' || wanted_user || array(select 'group:' || g || '#member' from unnest(found_groups) g))
      order by t.relation);
    found_gates := gates_of(wanted_organization);
  end if;
  if found_role is not null or wanted_user = '*' then
    select e.modules, e.billing into found_modules, found_billing from entitlements_of(chain_ids) e;
  end if;
  return query select
    exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
    is_known and (begun_with is null or is_sign_on_current(begun_with, begun_revision, begun_membership)),
    found_role, found_groups, found_relations, found_modules, found_billing, found_gates, begun_with,
    found_role is not null and exists (select 1 from organization_settings o
      where o.organization_id = any(chain_ids) and o.requires_second_factor and o.deleted_at is null)
      and lacks_second_factor(wanted_user, wanted_organization);
end
$$;
revoke all on function request_context(text,text,text) from public;
grant execute on function request_context(text,text,text) to core_app, core_system;
