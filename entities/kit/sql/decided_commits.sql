-- Returns the ids of transactions with a recorded decision to commit (xid8 as text), for settlePrepared.
-- settlePrepared must read them before it lists what is prepared in the second database: an id that is decided and no
-- longer prepared has been committed there as well, and forget_commit_decisions deletes it.
-- Security definer: core_system has no rights to commit_decisions.
create or replace function decided_commits()
returns text[]
language sql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
select coalesce(array_agg(xid::text), '{}') from commit_decisions
$$;
revoke all on function decided_commits() from public;
grant execute on function decided_commits() to core_system;
