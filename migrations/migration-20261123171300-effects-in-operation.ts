import { Migration } from '@mikro-orm/migrations';

const prunedTables = `array['emails', 'account_emails', 'webhook_events']`;

const pruning = [
  // Records of which nothing is kept. Their history lies in the days from the oldest of them on.
  `create function prune_records(wanted_kind text, wanted_table text, ids text[]) returns int
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare since timestamptz; pruned int;
    begin
      if wanted_table <> all(${prunedTables}) then
        raise exception 'Records of % are not pruned.', wanted_table;
      end if;
      execute format('select min(created_at) from %I where id = any($1)', wanted_table) into since using ids;
      -- Clocks may differ.
      delete from history where entity_kind = wanted_kind and entity_id = any(ids) and recorded_at >= since - interval '1 day';
      delete from record_kinds where kind = wanted_kind and id = any(ids);
      execute format('delete from %I where id = any($1)', wanted_table) using ids;
      get diagnostics pruned = row_count;
      return pruned;
    end $$`,
  'revoke all on function prune_records(text, text, text[]) from public',
  'grant execute on function prune_records(text, text, text[]) to core_system',
  'grant delete on event_repairs, repaired_deliveries to core_system',
  'create index event_repairs_age on event_repairs (at)',
];

const holding = [
  // How a listener is doing, while it fails. `failures`: events in a row on which it failed. `held_at`: since when it is held as a whole.
  `create table listener_states (
    listener text primary key,
    failures int not null,
    error text,
    held_at timestamptz,
    probes int not null default 0,
    probed_at timestamptz
  )`,
  'revoke all on listener_states from core_app, core_system',
  'grant select, insert, update, delete on listener_states to core_system',
];

const chat = [
  // Messages to the operator's chat, so that each is posted once (entities/kit/outbox/system-messages.ts).
  `create table system_messages (
    key text primary key,
    message text not null,
    state text not null check (state in ('sending', 'waiting', 'sent', 'uncertain', 'failed')),
    attempts int not null,
    error text,
    created_at timestamptz not null,
    updated_at timestamptz not null
  )`,
  'create index system_messages_age on system_messages (created_at)',
  'revoke all on system_messages from core_app, core_system',
  'grant select, insert, update, delete on system_messages to core_system',
];

const endpoints = [
  // When somebody last had it sent again: only then may it be sent after it has arrived.
  'alter table webhook_messages add column replayed_at timestamptz',
  // Whose endpoint it is, and until when it is being sent to: an organization has a share of the workers.
  'alter table webhook_queues add column organization_id text',
  'alter table webhook_queues add column sending_until timestamptz',
  'create index webhook_queues_sending on webhook_queues (organization_id, sending_until) where sending_until is not null',
  // Attempts of one event.
  'create index webhook_attempts_event on webhook_attempts (endpoint_id, event_id, id)',
];

const answered = [
  'alter table "webhook_endpoints" add column "responsible_id" text null;',
  `comment on column "webhook_endpoints"."responsible_id" is 'Id of the person who answers for the endpoint: who made it, enabled it, or last changed what is sent where. When that person no longer manages the organization, or lacks rights that its scopes give, the endpoint is disabled.';`,
  `update "webhook_endpoints" set responsible_id = substr(created_by, 6) where created_by ~ '^user:[0-9A-Z]{26}$'`,
];

/** @param reasons as SQL */
const reasonsOf = (reasons: string) => [
  'alter table "webhook_endpoints" drop constraint "webhook_endpoints_disabled_reason_check";',
  `alter table "webhook_endpoints" add constraint "webhook_endpoints_disabled_reason_check" check (disabled_reason in (${reasons}));`,
];

const descriptions: Readonly<Record<string, readonly [before: string, after: string]>> = {
  emails: [
    'E-mail that the server sends for the organization. Managers see what became of it, and have it sent again. E-mails about the account of a person are not among them.',
    'E-mail that the server sends for the organization. Managers see what became of it, and have it sent again. E-mails about the account of a person are not among them. It is removed after 180 days; one that waits or was given up, and was not sent again, after a year.',
  ],
  account_emails: [
    'E-mail about the account of a person, or to an address that has none yet.',
    'E-mail about the account of a person, or to an address that has none yet. It is removed after 180 days; one that waits or was given up, after a year.',
  ],
  webhook_events: [
    'Event that another system has sent to this server. Events that arrive twice are stored once.',
    'Event that another system has sent to this server. Events that arrive twice are stored once. They are removed after 90 days.',
  ],
};

const commentsOf = (which: 0 | 1) =>
  Object.entries(descriptions).map(([table, texts]) => `comment on table "${table}" is '${texts[which]}';`);

/** What only grew is removed after some time; a listener that fails on everything is held as a whole. */
export class Migration20261123171300EffectsInOperation extends Migration {
  readonly locks = {
    webhook_endpoints: 'an organization has fifty at most',
    webhook_queues: 'it has a row for each endpoint',
    event_repairs: 'operators write it, a few rows a day',
    webhook_attempts: 'it has the attempts of 30 days at most; while the index is built, workers wait to keep theirs',
  };

  override up(): void {
    for (const statement of [
      ...pruning,
      ...commentsOf(1),
      ...holding,
      ...chat,
      ...endpoints,
      ...answered,
      ...reasonsOf(`'by_hand', 'gone', 'failing', 'rights_lost'`),
    ])
      this.addSql(statement);
  }

  override down(): void {
    this.addSql(`update "webhook_endpoints" set disabled_reason = 'by_hand' where disabled_reason = 'rights_lost'`);
    for (const statement of reasonsOf(`'by_hand', 'gone', 'failing'`)) this.addSql(statement);
    this.addSql('alter table "webhook_endpoints" drop column "responsible_id"');
    this.addSql('drop index webhook_queues_sending');
    this.addSql('alter table webhook_queues drop column sending_until');
    this.addSql('alter table webhook_queues drop column organization_id');
    this.addSql('drop index webhook_attempts_event');
    this.addSql('alter table webhook_messages drop column replayed_at');
    this.addSql('drop table system_messages');
    this.addSql('drop table listener_states');
    for (const statement of commentsOf(0)) this.addSql(statement);
    this.addSql('drop index event_repairs_age');
    this.addSql('revoke delete on event_repairs, repaired_deliveries from core_system');
    this.addSql('drop function prune_records(text, text, text[])');
  }
}
