-- Creates the partitions of the next days, drops old ones and prunes small tables, for maintainPartitions (outbox.ts).
-- at: present time of the process. keep_events: retention of events and deliveries; keep_history: of history.
-- record_changes are kept for one day more than their own, by the clock of the server, which stamps them.
-- sign_in_failures are kept for a day after the last failure, so no window of take_attempt may be longer.
-- Partitions are days in UTC, <parent>_YYYYMMDD, from today to three days ahead. A day of which the default partition
-- has rows stays there. Privileges are revoked from a new partition: default privileges would open it, and policies of
-- the parent do not apply to statements that name a partition.
-- Events and deliveries of a day are dropped together, once no event is unsettled and no delivery failing or held.
-- caller_changes: with more than 1000 rows, or one whose xid is yet to come (of a restored dump), all are replaced by
-- one for `*`, after which each state is read again.
-- Waiting for a lock on a partitioned table blocks everybody behind it, so lock_timeout is 500 ms, and a run that gets
-- no lock for DDL returns; the next run does the rest. A timeout in a deletion outside these blocks raises 55P03. New
-- partitions are created first, so that nothing else keeps rows of the next days in the default partitions.
-- It runs in the second database too (DatabaseHook.maintain): row images bring rows there, and no partitions.
-- Security definer: only the owner may create and drop tables.
create or replace function maintain_partitions(at timestamptz, keep_events interval, keep_history interval)
returns void
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
set "TimeZone" to 'UTC'
set lock_timeout to '500ms'
as $$
declare
  parent text; day date; child text; has_open boolean;
begin
  foreach parent in array array['events', 'event_deliveries', 'history', 'record_changes'] loop
    for day in select generate_series(at::date, at::date + 3, interval '1 day')::date loop
      child := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
      if to_regclass(child) is null then
        begin
          execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent, day, day + 1);
          execute format('revoke all on %I from core_app, core_system', child);
        exception
          when check_violation or duplicate_table then null; -- rows of that day lie in the default partition
          when lock_not_available then return;
        end;
      end if;
    end loop;
  end loop;
  delete from history_default where recorded_at < date_trunc('day', at - keep_history);
  delete from sign_in_failures where last_failed_at < at - interval '1 day';
  delete from record_changes_default where changed_at < now() - interval '2 days';
  for child in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where p.relname = 'record_changes' and c.relname ~ '_[0-9]{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= now() - interval '1 day'
  loop
    begin
      execute format('drop table %I', child);
    exception when lock_not_available then return;
    end;
  end loop;
  if exists (select 1 from caller_changes offset 1000) or exists (select 1 from caller_changes where xid >= pg_snapshot_xmax(pg_current_snapshot())) then
    delete from caller_changes;
    insert into caller_changes (scope) values (hashtextextended('*', 0));
  end if;
  for day in
    select distinct known.day from (
      select to_date(right(c.relname, 8), 'YYYYMMDD') as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname in ('events', 'event_deliveries') and c.relname ~ '_[0-9]{8}$'
      union select occurred_at::date from events_default
      union select occurred_at::date from event_deliveries_default) as known
    where known.day + 1 <= at - keep_events order by 1
  loop
    -- A day goes as a whole or stays as a whole: an event whose delivery is open is needed, and so are the rows that say
    -- which listeners have seen an event that is open.
    select exists (select 1 from events e where e.occurred_at >= day and e.occurred_at < day + 1
      and e.pending and e.settled_at is null)
      or exists (select 1 from event_deliveries d where d.occurred_at >= day and d.occurred_at < day + 1
      and d.state in ('failing', 'held')) into has_open;
    continue when has_open;
    begin
      delete from events_default where occurred_at >= day and occurred_at < day + 1;
      delete from event_deliveries_default where occurred_at >= day and occurred_at < day + 1;
      execute format('drop table if exists %I', format('events_%s', to_char(day, 'YYYYMMDD')));
      execute format('drop table if exists %I', format('event_deliveries_%s', to_char(day, 'YYYYMMDD')));
    exception when lock_not_available then return;
    end;
  end loop;
  for child in
    select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where p.relname = 'history' and c.relname ~ '_[0-9]{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= at - keep_history
  loop
    begin
      execute format('drop table %I', child);
    exception when lock_not_available then return;
    end;
  end loop;
end
$$;
revoke all on function maintain_partitions(timestamptz,interval,interval) from public;
grant execute on function maintain_partitions(timestamptz,interval,interval) to core_system;
