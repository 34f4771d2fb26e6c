-- Returns the current state of the caller of an API or personal token, for principal-state.ts with each request.
-- wanted_sort: `api`; otherwise a personal token. wanted_hashes: separated by spaces, the hash of the secret by each
-- key that verifies, or in its place `~` and the first 32 hexadecimal digits of the SHA-256 of the stored hash, which
-- download links have. wanted_organization: where the caller wants to act; may be null. Always one row.
-- is_signed_in: the token exists, is not deleted, and one of the hashes fits. expires_at is returned and not judged;
-- null: never.
-- API token: is_active when wanted_organization is null or its own, and that exists. role null, no groups or relations:
-- its rights are its scopes. modules, billing: entitlements_of the organization and its ancestors. gates: gates_of it.
-- user_id null.
-- Personal token: it acts in wanted_organization, else the first that it names, else the first that its owner joined;
-- if the token names organizations and wanted_organization is none of them, organization_id is null. The rest is
-- request_context of the owner: with session `*` when a single sign-on that authorized the token is current and leaves
-- no gap, otherwise with '', to which enforced single sign-on applies. is_active: the owner is active and has a role.
-- The statement in principal-state.ts adds lacks_second_factor.
-- Stable, plpgsql, security definer, watched columns and aliases: as request_context.
create or replace function token_context(wanted_sort text, wanted_id text, wanted_hashes text, wanted_organization text)
returns table(is_signed_in boolean, is_active boolean, role text, group_ids text[], relations text[], modules text[], billing text[], gates text[], user_id text, organization_id text, scopes text[], expires_at timestamptz)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
#variable_conflict use_column
declare
  is_known boolean; found_user text; found_organization text; found_organizations text[]; found_scopes text[]; found_expiry timestamptz; found_authorized text[]; found_revisions text[]; found_memberships text[];
begin
  if wanted_sort = 'api' then
    select t.organization_id, t.scopes, t.expires_at into found_organization, found_scopes, found_expiry from api_tokens t
      where t.id = wanted_id and (t.secret_hash = any(string_to_array(wanted_hashes, ' '))
        or '~' || left(encode(sha256(convert_to(t.secret_hash, 'UTF8')), 'hex'), 32) = any(string_to_array(wanted_hashes, ' '))) and t.deleted_at is null;
    is_known := found;
    return query select is_known,
      coalesce(wanted_organization, found_organization) = found_organization
        and exists (select 1 from organizations o where o.id = found_organization and o.deleted_at is null),
      null::text, '{}'::text[], '{}'::text[], e.modules, e.billing, gates_of(found_organization), null::text, found_organization, found_scopes, found_expiry
      from entitlements_of(array(select c.id from organization_chain(found_organization) c)) e;
  else
    select t.user_id, t.organization_ids, t.scopes, t.expires_at, t.single_sign_on_ids, t.single_sign_on_revisions, t.single_sign_on_membership_ids
      into found_user, found_organizations, found_scopes, found_expiry, found_authorized, found_revisions, found_memberships from personal_access_tokens t
      where t.id = wanted_id and (t.secret_hash = any(string_to_array(wanted_hashes, ' '))
        or '~' || left(encode(sha256(convert_to(t.secret_hash, 'UTF8')), 'hex'), 32) = any(string_to_array(wanted_hashes, ' '))) and t.deleted_at is null;
    is_known := found;
    found_organization := coalesce(wanted_organization, found_organizations[1], (select m.organization_id from memberships m
      where m.user_id = found_user and m.deleted_at is null order by m.created_at, m.id limit 1));
    if cardinality(found_organizations) > 0 and found_organization <> all(found_organizations) then
      found_organization := null;
    end if;
    return query select is_known, c.is_active and c.role is not null, c.role, c.group_ids, c.relations, c.modules, c.billing, c.gates,
      found_user, found_organization, found_scopes, found_expiry
      from request_context(found_user, case when exists (select 1 from unnest(found_authorized, found_revisions, found_memberships) as a (id, revision, membership)
        where is_sign_on_current(a.id, a.revision, a.membership) and single_sign_on_gap(found_user, found_organization, a.id) is null)
      then '*' else '' end, found_organization) c;
  end if;
end
$$;
revoke all on function token_context(text,text,text,text) from public;
grant execute on function token_context(text,text,text,text) to core_app, core_system;
