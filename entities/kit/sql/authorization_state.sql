-- Returns the state on which cached authorization decisions depend, for readAuthorizationState and the result cache.
-- organizations: the organization and its ancestors, nearest first; null when it is unknown, deleted or null.
-- revisions: `scope=revision` of these and of `system`, sorted, as one text that callers compare. is_behind: a tuple
-- that changes rights to existing records (raises) has not reached the authorization store. has_waiting: any tuple has
-- not.
-- Stable: as of the calling statement, not of the beginning of the transaction. The recursion is that of
-- organization_chain, as in request_context; change all three together. Security definer: core_app has no rights to
-- revisions and tuples.
create or replace function authorization_state(wanted_organization text)
returns table(organizations text[], revisions text, is_behind boolean, has_waiting boolean)
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return query with scopes as (
    select c.id as scope, true as is_organization, c.depth from (with recursive chain as (
      select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted_organization and o.deleted_at is null
      union all
      select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
      where o.deleted_at is null and chain.depth < 25
    ) select chain.id, chain.depth from chain) c
    union all select 'system', false, 0
  )
  select array_agg(s.scope order by s.depth) filter (where s.is_organization),
    string_agg(s.scope || '=' || coalesce(r.revision, 0), ' ' order by s.scope),
    coalesce(bool_or(w.raises), false),
    bool_or(w.raises is not null)
  from scopes s left join authorization_revisions r using (scope)
  left join lateral (
    select bool_or(t.raises) as raises from desired_tuples t
    where coalesce(t.organization_id, 'system') = s.scope and t.applied_version < t.version
  ) w on true;
end
$$;
revoke all on function authorization_state(text) from public;
grant execute on function authorization_state(text) to core_app, core_system;
