-- Returns an organization and its ancestors, nearest first, for the functions and statements that decide rights.
-- The chain ends below a deleted organization and after 25 levels (hierarchies have at most 20); there is no row for an
-- organization that is unknown or deleted.
-- single_sign_on_gap and deciding_membership rely on the order of the rows. request_context and authorization_state
-- repeat the recursion; change all three together.
-- plpgsql because its plans are kept. Security definer: row-level security can hide ancestors from the caller.
create or replace function organization_chain(wanted text)
returns table(id text)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return query with recursive chain as (
      select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted and o.deleted_at is null
      union all
      select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
      where o.deleted_at is null and chain.depth < 25
    ) select chain.id from chain order by chain.depth;
end
$$;
revoke all on function organization_chain(text) from public;
grant execute on function organization_chain(text) to core_app, core_system;
