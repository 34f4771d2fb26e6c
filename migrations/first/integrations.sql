create table integrations (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  display_id text not null,
  name text not null,
  description text,
  definition_id text,
  definition_version text,
  family text,
  status text not null,
  status_before_lapse text,
  metadata jsonb,
  is_primary_directory boolean not null,
  sends_campaigns boolean not null,
  name_form text not null,
  constraint integrations_status_before_lapse_check check ((status_before_lapse = any (array['pending', 'connected', 'errored', 'disabled']))),
  constraint integrations_status_check check ((status = any (array['pending', 'connected', 'errored', 'disabled'])))
);
alter table integrations add constraint integrations_pkey primary key (id);
comment on table integrations is 'Connection of an organization to another system.';
comment on column integrations.display_id is 'Human-readable identifier; unique within the organization and immutable.';
comment on column integrations.name is 'Name of the integration.';
comment on column integrations.description is 'Purpose of the integration.';
comment on column integrations.definition_id is 'Id of the definition that it follows.';
comment on column integrations.definition_version is 'Version of that definition.';
comment on column integrations.family is 'Family of systems to which the other system belongs, for example directory.';
comment on column integrations.status is 'Status of the connection.';
comment on column integrations.status_before_lapse is 'Status that the integration had when the server disabled it, because the subscription of the organization ended; null if it did not. The integration gets this status back when the organization pays again.';
comment on column integrations.metadata is 'Custom data of API clients, as JSON. The server stores it and does not interpret it.';
comment on column integrations.is_primary_directory is 'Whether it is the directory from which the organization takes its people.';
comment on column integrations.sends_campaigns is 'Whether campaigns are sent through it.';
comment on column integrations.name_form is 'Form in which `name` is compared with that of others.';
create index integrations_definition_id_beginning on integrations (organization_id, "left"(matched_form(definition_id), 100) collate "C") where (deleted_at is null);
create index integrations_display_id_beginning on integrations (organization_id, "left"(matched_form(display_id), 100) collate "C") where (deleted_at is null);
create index integrations_family_beginning on integrations (organization_id, "left"(matched_form(family), 100) collate "C") where (deleted_at is null);
create index integrations_name_beginning on integrations (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index integrations_organization_id_created_at_id_index on integrations (organization_id, created_at, id) where (deleted_at is null);
create index integrations_organization_id_definition_id_id_index on integrations (organization_id, definition_id, id) where (deleted_at is null);
create unique index integrations_organization_id_display_id_key on integrations (organization_id, display_id) where (deleted_at is null);
create index integrations_organization_id_family_id_index on integrations (organization_id, family, id) where (deleted_at is null);
create index integrations_organization_id_id_index on integrations (organization_id, id) where (deleted_at is null);
create unique index integrations_organization_id_name_form_key on integrations (organization_id, name_form) where (deleted_at is null);
create index integrations_organization_id_name_order on integrations (organization_id, name collate record_order, id) where (deleted_at is null);
create index integrations_organization_id_status_id_index on integrations (organization_id, status, id) where (deleted_at is null);
create index integrations_organization_id_updated_at_id_index on integrations (organization_id, updated_at, id) where (deleted_at is null);
create index integrations_search_index on integrations using gin (organization_id, matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))))) where (deleted_at is null);
alter table integrations enable row level security;
create policy integrations_app on integrations to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy integrations_system on integrations to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table integrations to core_app;
grant select,insert,update on table integrations to core_system;

create table integration_secrets (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  integration_id text not null,
  secret_id text not null
);
alter table integration_secrets add constraint integration_secrets_pkey primary key (id);
comment on table integration_secrets is 'Link of one integration with one secret.';
comment on column integration_secrets.integration_id is 'Integration that is linked.';
comment on column integration_secrets.secret_id is 'Secret that is linked.';
create index integration_secrets_integration_id_index on integration_secrets (integration_id);
create unique index integration_secrets_integration_id_secret_id_key on integration_secrets (integration_id, secret_id) where (deleted_at is null);
create index integration_secrets_organization_id_created_at_id_index on integration_secrets (organization_id, created_at, id) where (deleted_at is null);
create index integration_secrets_organization_id_id_index on integration_secrets (organization_id, id) where (deleted_at is null);
create index integration_secrets_organization_id_integration_id_id_index on integration_secrets (organization_id, integration_id, id) where (deleted_at is null);
create index integration_secrets_organization_id_secret_id_id_index on integration_secrets (organization_id, secret_id, id) where (deleted_at is null);
create index integration_secrets_organization_id_updated_at_id_index on integration_secrets (organization_id, updated_at, id) where (deleted_at is null);
create index integration_secrets_secret_id_index on integration_secrets (secret_id);
alter table integration_secrets enable row level security;
create policy integration_secrets_app on integration_secrets to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy integration_secrets_system on integration_secrets to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table integration_secrets to core_app;
grant select,insert,update on table integration_secrets to core_system;

create table integration_webhooks (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  integration_id text not null,
  name text not null,
  provider text,
  status text not null,
  secret text not null,
  rotated_at timestamptz,
  allowed_events text[] not null,
  external_id text,
  last_event_id text,
  last_event_at timestamptz,
  last_event_status text,
  last_event_error text,
  metadata jsonb,
  name_form text not null,
  constraint integration_webhooks_last_event_status_check check ((last_event_status = any (array['accepted', 'refused']))),
  constraint integration_webhooks_status_check check ((status = any (array['pending', 'active', 'inactive', 'failed'])))
);
alter table integration_webhooks add constraint integration_webhooks_pkey primary key (id);
comment on table integration_webhooks is 'Receiver of the events that another system sends for an integration. The system signs them with a secret that is shown once.';
comment on column integration_webhooks.integration_id is 'Integration whose events are sent.';
comment on column integration_webhooks.name is 'Name of the receiver.';
comment on column integration_webhooks.provider is 'System that sends the events.';
comment on column integration_webhooks.status is 'Whether events arrive.';
comment on column integration_webhooks.secret is 'Secret with which events are signed.';
comment on column integration_webhooks.rotated_at is 'When the secret was last replaced; null if it never was.';
comment on column integration_webhooks.allowed_events is 'Types of events that are accepted; empty: all types.';
comment on column integration_webhooks.external_id is 'Id of the receiver at the other system.';
comment on column integration_webhooks.last_event_id is 'Id of the last event that arrived, at the other system.';
comment on column integration_webhooks.last_event_at is 'When the last event arrived; null if none has.';
comment on column integration_webhooks.last_event_status is 'Whether the last event was accepted.';
comment on column integration_webhooks.last_event_error is 'Why the last event was refused.';
comment on column integration_webhooks.metadata is 'Custom data of API clients, as JSON. The server stores it and does not interpret it.';
comment on column integration_webhooks.name_form is 'Form in which `name` is compared with that of others.';
create index integration_webhooks_external_id_beginning on integration_webhooks (organization_id, "left"(matched_form(external_id), 100) collate "C") where (deleted_at is null);
create index integration_webhooks_integration_id_index on integration_webhooks (integration_id);
create unique index integration_webhooks_integration_id_name_form_key on integration_webhooks (integration_id, name_form) where (deleted_at is null);
create index integration_webhooks_name_beginning on integration_webhooks (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index integration_webhooks_organization_id_created_at_id_index on integration_webhooks (organization_id, created_at, id) where (deleted_at is null);
create index integration_webhooks_organization_id_external_id_id_index on integration_webhooks (organization_id, external_id, id) where (deleted_at is null);
create index integration_webhooks_organization_id_id_index on integration_webhooks (organization_id, id) where (deleted_at is null);
create index integration_webhooks_organization_id_integration_id_id_index on integration_webhooks (organization_id, integration_id, id) where (deleted_at is null);
create index integration_webhooks_organization_id_name_order on integration_webhooks (organization_id, name collate record_order, id) where (deleted_at is null);
create index integration_webhooks_organization_id_status_id_index on integration_webhooks (organization_id, status, id) where (deleted_at is null);
create index integration_webhooks_organization_id_updated_at_id_index on integration_webhooks (organization_id, updated_at, id) where (deleted_at is null);
alter table integration_webhooks enable row level security;
create policy integration_webhooks_app on integration_webhooks to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy integration_webhooks_system on integration_webhooks to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table integration_webhooks to core_app;
grant select,insert,update on table integration_webhooks to core_system;

create table secrets (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  description text,
  credential_type text not null,
  value text not null,
  metadata jsonb,
  last_used_at timestamptz,
  expires_at timestamptz,
  name_form text not null,
  constraint secrets_credential_type_check check ((credential_type = any (array['api_key', 'oauth_client', 'basic', 'certificate', 'other'])))
);
alter table secrets add constraint secrets_pkey primary key (id);
comment on table secrets is 'Secret of an organization with which the server signs in to another system. It can be replaced, but nobody can read it.';
comment on column secrets.name is 'Name of the secret.';
comment on column secrets.description is 'Purpose of the secret.';
comment on column secrets.credential_type is 'Sort of secret.';
comment on column secrets.value is 'The secret itself. It is encrypted immediately, and no response contains it.';
comment on column secrets.metadata is 'Custom data of API clients, as JSON. The server stores it and does not interpret it. It is not encrypted.';
comment on column secrets.last_used_at is 'When the server last used the secret; null for one that was never used.';
comment on column secrets.expires_at is 'When the secret stops working at the other system.';
comment on column secrets.name_form is 'Form in which `name` is compared with that of others.';
create index secrets_name_beginning on secrets (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index secrets_organization_id_created_at_id_index on secrets (organization_id, created_at, id) where (deleted_at is null);
create index secrets_organization_id_credential_type_id_index on secrets (organization_id, credential_type, id) where (deleted_at is null);
create index secrets_organization_id_expires_at_descending on secrets (organization_id, expires_at desc nulls last, id desc) where (deleted_at is null);
create index secrets_organization_id_expires_at_id_index on secrets (organization_id, expires_at, id) where (deleted_at is null);
create index secrets_organization_id_id_index on secrets (organization_id, id) where (deleted_at is null);
create index secrets_organization_id_last_used_at_descending on secrets (organization_id, last_used_at desc nulls last, id desc) where (deleted_at is null);
create index secrets_organization_id_last_used_at_id_index on secrets (organization_id, last_used_at, id) where (deleted_at is null);
create unique index secrets_organization_id_name_form_key on secrets (organization_id, name_form) where (deleted_at is null);
create index secrets_organization_id_name_order on secrets (organization_id, name collate record_order, id) where (deleted_at is null);
create index secrets_organization_id_updated_at_id_index on secrets (organization_id, updated_at, id) where (deleted_at is null);
create index secrets_search_index on secrets using gin (organization_id, matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))) gin_trgm_ops, search_words(matched_form(((coalesce(name, '') || ' ') || coalesce(description, ''))))) where (deleted_at is null);
alter table secrets enable row level security;
create policy secrets_app on secrets to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy secrets_system on secrets to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table secrets to core_app;
grant select,insert,update on table secrets to core_system;

create table webhook_endpoints (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  organization_id text not null,
  name text not null,
  description text,
  url text not null,
  topics text[] not null,
  scopes text[] not null,
  ordering text not null,
  max_in_flight integer not null,
  max_per_second integer not null,
  includes_record boolean not null,
  status text not null,
  disabled_reason text,
  disabled_at timestamptz,
  secret text not null,
  former_secret text,
  rotated_at timestamptz,
  responsible_id text,
  url_changed_at timestamptz,
  name_form text not null,
  responsible_membership_id text,
  constraint webhook_endpoints_disabled_reason_check check ((disabled_reason = any (array['by_hand', 'gone', 'failing', 'rights_lost']))),
  constraint webhook_endpoints_ordering_check check ((ordering = any (array['record', 'none']))),
  constraint webhook_endpoints_status_check check ((status = any (array['enabled', 'disabled'])))
);
alter table webhook_endpoints add constraint webhook_endpoints_pkey primary key (id);
comment on table webhook_endpoints is 'URL of a customer to which events of the organization are sent as signed messages (Standard Webhooks). Its secret is shown once.';
comment on column webhook_endpoints.name is 'Name of the endpoint.';
comment on column webhook_endpoints.description is 'Purpose of the endpoint.';
comment on column webhook_endpoints.url is 'URL to which messages are sent: https, with a public address.';
comment on column webhook_endpoints.topics is 'Types of events that are sent: `task.created`, all of a kind as `task.*`, or all as `*`.';
comment on column webhook_endpoints.scopes is 'Kinds of records that the endpoint receives: `<kind>:read` for each.';
comment on column webhook_endpoints.ordering is 'Whether the messages about one record are sent in order, or in parallel.';
comment on column webhook_endpoints.max_in_flight is 'Number of messages that are sent at the same time.';
comment on column webhook_endpoints.max_per_second is 'Number of messages that are sent each second.';
comment on column webhook_endpoints.includes_record is 'Whether messages contain the record, as far as the endpoint can read it at that attempt.';
comment on column webhook_endpoints.status is 'Whether messages are sent. Those of a disabled endpoint are kept for 30 days, for replay.';
comment on column webhook_endpoints.disabled_reason is 'Why the endpoint is disabled.';
comment on column webhook_endpoints.disabled_at is 'When the endpoint was disabled.';
comment on column webhook_endpoints.secret is 'Secret with which messages are signed.';
comment on column webhook_endpoints.former_secret is 'Secret before the last rotation.';
comment on column webhook_endpoints.rotated_at is 'When the secret was last replaced; null if it never was. For 24 hours, messages are signed with the former one as well.';
comment on column webhook_endpoints.responsible_id is 'Id of the person responsible for the endpoint, who created it, enabled it, or last changed its URL, topics or scopes. When that person no longer manages the organization, or lacks rights that its scopes give, the endpoint is disabled.';
comment on column webhook_endpoints.url_changed_at is 'When the URL was last changed; null if it never was. Messages about earlier events are not sent to the new URL: they are withheld.';
comment on column webhook_endpoints.name_form is 'Form in which `name` is compared with that of others.';
comment on column webhook_endpoints.responsible_membership_id is 'Id of the membership with which that person took this on: it ends with this membership, and no later one restores it.';
create index webhook_endpoints_name_beginning on webhook_endpoints (organization_id, "left"(matched_form(name), 100) collate "C") where (deleted_at is null);
create index webhook_endpoints_organization_id_created_at_id_index on webhook_endpoints (organization_id, created_at, id) where (deleted_at is null);
create index webhook_endpoints_organization_id_id_index on webhook_endpoints (organization_id, id) where (deleted_at is null);
create unique index webhook_endpoints_organization_id_name_form_key on webhook_endpoints (organization_id, name_form) where (deleted_at is null);
create index webhook_endpoints_organization_id_name_order on webhook_endpoints (organization_id, name collate record_order, id) where (deleted_at is null);
create index webhook_endpoints_organization_id_status_id_index on webhook_endpoints (organization_id, status, id) where (deleted_at is null);
create index webhook_endpoints_organization_id_updated_at_id_index on webhook_endpoints (organization_id, updated_at, id) where (deleted_at is null);
alter table webhook_endpoints enable row level security;
create policy webhook_endpoints_app on webhook_endpoints to core_app using ((organization_id = current_setting('core.organization_id', true))) with check ((organization_id = current_setting('core.organization_id', true)));
create policy webhook_endpoints_system on webhook_endpoints to core_system using (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true)))) with check (((coalesce(current_setting('core.organization_id', true), '') = '') or (organization_id = current_setting('core.organization_id', true))));
grant select,insert,update on table webhook_endpoints to core_app;
grant select,insert,update on table webhook_endpoints to core_system;

create table webhook_messages (
  endpoint_id text not null,
  event_id text not null,
  organization_id text not null,
  topic text not null,
  entity_kind text not null,
  entity_id text not null,
  record_version integer not null,
  request_id text not null,
  occurred_at timestamptz not null,
  payload jsonb not null,
  state text not null,
  attempts integer default 0 not null,
  due_at timestamptz,
  claim_id text,
  updated_at timestamptz not null,
  replayed_at timestamptz,
  actor text default 'system' not null,
  constraint webhook_messages_check check (((state = 'due') = (due_at is not null))),
  constraint webhook_messages_state_check check ((state = any (array['due', 'delivered', 'failed', 'kept', 'withheld'])))
);
alter table webhook_messages add constraint webhook_messages_pkey primary key (endpoint_id, event_id);
create index webhook_messages_age on webhook_messages (occurred_at);
create index webhook_messages_due on webhook_messages (endpoint_id, due_at, event_id) where (state = 'due');
create index webhook_messages_endpoint on webhook_messages (endpoint_id, occurred_at, event_id);
create index webhook_messages_record on webhook_messages (endpoint_id, entity_id, record_version, event_id) where (state = 'due');
create index webhook_messages_withheld on webhook_messages (updated_at) where (state = 'withheld');
grant select,insert,delete,update on table webhook_messages to core_system;

create table webhook_attempts (
  id text not null,
  endpoint_id text not null,
  event_id text not null,
  topic text not null,
  number integer not null,
  attempted_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  problem text,
  response text
);
alter table webhook_attempts add constraint webhook_attempts_pkey primary key (id);
create index webhook_attempts_age on webhook_attempts (attempted_at);
create index webhook_attempts_endpoint on webhook_attempts (endpoint_id, id);
create index webhook_attempts_event on webhook_attempts (endpoint_id, event_id, id);
grant select,insert,delete,update on table webhook_attempts to core_system;

create table webhook_queues (
  endpoint_id text not null,
  next_at timestamptz default '-infinity'::timestamptz not null,
  failures integer default 0 not null,
  failing_since timestamptz,
  told_at timestamptz,
  blocked_until timestamptz,
  tokens double precision,
  tokens_at timestamptz,
  organization_id text,
  sending_until timestamptz
);
alter table webhook_queues add constraint webhook_queues_pkey primary key (endpoint_id);
create index webhook_queues_failing on webhook_queues (failing_since) where (failures >= 5);
create index webhook_queues_sending on webhook_queues (organization_id, sending_until) where (sending_until is not null);
grant select,insert,delete,update on table webhook_queues to core_system;

create table webhook_events (
  id text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null,
  updated_by text not null,
  record_version integer not null,
  deleted_at timestamptz,
  deleted_by text,
  provider text not null,
  external_id text not null,
  type text not null,
  api_version text,
  occurred_at timestamptz,
  document text,
  problem text
);
alter table webhook_events add constraint webhook_events_pkey primary key (id);
comment on table webhook_events is 'Event that another system has sent to this server. Events that arrive twice are stored once. They are removed after 90 days, and those of an integration webhook soon after its deletion.';
comment on column webhook_events.provider is 'Name of the provider.';
comment on column webhook_events.external_id is 'Id of the event at the provider.';
comment on column webhook_events.type is 'Type of the event, as the provider names it.';
comment on column webhook_events.api_version is 'Version of the interface of the provider in which the event is written.';
comment on column webhook_events.occurred_at is 'When it happened, by the clock of the provider.';
comment on column webhook_events.document is 'Body of the event as it arrived, a JSON document, for listeners that need all of it.';
comment on column webhook_events.problem is 'Why it had no effect, for operators; null if it had one, or needs none.';
create unique index webhook_events_provider_external_id_key on webhook_events (provider, external_id) where (deleted_at is null);
alter table webhook_events enable row level security;
create policy webhook_events_app on webhook_events to core_app using (false) with check (false);
create policy webhook_events_system on webhook_events to core_system using (true) with check (true);
grant select,insert,update on table webhook_events to core_app;
grant select,insert,update on table webhook_events to core_system;
