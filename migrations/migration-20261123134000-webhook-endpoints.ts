import { Migration } from '@mikro-orm/migrations';

const messages = [
  // One event for one endpoint. `state`: due, until an attempt succeeds or the last one fails; kept, while the endpoint is disabled.
  `create table webhook_messages (
    endpoint_id text not null,
    event_id text not null,
    organization_id text not null,
    topic text not null,
    entity_kind text not null,
    entity_id text not null,
    record_version int not null,
    request_id text not null,
    occurred_at timestamptz not null,
    payload jsonb not null,
    state text not null check (state in ('due', 'delivered', 'failed', 'kept')),
    -- Those that failed since the message became due.
    attempts int not null default 0,
    -- When the next attempt may begin. During an attempt: when it counts as lost.
    due_at timestamptz,
    -- Id of the attempt that is under way.
    claim_id text,
    updated_at timestamptz not null,
    primary key (endpoint_id, event_id),
    check ((state = 'due') = (due_at is not null))
  )`,
  `create index webhook_messages_due on webhook_messages (endpoint_id, due_at, event_id) where state = 'due'`,
  `create index webhook_messages_record on webhook_messages (endpoint_id, entity_id, record_version, event_id) where state = 'due'`,
  'create index webhook_messages_endpoint on webhook_messages (endpoint_id, occurred_at, event_id)',
  'create index webhook_messages_age on webhook_messages (occurred_at)',
  `create table webhook_attempts (
    id text primary key,
    endpoint_id text not null,
    event_id text not null,
    topic text not null,
    number int not null,
    attempted_at timestamptz not null,
    duration_ms int not null,
    -- Of the response; null without one.
    status int,
    -- Why there is no usable response.
    problem text,
    -- The beginning of the response.
    response text
  )`,
  'create index webhook_attempts_endpoint on webhook_attempts (endpoint_id, id)',
  'create index webhook_attempts_age on webhook_attempts (attempted_at)',
  // How sending to an endpoint goes. It is no part of the record, because it changes with each attempt.
  `create table webhook_queues (
    endpoint_id text primary key,
    -- The relay need not wake the workflow before: it is sending, or may not send until then.
    next_at timestamptz not null default '-infinity',
    -- Attempts in a row that failed, and since when.
    failures int not null default 0,
    failing_since timestamptz,
    told_at timestamptz,
    blocked_until timestamptz,
    -- Messages that may be sent at once (token bucket), as of tokens_at.
    tokens double precision,
    tokens_at timestamptz
  )`,
  'revoke all on webhook_messages, webhook_attempts, webhook_queues from core_app, core_system',
  'grant select, insert, update, delete on webhook_messages, webhook_attempts, webhook_queues to core_system',
  // Whether an endpoint of the organization wants an event is decided in the statement that writes it.
  `create function write_changes(doc jsonb) returns int
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare messages int := 0;
    begin
      perform write_records(doc);
      if doc ? 'public_kinds' then
        insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
          occurred_at, payload, state, due_at, updated_at)
        select w.id, e.id, e.organization_id, e.topic, e.entity_kind, e.entity_id, e.record_version, e.request_id,
          e.at, e.payload, case w.status when 'enabled' then 'due' else 'kept' end,
          case w.status when 'enabled' then e.at end, e.at
        from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
            record_version int, organization_id text, request_id text, payload jsonb)
          join webhook_endpoints w on w.organization_id = e.organization_id and w.deleted_at is null
        where doc -> 'public_kinds' ? e.entity_kind
          and w.topics && array[e.topic, e.entity_kind || '.*', '*']
          and w.scopes && array[e.entity_kind || ':read', e.entity_kind || ':write', e.entity_kind || ':delete'];
        get diagnostics messages = row_count;
      end if;
      return messages;
    end $$`,
  'revoke all on function write_changes(jsonb) from public',
  'grant execute on function write_changes(jsonb) to core_app, core_system',
];

const own = `organization_id = current_setting('core.organization_id', true)`;
const anyOrOwn = `coalesce(current_setting('core.organization_id', true), '') = '' or ${own}`;

const endpoints = [
  `create table "webhook_endpoints" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "description" text null, "url" text not null, "topics" text[] not null, "scopes" text[] not null, "ordering" text not null, "max_in_flight" integer not null, "max_per_second" integer not null, "includes_record" boolean not null, "status" text not null, "disabled_reason" text null, "disabled_at" timestamptz null, "secret" text not null, "former_secret" text null, "rotated_at" timestamptz null, primary key ("id"));`,
  `comment on table "webhook_endpoints" is 'URL of a customer to which events of the organization are sent as signed messages (Standard Webhooks). Its secret is shown once.';`,
  ...Object.entries({
    name: 'Name of the endpoint.',
    description: 'What the endpoint is for.',
    url: 'URL to which messages are sent: https, with a public address.',
    topics: 'Types of events that are sent: `task.created`, all of a kind as `task.*`, or all as `*`.',
    scopes: 'Kinds of records about which the endpoint learns: `<kind>:read` for each.',
    ordering: 'Whether the messages about one record are sent one after the other, or as they come.',
    max_in_flight: 'Number of messages that are sent at the same time.',
    max_per_second: 'Number of messages that are sent each second.',
    includes_record: 'Whether messages contain the record, as far as the endpoint can read it at that attempt.',
    status: 'Whether messages are sent. Those of a disabled endpoint are kept for 30 days, for replay.',
    disabled_reason: 'Why the endpoint is disabled.',
    disabled_at: 'When the endpoint was disabled.',
    secret: 'Secret with which messages are signed.',
    former_secret: 'Secret before the last rotation.',
    rotated_at:
      'When the secret was last replaced; null if it never was. For 24 hours, messages are signed with the former one as well.',
  }).map(([column, text]) => `comment on column "webhook_endpoints"."${column}" is '${text}';`),
  ...[['id'], ['status', 'id'], ['created_at', 'id'], ['updated_at', 'id']].map(
    (columns) =>
      `create index "webhook_endpoints_organization_id_${columns.join('_')}_index" on "webhook_endpoints" ("organization_id", ${columns.map((name) => `"${name}"`).join(', ')}) where deleted_at is null;`,
  ),
  `create unique index "webhook_endpoints_organization_id_name_key" on "webhook_endpoints" ("organization_id", "name") where deleted_at is null;`,
  `alter table "webhook_endpoints" add constraint "webhook_endpoints_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
  `alter table "webhook_endpoints" add constraint "webhook_endpoints_ordering_check" check (ordering in ('record', 'none'));`,
  `alter table "webhook_endpoints" add constraint "webhook_endpoints_status_check" check (status in ('enabled', 'disabled'));`,
  `alter table "webhook_endpoints" add constraint "webhook_endpoints_disabled_reason_check" check (disabled_reason in ('by_hand', 'gone', 'failing'));`,
  `alter table "webhook_endpoints" enable row level security;`,
  `create policy "webhook_endpoints_app" on "webhook_endpoints" to "core_app" using (${own}) with check (${own});`,
  `create policy "webhook_endpoints_system" on "webhook_endpoints" to "core_system" using (${anyOrOwn}) with check (${anyOrOwn});`,
];

/** What people are told of can be an endpoint. @param kinds as SQL */
const toldOf = (kinds: string) => [
  `alter table "notifications" drop constraint "notifications_target_kind_check";`,
  `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in (${kinds}));`,
];

/** Endpoints of customers, what is due to them, and the log of attempts. */
export class Migration20261123134000WebhookEndpoints extends Migration {
  readonly locks = { notifications: 'the values of a column are checked, which reads the table once' };

  override up(): void {
    for (const statement of [...endpoints, ...messages, ...toldOf(`'task', 'note', 'webhook_endpoint'`)])
      this.addSql(statement);
  }

  override down(): void {
    this.addSql(`delete from "notifications" where target_kind = 'webhook_endpoint'`);
    for (const statement of toldOf(`'task', 'note'`)) this.addSql(statement);
    this.addSql('drop function write_changes(jsonb)');
    for (const table of ['webhook_queues', 'webhook_attempts', 'webhook_messages', 'webhook_endpoints'])
      this.addSql(`drop table "${table}" cascade`);
  }
}
