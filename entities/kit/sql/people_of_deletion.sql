-- Ids of the people who are notified of the deletion of an organization: whoever manages it, and the owners of the organizations below
-- it, which are deleted with it.
-- Security definer: row-level security hides the memberships of other organizations.
create or replace function people_of_deletion(wanted text)
returns table(user_id text)
language sql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
  with recursive below as (
    select wanted as id
    union
    select o.id from organizations o join below on o.parent_id = below.id where o.deleted_at is null
  )
  select distinct m.user_id from memberships m join below on below.id = m.organization_id
  where m.deleted_at is null
    and (m.role = 'owner' or (m.organization_id = wanted and m.role in ('super_admin', 'admin')))
  order by 1
$$;
revoke all on function people_of_deletion(text) from public;
grant execute on function people_of_deletion(text) to core_system;
