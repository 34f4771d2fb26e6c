create table history (
  id text not null,
  recorded_at timestamptz not null,
  entity_kind text not null,
  entity_id text not null,
  organization_id text,
  operation text not null,
  record_version integer not null,
  changed_fields text[] not null,
  snapshot jsonb not null,
  actor text not null,
  request_id text not null,
  constraint history_operation_check check ((operation = any (array['created', 'updated', 'deleted'])))
)
partition by range (recorded_at);
create table history_default partition of history default;
alter table history add constraint history_pkey primary key (recorded_at, id);
create index history_record on history (entity_kind, entity_id, recorded_at);
create index history_organization on history (organization_id, recorded_at);
create index history_request on history (request_id);
alter table history enable row level security;
create policy history_system on history to core_system using (true) with check (true);
grant select,insert,delete,update on table history to core_system;
grant select on table history to core_app;

create table events (
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
  request_method text,
  request_route text,
  request_status integer
)
partition by range (occurred_at);
create table events_default partition of events default;
alter table events add constraint events_pkey primary key (occurred_at, id);
create index events_unsettled on events (batch_id) where (pending and (batch_id is not null) and (settled_at is null));
create index events_batch on events (batch_id) where (batch_id is not null);
create index events_waiting on events (coalesce(organization_id, ''), occurred_at, id) where (pending and (batch_id is null));
create index events_record on events (entity_id, record_version, id) where (pending and (settled_at is null));
create index events_unclaimed on events (occurred_at, id) where (pending and (batch_id is null));
create index events_request on events (request_id);
grant select,insert,delete,update on table events to core_system;

create table event_deliveries (
  occurred_at timestamptz not null,
  event_id text not null,
  listener text not null,
  entity_id text not null,
  state text not null,
  error text,
  updated_at timestamptz not null,
  constraint event_deliveries_state_check check ((state = any (array['done', 'failing', 'held', 'skipped'])))
)
partition by range (occurred_at);
create table event_deliveries_default partition of event_deliveries default;
alter table event_deliveries add constraint event_deliveries_pkey primary key (occurred_at, event_id, listener);
create index event_deliveries_open on event_deliveries (entity_id, listener) where (state = any (array['failing', 'held']));
create index event_deliveries_undone on event_deliveries (occurred_at, event_id, listener) where (state <> 'done');
grant select,insert,delete,update on table event_deliveries to core_system;

create table event_repairs (
  repair_id text not null,
  operation text not null,
  at timestamptz not null,
  selection jsonb,
  operator text not null,
  reason text not null,
  constraint event_repairs_check check (((selection is null) = (operation = 'stop'))),
  constraint event_repairs_operation_check check ((operation = any (array['retry', 'skip', 'stop', 'postpone', 'spare', 'undelete'])))
);
alter table event_repairs add constraint event_repairs_pkey primary key (repair_id, operation);
create index event_repairs_age on event_repairs (at);
grant select,insert,delete on table event_repairs to core_system;

create table repaired_deliveries (
  repair_id text not null,
  event_id text not null,
  listener text not null
);
alter table repaired_deliveries add constraint repaired_deliveries_pkey primary key (repair_id, event_id, listener);
create index repaired_deliveries_event on repaired_deliveries (event_id);
grant select,insert,delete on table repaired_deliveries to core_system;

create table workflow_wakes (
  id text not null,
  at timestamptz not null,
  name text not null,
  workflow_id text not null,
  queue text,
  signal text not null,
  input jsonb not null,
  search jsonb not null,
  attempts integer not null,
  next_attempt_at timestamptz not null,
  error text
);
alter table workflow_wakes add constraint workflow_wakes_pkey primary key (id);
create index workflow_wakes_next on workflow_wakes (next_attempt_at);
create index workflow_wakes_workflow on workflow_wakes (workflow_id, signal);
grant select,insert,delete,update on table workflow_wakes to core_system;

create table listener_states (
  listener text not null,
  failures integer not null,
  error text,
  held_at timestamptz,
  probes integer default 0 not null,
  probed_at timestamptz,
  organizations text[] default '{}'::text[] not null
);
alter table listener_states add constraint listener_states_pkey primary key (listener);
grant select,insert,delete,update on table listener_states to core_system;

create table failing_work (
  id text not null,
  key text not null,
  kind text not null,
  workflow_id text not null,
  run_id text not null,
  workflow_type text not null,
  activity text,
  organization_id text,
  record_id text,
  request_id text,
  status text not null,
  attempts integer,
  error text not null,
  since timestamptz not null,
  next_attempt_at timestamptz,
  updated_at timestamptz not null,
  looked_at timestamptz not null,
  ended_at timestamptz,
  is_run_settled boolean default false not null,
  constraint failing_work_status_check check ((status = any (array['failing', 'failed'])))
);
alter table failing_work add constraint failing_work_key_key unique (key);
alter table failing_work add constraint failing_work_pkey primary key (id);
comment on column failing_work.is_run_settled is 'Whether an operator has ended it, and with it whatever else its run reports.';
create index failing_work_ended on failing_work (ended_at) where (ended_at is not null);
create index failing_work_now on failing_work (looked_at) where (ended_at is null);
grant select,insert,delete,update on table failing_work to core_system;

create table system_messages (
  key text not null,
  message text not null,
  state text not null,
  attempts integer not null,
  error text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  constraint system_messages_state_check check ((state = any (array['sending', 'waiting', 'sent', 'uncertain', 'failed'])))
);
alter table system_messages add constraint system_messages_pkey primary key (key);
create index system_messages_age on system_messages (created_at);
grant select,insert,delete,update on table system_messages to core_system;

create table record_changes (
  changed_at timestamptz default now() not null,
  xid xid8 default pg_current_xact_id() not null,
  id text not null,
  entity_kind text not null,
  entity_id text not null,
  organization_id text,
  viewer_id text,
  operation text not null,
  record_version integer not null,
  constraint record_changes_operation_check check ((operation = any (array['created', 'updated', 'deleted'])))
)
partition by range (changed_at);
create table record_changes_default partition of record_changes default;
create index record_changes_time on record_changes (changed_at);
create index record_changes_xid on record_changes (xid, id);
grant select on table record_changes to core_system;

create table change_feed (
  epoch uuid default gen_random_uuid() not null
);
grant select on table change_feed to core_system;
