import { Migration } from '@mikro-orm/migrations';

/** Ids of the links, and of their history entries, follow from those of the secrets. */
const idOf = (sort: string) => `'0' || upper(substr(md5('${sort} ' || s.id), 1, 25))`;

const linked = [
  `insert into integration_secrets (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, integration_id, secret_id)
    select ${idOf('link')}, now(), now(), 'system:migration', 'system:migration', 1, s.organization_id, s.integration_id, s.id
    from secrets s where s.integration_id is not null and s.deleted_at is null;`,
  `insert into record_kinds (id, kind, organization_id) select id, 'integration_secret', organization_id from integration_secrets;`,
  `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields, snapshot, actor, request_id)
    select ${idOf('entry')}, now(), 'integration_secret', l.id, l.organization_id, 'created', 1, '{integrationId,secretId}',
      jsonb_build_object('integrationId', l.integration_id, 'secretId', l.secret_id), 'system:migration', 'migration'
    from integration_secrets l join secrets s on s.id = l.secret_id;`,
];

/** A secret of several integrations keeps the oldest link. */
const unlinked = `update secrets s set integration_id = (select l.integration_id from integration_secrets l
  where l.secret_id = s.id and l.deleted_at is null order by l.created_at, l.id limit 1);`;

export class Migration20261123070547WorkTogether extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "integration_webhooks" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "name" text not null, "provider" text null, "status" text not null, "secret" text not null, "rotated_at" timestamptz null, "allowed_events" text[] not null, "external_id" text null, "last_delivery_id" text null, "last_delivery_at" timestamptz null, "last_delivery_status" text null, "last_delivery_error" text null, "metadata" jsonb null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "integration_webhooks" is 'Endpoint at which another system sends events of an integration. It signs them with a secret that is shown once.';`,
    );
    this.addSql(`comment on column "integration_webhooks"."integration_id" is 'Integration whose events are sent.';`);
    this.addSql(`comment on column "integration_webhooks"."name" is 'Name of the endpoint.';`);
    this.addSql(`comment on column "integration_webhooks"."provider" is 'System that sends the events.';`);
    this.addSql(`comment on column "integration_webhooks"."status" is 'Whether events arrive.';`);
    this.addSql(`comment on column "integration_webhooks"."secret" is 'Secret with which events are signed.';`);
    this.addSql(
      `comment on column "integration_webhooks"."rotated_at" is 'When the secret was last replaced; null if it never was.';`,
    );
    this.addSql(
      `comment on column "integration_webhooks"."allowed_events" is 'Types of events that are accepted; without one, all are.';`,
    );
    this.addSql(`comment on column "integration_webhooks"."external_id" is 'Id of the endpoint at the other system.';`);
    this.addSql(
      `comment on column "integration_webhooks"."last_delivery_id" is 'Id of the last event that arrived, at the other system.';`,
    );
    this.addSql(
      `comment on column "integration_webhooks"."last_delivery_at" is 'When the last event arrived; null if none has.';`,
    );
    this.addSql(
      `comment on column "integration_webhooks"."last_delivery_status" is 'Whether the last event was accepted.';`,
    );
    this.addSql(`comment on column "integration_webhooks"."last_delivery_error" is 'Why the last event was refused.';`);
    this.addSql(`comment on column "integration_webhooks"."metadata" is 'Further values of the caller.';`);
    this.addSql(
      `create index "integration_webhooks_integration_id_index" on "integration_webhooks" ("integration_id");`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_id_index" on "integration_webhooks" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_integration_id_id_index" on "integration_webhooks" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_name_id_index" on "integration_webhooks" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_status_id_index" on "integration_webhooks" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_external_id_id_index" on "integration_webhooks" ("organization_id", "external_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_created_at_id_index" on "integration_webhooks" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_organization_id_updated_at_id_index" on "integration_webhooks" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "integration_webhooks_integration_id_name_key" on "integration_webhooks" ("integration_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "integration_secrets" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "integration_id" text not null, "secret_id" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "integration_secrets" is 'Link of one integration with one secret.';`);
    this.addSql(`comment on column "integration_secrets"."integration_id" is 'Integration that is linked.';`);
    this.addSql(`comment on column "integration_secrets"."secret_id" is 'Secret that is linked.';`);
    this.addSql(`create index "integration_secrets_integration_id_index" on "integration_secrets" ("integration_id");`);
    this.addSql(`create index "integration_secrets_secret_id_index" on "integration_secrets" ("secret_id");`);
    this.addSql(
      `create index "integration_secrets_organization_id_id_index" on "integration_secrets" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_secrets_organization_id_integration_id_id_index" on "integration_secrets" ("organization_id", "integration_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_secrets_organization_id_secret_id_id_index" on "integration_secrets" ("organization_id", "secret_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_secrets_organization_id_created_at_id_index" on "integration_secrets" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_secrets_organization_id_updated_at_id_index" on "integration_secrets" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "integration_secrets_integration_id_secret_id_key" on "integration_secrets" ("integration_id", "secret_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "task_groups" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "task_id" text not null, "group_id" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "task_groups" is 'Link of one task with one group.';`);
    this.addSql(`comment on column "task_groups"."task_id" is 'Task that is linked.';`);
    this.addSql(`comment on column "task_groups"."group_id" is 'Group that is linked.';`);
    this.addSql(`create index "task_groups_task_id_index" on "task_groups" ("task_id");`);
    this.addSql(`create index "task_groups_group_id_index" on "task_groups" ("group_id");`);
    this.addSql(
      `create index "task_groups_organization_id_id_index" on "task_groups" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_groups_organization_id_task_id_id_index" on "task_groups" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_groups_organization_id_group_id_id_index" on "task_groups" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_groups_organization_id_created_at_id_index" on "task_groups" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_groups_organization_id_updated_at_id_index" on "task_groups" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "task_groups_task_id_group_id_key" on "task_groups" ("task_id", "group_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "saved_views" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "record_kind" text not null, "visibility" text not null, "filter" jsonb null, "order_by" text[] not null, "columns" text[] not null, "page_size" integer null, "owner_id" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "saved_views" is 'Filter, order, columns and page size of a list that a person has saved. Every list is read as a view says when it is given the id of one.';`,
    );
    this.addSql(`comment on column "saved_views"."name" is 'Name of the view.';`);
    this.addSql(
      `comment on column "saved_views"."record_kind" is 'Kind of the records that it lists, for example task.';`,
    );
    this.addSql(
      `comment on column "saved_views"."visibility" is 'Whether only its owner uses the view (private), or everybody in the organization (organization).';`,
    );
    this.addSql(
      `comment on column "saved_views"."filter" is 'Filter in the form of the argument \`where\` of GraphQL; null for all records.';`,
    );
    this.addSql(
      `comment on column "saved_views"."order_by" is 'Fields to sort by, with a minus before those in descending order, for example -dueAt.';`,
    );
    this.addSql(
      `comment on column "saved_views"."columns" is 'Fields to show, in this order; empty for those that the reader chooses.';`,
    );
    this.addSql(`comment on column "saved_views"."page_size" is 'Number of records of a page; null for the default.';`);
    this.addSql(`comment on column "saved_views"."owner_id" is 'Person who saved the view.';`);
    this.addSql(
      `create index "saved_views_organization_id_id_index" on "saved_views" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_name_id_index" on "saved_views" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_record_kind_id_index" on "saved_views" ("organization_id", "record_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_visibility_id_index" on "saved_views" ("organization_id", "visibility", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_owner_id_id_index" on "saved_views" ("organization_id", "owner_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_created_at_id_index" on "saved_views" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_organization_id_updated_at_id_index" on "saved_views" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(`create index "saved_views_owner_id_index" on "saved_views" ("owner_id") where owner_id is not null;`);
    this.addSql(
      `create index "saved_views_search_index" on "saved_views" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "saved_views_organization_id_owner_id_record_kind_name_key" on "saved_views" ("organization_id", "owner_id", "record_kind", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "notification_preferences" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "user_id" text not null, "channel" text not null, "topic_pattern" text not null, "cadence" text not null, "mute_until" timestamptz null, "quiet_hours_start" text null, "quiet_hours_end" text null, "time_zone" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "notification_preferences" is 'How a person wants to be told of notifications of an organization on one channel. Of several whose patterns fit, the longest pattern counts.';`,
    );
    this.addSql(`comment on column "notification_preferences"."user_id" is 'Person whose preference it is.';`);
    this.addSql(`comment on column "notification_preferences"."channel" is 'Channel that it is about.';`);
    this.addSql(
      `comment on column "notification_preferences"."topic_pattern" is 'Topics that it is about: one topic such as task.assigned, all of a kind such as task.*, or * for all others.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."cadence" is 'When the person is told: at once (immediate), collected once a day, a week or a month, or never (mute).';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."mute_until" is 'The person is told nothing before this time.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_start" is 'Time of day as HH:MM from which the person is told nothing, in \`timeZone\`.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_end" is 'Time of day as HH:MM from which the person is told again; earlier than the start, it is on the next day.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."time_zone" is 'Time zone of the quiet hours, and of the days and weeks of collected messages.';`,
    );
    this.addSql(`create index "notification_preferences_user_id_index" on "notification_preferences" ("user_id");`);
    this.addSql(
      `create index "notification_preferences_organization_id_id_index" on "notification_preferences" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_preferences_organization_id_channel_id_index" on "notification_preferences" ("organization_id", "channel", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_preferences_organization_id_topic_pattern_id_index" on "notification_preferences" ("organization_id", "topic_pattern", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_preferences_organization_id_created_at_id_index" on "notification_preferences" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_preferences_organization_id_updated_at_id_index" on "notification_preferences" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "notification_preferences_organization_id_user_id_c_67b0eef6_key" on "notification_preferences" ("organization_id", "user_id", "channel", "topic_pattern") where deleted_at is null;`,
    );

    this.addSql(
      `create table "notifications" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "user_id" text not null, "type" text not null, "topic" text not null, "title" text not null, "body" text null, "target_kind" text null, "target_id" text null, "is_read" boolean not null, "read_at" timestamptz null, "event_id" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "notifications" is 'What a person is told in an organization. Only its recipient views it, and only while they may view the record that it is about.';`,
    );
    this.addSql(`comment on column "notifications"."user_id" is 'Recipient.';`);
    this.addSql(
      `comment on column "notifications"."type" is 'Whether it concerns its recipient personally (user), or everybody who looks after the organization (organization).';`,
    );
    this.addSql(`comment on column "notifications"."topic" is 'What happened: the event, for example task.assigned.';`);
    this.addSql(`comment on column "notifications"."title" is 'What happened, in one line.';`);
    this.addSql(`comment on column "notifications"."body" is 'Further text, for example the title of the record.';`);
    this.addSql(`comment on column "notifications"."target_kind" is 'Kind of the record in \`targetId\`.';`);
    this.addSql(
      `comment on column "notifications"."target_id" is 'Id of the record that it is about, for a link; \`node(id)\` reads the record.';`,
    );
    this.addSql(`comment on column "notifications"."is_read" is 'Whether the recipient has read it.';`);
    this.addSql(`comment on column "notifications"."read_at" is 'When the recipient read it; null until then.';`);
    this.addSql(`comment on column "notifications"."event_id" is 'Id of the event that it tells of.';`);
    this.addSql(`create index "notifications_user_id_index" on "notifications" ("user_id");`);
    this.addSql(
      `create index "notifications_organization_id_user_id_is_read_index" on "notifications" ("organization_id", "user_id", "is_read") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_id_index" on "notifications" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_type_id_index" on "notifications" ("organization_id", "type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_topic_id_index" on "notifications" ("organization_id", "topic", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_target_kind_id_index" on "notifications" ("organization_id", "target_kind", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_target_id_id_index" on "notifications" ("organization_id", "target_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_is_read_id_index" on "notifications" ("organization_id", "is_read", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_created_at_id_index" on "notifications" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_organization_id_updated_at_id_index" on "notifications" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "notifications_event_id_user_id_key" on "notifications" ("event_id", "user_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "webhook_events" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "provider" text not null, "external_id" text not null, "type" text not null, "api_version" text null, "occurred_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(`comment on table "webhook_events" is 'Event of the payment provider that was acted on.';`);
    this.addSql(`comment on column "webhook_events"."provider" is 'Name of the provider.';`);
    this.addSql(`comment on column "webhook_events"."external_id" is 'Id of the event at the provider.';`);
    this.addSql(`comment on column "webhook_events"."type" is 'Type of the event, as the provider names it.';`);
    this.addSql(
      `comment on column "webhook_events"."api_version" is 'Version of the interface of the provider in which the event is written.';`,
    );
    this.addSql(
      `comment on column "webhook_events"."occurred_at" is 'When it happened, by the clock of the provider.';`,
    );
    this.addSql(
      `create unique index "webhook_events_provider_external_id_key" on "webhook_events" ("provider", "external_id") where deleted_at is null;`,
    );

    // The integration of a secret becomes a link between both.
    for (const statement of linked) this.addSql(statement);
    this.addSql(`alter table "secrets" drop constraint "secrets_integration_id_foreign";`);

    this.addSql(`drop index "secrets_integration_id_index";`);
    this.addSql(`drop index "secrets_organization_id_integration_id_id_index";`);
    this.addSql(`alter table "secrets" drop column "integration_id";`);

    this.addSql(
      `comment on column "tasks"."details" is 'Full description. Mentions people as \`@[Name](user:<id>)\`; who is newly mentioned and may view the record is notified.';`,
    );

    this.addSql(
      `comment on column "notes"."text" is 'Text of the note. Mentions people as \`@[Name](user:<id>)\`; who is newly mentioned and may view the record is notified.';`,
    );

    this.addSql(
      `alter table "integration_webhooks" add constraint "integration_webhooks_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_webhooks" add constraint "integration_webhooks_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_webhooks" add constraint "integration_webhooks_status_check" check (status in ('pending', 'active', 'inactive', 'failed'));`,
    );
    this.addSql(
      `alter table "integration_webhooks" add constraint "integration_webhooks_last_delivery_status_check" check (last_delivery_status in ('accepted', 'refused'));`,
    );
    this.addSql(`alter table "integration_webhooks" enable row level security;`);
    this.addSql(
      `create policy "integration_webhooks_app" on "integration_webhooks" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "integration_webhooks_system" on "integration_webhooks" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "integration_secrets" add constraint "integration_secrets_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_secrets" add constraint "integration_secrets_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "integration_secrets" add constraint "integration_secrets_secret_id_foreign" foreign key ("secret_id") references "secrets" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "integration_secrets" enable row level security;`);
    this.addSql(
      `create policy "integration_secrets_app" on "integration_secrets" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "integration_secrets_system" on "integration_secrets" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "task_groups" add constraint "task_groups_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_groups" add constraint "task_groups_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_groups" add constraint "task_groups_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "task_groups" enable row level security;`);
    this.addSql(
      `create policy "task_groups_app" on "task_groups" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "task_groups_system" on "task_groups" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "saved_views" add constraint "saved_views_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "saved_views" add constraint "saved_views_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "saved_views" add constraint "saved_views_visibility_check" check (visibility in ('private', 'organization'));`,
    );
    this.addSql(`alter table "saved_views" enable row level security;`);
    this.addSql(
      `create policy "saved_views_app" on "saved_views" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "saved_views_system" on "saved_views" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "notification_preferences" add constraint "notification_preferences_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notification_preferences" add constraint "notification_preferences_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notification_preferences" add constraint "notification_preferences_channel_check" check (channel in ('in_app', 'email', 'chat'));`,
    );
    this.addSql(
      `alter table "notification_preferences" add constraint "notification_preferences_cadence_check" check (cadence in ('immediate', 'daily', 'weekly', 'monthly', 'mute'));`,
    );
    this.addSql(`alter table "notification_preferences" enable row level security;`);
    this.addSql(
      `create policy "notification_preferences_app" on "notification_preferences" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "notification_preferences_system" on "notification_preferences" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "notifications" add constraint "notifications_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notifications" add constraint "notifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notifications" add constraint "notifications_type_check" check (type in ('user', 'organization'));`,
    );
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in ('task', 'note'));`,
    );
    this.addSql(`alter table "notifications" enable row level security;`);
    this.addSql(
      `create policy "notifications_app" on "notifications" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "notifications_system" on "notifications" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(`alter table "webhook_events" enable row level security;`);
    this.addSql(
      `create policy "webhook_events_app" on "webhook_events" to "core_app" using (false) with check (false);`,
    );
    this.addSql(
      `create policy "webhook_events_system" on "webhook_events" to "core_system" using (true) with check (true);`,
    );
    this
      .addSql(`create or replace function search_saved_views(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as \$\$
    select id from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  \$\$`);
    this.addSql(`revoke all on function search_saved_views(text) from public`);
    this.addSql(`grant execute on function search_saved_views(text) to core_app, core_system`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "integration_webhooks" cascade;`);
    this.addSql(`drop table if exists "task_groups" cascade;`);
    this.addSql(`drop table if exists "saved_views" cascade;`);
    this.addSql(`drop table if exists "notification_preferences" cascade;`);
    this.addSql(`drop table if exists "notifications" cascade;`);
    this.addSql(`drop table if exists "webhook_events" cascade;`);

    this.addSql(`comment on column "notes"."text" is 'Text of the note.';`);

    this.addSql(`alter table "secrets" add "integration_id" text null;`);
    this.addSql(`comment on column "secrets"."integration_id" is 'Integration that uses the secret.';`);
    this.addSql(unlinked);
    this.addSql(`drop table if exists "integration_secrets" cascade;`);
    this.addSql(
      `alter table "secrets" add constraint "secrets_integration_id_foreign" foreign key ("integration_id") references "integrations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `create index "secrets_integration_id_index" on "secrets" ("integration_id") where integration_id IS NOT NULL;`,
    );
    this.addSql(
      `create index "secrets_organization_id_integration_id_id_index" on "secrets" ("organization_id", "integration_id", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`comment on column "tasks"."details" is 'Full description.';`);

    this.addSql(`drop function search_saved_views(text)`);
  }
}
