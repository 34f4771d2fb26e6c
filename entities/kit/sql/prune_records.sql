-- Removes records for good, with their history and entries in record_kinds, for pruneRecords (outbox/old-records.ts).
-- wanted_kind: name of the kind in snake_case. wanted_table: its table, one of the list in the body (kinds that nobody
-- has to find again); others raise P0001. ids: rows that the caller has locked. Returns the number of removed rows.
-- History is searched from a day before the oldest of the records on, so older partitions are skipped; clocks may
-- differ.
-- Security definer: rows of kinds are otherwise only marked as deleted, and core_system may not delete them.
create or replace function prune_records(wanted_kind text, wanted_table text, ids text[])
returns integer
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
declare since timestamptz; pruned int;
begin
  if wanted_table <> all(array['emails', 'account_emails', 'webhook_events']) then
    raise exception 'Records of % are not pruned.', wanted_table;
  end if;
  execute format('select min(created_at) from %I where id = any($1)', wanted_table) into since using ids;
  -- Clocks may differ.
  delete from history where entity_kind = wanted_kind and entity_id = any(ids) and recorded_at >= since - interval '1 day';
  delete from record_kinds where kind = wanted_kind and id = any(ids);
  execute format('delete from %I where id = any($1)', wanted_table) using ids;
  get diagnostics pruned = row_count;
  return pruned;
end
$$;
revoke all on function prune_records(text,text,text[]) from public;
grant execute on function prune_records(text,text,text[]) to core_system;
