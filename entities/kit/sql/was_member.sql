-- Decides whether a person was a member of an organization before, for people who join without invitation (wasMember).
-- True for any membership, also a deleted one, in this very organization, of the person; of an account that has or had
-- linked the identity (issuer, subject) in the realm of the organization; or of one that had the address and asked to
-- change it or was deleted (email_changes). Empty texts stand for no identity or address.
-- Memberships and identities must be read with their deleted rows: people who left or were removed need an invitation.
-- Security definer: row-level security would hide these rows.
create or replace function was_member(wanted_user text, wanted_organization text, wanted_issuer text, wanted_subject text, wanted_email text)
returns boolean
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
declare former text[];
begin
  former := array(select e.user_id from external_identities e
      where e.realm = wanted_organization and e.issuer = wanted_issuer and e.subject = wanted_subject
    union select c.user_id from email_changes c where c.email = wanted_email and c.deleted_at is null);
  return exists (select 1 from memberships m
    where m.user_id = any(former || wanted_user) and m.organization_id = wanted_organization);
end
$$;
revoke all on function was_member(text,text,text,text,text) from public;
grant execute on function was_member(text,text,text,text,text) to core_app, core_system;
