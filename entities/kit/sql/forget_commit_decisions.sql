-- Deletes the decisions of transactions that are committed in both databases, for settlePrepared.
-- wanted: xid8 as text, from decided_commits. Pass none that is still prepared: without its decision, commit_outcomes
-- would answer `rollback`.
-- Security definer: core_system has no rights to commit_decisions.
create or replace function forget_commit_decisions(wanted text[])
returns void
language sql
security definer
set search_path to 'public', 'pg_temp'
as $$
delete from commit_decisions where xid = any(wanted::xid8[])
$$;
revoke all on function forget_commit_decisions(text[]) from public;
grant execute on function forget_commit_decisions(text[]) to core_system;
