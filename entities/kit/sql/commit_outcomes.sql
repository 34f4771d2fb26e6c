-- Returns how primary transactions ended whose changes are prepared in the second database, for settlePrepared.
-- wanted: xid8 as text. One row each: `commit` (a decision exists), `wait` (in progress), `unknown` (the id lies in the
-- future, so this database never had it: a restored backup, perhaps), otherwise `rollback`.
-- Must stay volatile and read pg_xact_status before commit_decisions, in READ COMMITTED: the second statement then sees
-- what was committed while the first ran. In the other order, committed changes could be rolled back in the second
-- database.
-- Security definer: core_system has no rights to commit_decisions.
create or replace function commit_outcomes(wanted text[])
returns table(xid text, outcome text)
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare state text;
begin
  foreach xid in array wanted loop
    begin
      state := pg_xact_status(xid::xid8);
    exception when invalid_parameter_value then
      state := 'unknown';
    end;
    outcome := case
      when exists (select from commit_decisions d where d.xid = commit_outcomes.xid::xid8) then 'commit'
      when state = 'in progress' then 'wait'
      when state = 'unknown' then 'unknown'
      else 'rollback' end;
    return next;
  end loop;
end
$$;
revoke all on function commit_outcomes(text[]) from public;
grant execute on function commit_outcomes(text[]) to core_system;
