-- Decides whether a single sign-on is still valid, for request_context, token_context and isSignOnCurrent.
-- True while the provider of the organization has this revision (it changes with issuer and client) and the membership
-- that let the person in exists; a later membership does not revive it. A null parameter gives false. The values are
-- those that sessions and personal tokens store.
-- It may read only columns that note_caller_change triggers watch. Security definer: it decides before row-level
-- security applies to the caller.
create or replace function is_sign_on_current(wanted_organization text, wanted_revision text, wanted_membership text)
returns boolean
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return exists (select 1 from identity_providers p where p.organization_id = wanted_organization
      and p.revision = wanted_revision and p.deleted_at is null)
    and exists (select 1 from memberships m where m.id = wanted_membership and m.deleted_at is null);
end
$$;
revoke all on function is_sign_on_current(text,text,text) from public;
grant execute on function is_sign_on_current(text,text,text) to core_app, core_system;
