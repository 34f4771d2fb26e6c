import { Migration } from '@mikro-orm/migrations';

/**
 * What every kind stands on and no kind declares: the two working roles, history, the event outbox with its deliveries,
 * desired permission tuples, revoked tokens, sign-in failures, and the functions through which the app role reaches
 * tables it has no rights on.
 */
export class Migration0001Foundation extends Migration {
  override up(): void {
    for (const statement of [...roles, ...tables, ...functions, ...privileges]) this.addSql(statement);
  }

  override down(): void {
    for (const name of [
      'write_records(jsonb)',
      'request_context(text, text, text)',
      'maintain_partitions(timestamptz, interval, interval)',
    ]) {
      this.addSql(`drop function if exists ${name}`);
    }
    for (const table of [
      'sign_in_failures',
      'revoked_tokens',
      'desired_tuples',
      'event_deliveries',
      'events',
      'history',
    ]) {
      this.addSql(`drop table if exists ${table} cascade`);
    }
    // The roles belong to the server, not to this database: other databases may use them.
    this.addSql(
      'alter default privileges in schema public revoke select, insert, update on tables from core_app, core_system',
    );
  }
}

const roles = [
  `do $$
  declare name text;
  begin
    foreach name in array array['core_app', 'core_system'] loop
      begin
        execute format('create role %I nologin', name);
      exception when duplicate_object or unique_violation then null; -- made by another database of this server
      end;
      execute format('grant %I to %I', name, current_user);
    end loop;
  end $$`,
  'grant usage on schema public to core_app, core_system',
];

const tables = [
  `create table history (
    id text not null,
    recorded_at timestamptz not null,
    entity_kind text not null,
    entity_id text not null,
    organization_id text,
    operation text not null check (operation in ('created', 'updated', 'deleted')),
    record_version integer not null,
    changed_fields text[] not null,
    snapshot jsonb not null,
    actor text not null,
    request_id text not null,
    primary key (recorded_at, id)
  ) partition by range (recorded_at)`,
  'create index history_record on history (entity_kind, entity_id, recorded_at)',
  'create index history_organization on history (organization_id, recorded_at)',
  'create index history_request on history (request_id)',
  'create table history_default partition of history default',

  `create table events (
    id text not null,
    occurred_at timestamptz not null,
    topic text not null,
    entity_kind text not null,
    entity_id text not null,
    record_version integer not null,
    organization_id text,
    actor text not null,
    request_id text not null,
    traceparent text,
    payload jsonb not null,
    pending boolean not null,
    batch_id text,
    claimed_at timestamptz,
    settled_at timestamptz,
    primary key (occurred_at, id)
  ) partition by range (occurred_at)`,
  'create index events_unclaimed on events (occurred_at, id) where pending and batch_id is null',
  // Whose events wait, and the oldest of each: claims take turns between organizations (entities/kit/outbox/outbox.ts).
  `create index events_waiting on events (coalesce(organization_id, ''), occurred_at, id) where pending and batch_id is null`,
  'create index events_unsettled on events (batch_id) where pending and batch_id is not null and settled_at is null',
  'create index events_batch on events (batch_id) where batch_id is not null',
  'create index events_record on events (entity_id, record_version, id) where pending and settled_at is null',
  'create index events_request on events (request_id)',
  'create table events_default partition of events default',

  `create table event_deliveries (
    occurred_at timestamptz not null,
    event_id text not null,
    listener text not null,
    entity_id text not null,
    state text not null check (state in ('done', 'failing', 'held', 'skipped')),
    error text,
    updated_at timestamptz not null,
    primary key (occurred_at, event_id, listener)
  ) partition by range (occurred_at)`,
  `create index event_deliveries_open on event_deliveries (entity_id, listener) where state in ('failing', 'held')`,
  'create table event_deliveries_default partition of event_deliveries default',

  `create table desired_tuples (
    object text not null,
    relation text not null,
    subject text not null,
    organization_id text,
    present boolean not null,
    version bigint not null default 1,
    applied_version bigint not null default 0,
    confirm_at timestamptz,
    primary key (object, relation, subject)
  )`,
  'create index desired_tuples_unapplied on desired_tuples (object, relation, subject) where applied_version < version',
  'create index desired_tuples_unconfirmed on desired_tuples (confirm_at) where confirm_at is not null',

  `create table revoked_tokens (
    token_id text primary key,
    revoked_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create table sign_in_failures (
    key text primary key,
    failures integer not null,
    first_failed_at timestamptz not null,
    last_failed_at timestamptz not null
  )`,
];

const functions = [
  // Called by the kit with the history, events and tuples of one flush (entities/kit/write/change-log.ts).
  `create function write_records(doc jsonb) returns void language sql security definer set search_path = public, pg_temp as $$
    insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
      snapshot, actor, request_id)
    select h.id, h.at, h.entity_kind, h.entity_id, h.organization_id, h.operation, h.record_version, h.changed_fields,
      h.snapshot, h.actor, h.request_id
    from jsonb_to_recordset(doc -> 'history') as h (id text, at timestamptz, entity_kind text, entity_id text,
      organization_id text, operation text, record_version int, changed_fields text[], snapshot jsonb, actor text,
      request_id text);
    insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
      traceparent, payload, pending)
    select e.id, e.at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id,
      e.traceparent, e.payload, e.pending
    from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
      record_version int, organization_id text, actor text, request_id text, traceparent text, payload jsonb,
      pending boolean);
    insert into desired_tuples as held (object, relation, subject, organization_id, present)
    select t.object, t.relation, t.subject, t.organization_id, t.present
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id;
  $$`,
  // The one statement before a unit of work: who is this, still, and in which role (design, Life of a request).
  `create function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      (select m.role from memberships m join organizations o on o.id = m.organization_id and o.deleted_at is null
        where m.user_id = wanted_user and m.organization_id = wanted_organization and m.deleted_at is null);
  end $$`,
  // Day partitions (UTC) ahead of time, and the old ones dropped: events once nothing of their day is open, history by age.
  // Waiting for a lock on a partitioned table holds up everybody behind it, so a run gives up soon, and what it has not done
  // the next one does.
  `create function maintain_partitions(at timestamptz, keep_events interval, keep_history interval) returns void
    language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '500ms' as $$
  declare
    parent text; day date; child text; has_open boolean;
  begin
    delete from history_default where recorded_at < date_trunc('day', at - keep_history);
    delete from revoked_tokens where expires_at < at;
    delete from sign_in_failures where last_failed_at < at - interval '1 day';
    foreach parent in array array['events', 'event_deliveries', 'history'] loop
      for day in select generate_series(at::date, at::date + 3, interval '1 day')::date loop
        child := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
        if to_regclass(child) is null then
          begin
            execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent, day, day + 1);
          exception
            when check_violation or duplicate_table then null; -- rows of that day lie in the default partition
            when lock_not_available then return;
          end;
        end if;
      end loop;
    end loop;
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
  end $$`,
  `select maintain_partitions(now(), interval '1 day', interval '10 years')`,
];

const privileges = [
  'revoke all on function write_records(jsonb), request_context(text, text, text), maintain_partitions(timestamptz, interval, interval) from public',
  'grant execute on function write_records(jsonb), request_context(text, text, text) to core_app, core_system',
  'grant execute on function maintain_partitions(timestamptz, interval, interval) to core_system',
  'grant select, insert, update, delete on history, events, event_deliveries, desired_tuples, revoked_tokens, sign_in_failures to core_system',
  // Tables of the kinds, made by later migrations: rows are never deleted, only marked.
  'alter default privileges in schema public grant select, insert, update on tables to core_app, core_system',
];
