-- Rebuilds an index of one partition, for reindexPartition (outbox/partition-indexes.ts). Meanwhile writes to the partition wait,
-- and so do reads: planning opens every index of the partitions that a query does not exclude. REINDEX CONCURRENTLY runs in no function.
-- wanted: name of the index. One that is not part of an index of a partitioned table raises P0001.
-- Waiting for a lock on a partition blocks everybody behind it, so lock_timeout is 500 ms; a later run tries again.
-- Security definer: only the owner may rebuild an index.
create or replace function reindex_partition(wanted text)
returns void
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
set lock_timeout to '500ms'
as $$
begin
  if not exists (select 1 from pg_inherits i join pg_class parent on parent.oid = i.inhparent and parent.relkind = 'I'
    where i.inhrelid = to_regclass(quote_ident(wanted))) then
    raise exception 'The index % belongs to no partition.', wanted;
  end if;
  execute format('reindex index %I', wanted);
end
$$;
revoke all on function reindex_partition(text) from public;
grant execute on function reindex_partition(text) to core_system;
