-- Deferred constraint trigger that refuses a COMMIT of changes that the second database does not get (on row_images).
-- Raises CR503 (database_unavailable) unless collect_row_images has taken all row images of the transaction and
-- recorded its decision: for a process without db.multiwrite, a client such as psql, or a change after take_row_images.
-- Security definer: no role has rights to these tables.
create or replace function require_commit_decision()
returns trigger
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  if exists (select from row_images where xid = pg_current_xact_id())
    or not exists (select from commit_decisions where xid = pg_current_xact_id()) then
    raise exception 'Changes of this database are written to a second database as well, and this one was not.'
      using errcode = 'CR503', hint = 'Set db.multiwrite for this process, or start the API without it to end it everywhere.';
  end if;
  return null;
end
$$;
revoke all on function require_commit_decision() from public;
