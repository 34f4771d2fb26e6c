-- Returns on which noted changes a caller's state depends, and as of which snapshot, for AssumedPrincipal.
-- given: ids that the principal names or its state shows (person, session, token, delegation). Added: the session of a
-- delegation, the single sign-on of sessions and tokens, the organization with its ancestors up to and including a
-- deleted one and their founders, `organization:<id>` (tuples) and `*` (everybody).
-- Returns JSON as text: {snapshot: pg_snapshot, server: start time of PostgreSQL, scopes: [hashtextextended(id, 0), as
-- decimal text]}.
-- Must stay stable: pg_current_snapshot() is then that of the statement that reads the state. The hash is that of
-- note_caller_change, and each id under which its triggers note a change that can alter the state must be a scope.
create or replace function caller_basis(given text[], wanted_organization text)
returns text
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare ids text[] := given;
begin
  ids := ids || array(select d.session_id from delegations d where d.id = any(given));
  ids := ids || array(select s.single_sign_on_id from sessions s where s.id = any(ids))
    || array(select unnest(t.single_sign_on_ids) from personal_access_tokens t where t.id = any(given))
    || array[wanted_organization, 'organization:' || wanted_organization, '*'];
  ids := ids || array(select unnest(array[o.id, o.parent_id, o.founder_id]) from organizations o
    where o.id in (select c.id from organization_chain(wanted_organization) c));
  return json_build_object('snapshot', pg_current_snapshot()::text, 'server', pg_postmaster_start_time(), 'scopes',
    array(select distinct hashtextextended(id, 0)::text from unnest(ids) as id where id is not null))::text;
end
$$;
revoke all on function caller_basis(text[],text) from public;
grant execute on function caller_basis(text[],text) to core_app, core_system;
