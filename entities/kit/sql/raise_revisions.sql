-- Increments the authorization revisions of scopes, which invalidates cached decisions, for bumpRevisions.
-- scopes: ids of organizations, and `system`; duplicates are ignored.
-- Locks its rows until the end of the transaction, sorted, so that transactions cannot deadlock. It is the last change
-- of a transaction; only take_row_images follows. Other transactions that raise the same scopes wait for the commit.
-- Security definer: no role may write authorization_revisions.
create or replace function raise_revisions(scopes text[])
returns void
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  insert into authorization_revisions as held (scope, revision)
  select distinct given.scope, 1 from unnest(scopes) as given (scope) order by given.scope
  on conflict (scope) do update set revision = held.revision + 1;
end
$$;
revoke all on function raise_revisions(text[]) from public;
grant execute on function raise_revisions(text[]) to core_app, core_system;
