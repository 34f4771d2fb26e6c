-- Returns the ids of the versions of workflow definitions that hold changes in an organization, sorted, for
-- request_context, token_context, delegation_context and readGates. A version never changes, so what it holds is known
-- by its id.
-- wanted_organization may be null: then there are none. Ancestors do not matter: a definition concerns its organization.
-- Stable, plpgsql, security definer, watched columns and aliases: as request_context.
create or replace function gates_of(wanted_organization text)
returns text[]
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return array(select v.id from workflow_versions v
    where v.organization_id = wanted_organization and v.ended_at is null and v.is_gate and v.deleted_at is null
    order by v.id);
end
$$;
revoke all on function gates_of(text) from public;
grant execute on function gates_of(text) to core_app, core_system;
