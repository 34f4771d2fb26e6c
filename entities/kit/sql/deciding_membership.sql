-- Returns the id of the membership that gives a person their role in an organization, for decidingMembership.
-- Of the memberships there and in ancestors: the strongest role, then the nearest organization, then the lowest id;
-- null without any. The order of organizations is that of organization_chain.
-- Sessions of single sign-on and delegations store the id and end with this membership (is_sign_on_current,
-- delegation_context).
-- Security definer: row-level security can hide memberships in ancestors.
create or replace function deciding_membership(wanted_user text, wanted_organization text)
returns text
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare chain_ids text[];
begin
  chain_ids := array(select c.id from organization_chain(wanted_organization) c);
  return (select m.id from memberships m
    where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
    order by array_position(role_order(), m.role),
      array_position(chain_ids, m.organization_id), m.id limit 1);
end
$$;
revoke all on function deciding_membership(text,text) from public;
grant execute on function deciding_membership(text,text) to core_app, core_system;
