-- Takes the row images of this transaction and records the decision to commit it, for take_row_images only.
-- Returns gid (`core_<installation>_<xid>`, the name for PREPARE TRANSACTION) and images (JSON text for
-- apply_row_images, in the order of the statements); no row when nothing was captured.
-- Raises CR503 when the transaction has an id and second_database is neither `copying` nor `on`.
-- The row in commit_decisions becomes visible with the commit; settlePrepared decides by it, so the decision and the
-- changes must be in one transaction, which must commit synchronously. A change after this call fails at COMMIT
-- (require_commit_decision).
-- Granted to no role; security definer because none has rights to these tables.
create or replace function collect_row_images()
returns table(gid text, images text)
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare taken jsonb;
begin
  if pg_current_xact_id_if_assigned() is null then return; end if;
  if not exists (select from second_database where state in ('copying', 'on')) then
    raise exception 'The changes of this database are no longer written to a second one.'
      using errcode = 'CR503', hint = 'Start this process again, or without db.multiwrite.';
  end if;
  with gone as (delete from row_images where xid = pg_current_xact_id() returning position, table_name, removed, written)
  select jsonb_agg(jsonb_build_object('table', table_name, 'removed', removed, 'written', written) order by position)
    into taken from gone;
  if taken is null then return; end if;
  insert into commit_decisions (xid) values (pg_current_xact_id());
  -- A decision that a crash of the server forgets would leave the second database ahead.
  perform set_config('synchronous_commit', 'on', true)
    where current_setting('synchronous_commit') = 'off';
  return query select format('core_%s_%s', i.id, pg_current_xact_id()), taken::text from installation i;
end
$$;
revoke all on function collect_row_images() from public;
