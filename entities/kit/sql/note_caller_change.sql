-- Row trigger that notes in caller_changes whose state a change concerns, for AssumedPrincipal and the change feed.
-- The triggers note_insert, note_update and note_delete call it after changes of every table that request_context,
-- token_context, delegation_context and the functions called by them read. tg_argv[0] names the column with the id of
-- the person, session, token, delegation or organization, or the object of a tuple; `id` is read without making a
-- document of the row. old is null in an insert, new in a delete.
-- It inserts the hash of the id afterwards, and of a different id before; xid is set by default. AssumedPrincipal asks
-- for notes on the scopes of caller_basis whose xid was not visible when the state was read: neither clocks nor the
-- order of commits matter. The hash and its seed must be those of caller_basis.
-- core.noted_callers counts the calls in the transaction; a rollback to a savepoint undoes it together with the rows.
-- After 100 calls, one note for `*` (everybody) follows, and then none.
-- The triggers are derived from the kinds (decidesCallers, storage/caller-triggers.ts). The note_update trigger of a
-- table must compare every column that those functions read (test/entities/caller-changes.test.ts).
-- session_replication_role = replica and TRUNCATE note nothing: stop all processes before using them.
-- Security definer: roles may read caller_changes, and not write it.
create or replace function note_caller_change()
returns trigger
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare
  noted int := coalesce(nullif(current_setting('core.noted_callers', true), ''), '0')::int;
  before text; after text;
begin
  if noted > 100 then return null; end if;
  if tg_argv[0] = 'id' then
    before := old.id;
    after := new.id;
  else
    before := to_jsonb(old) ->> tg_argv[0];
    after := to_jsonb(new) ->> tg_argv[0];
  end if;
  if noted = 100 then
    insert into caller_changes (scope) values (hashtextextended('*', 0));
  elsif coalesce(after, before) is not null then
    insert into caller_changes (scope) values (hashtextextended(coalesce(after, before), 0));
    if before <> after then insert into caller_changes (scope) values (hashtextextended(before, 0)); end if;
  end if;
  perform set_config('core.noted_callers', (noted + 1)::text, true);
  return null;
end
$$;
revoke all on function note_caller_change() from public;
