import { Migration } from '@mikro-orm/migrations';

export class Migration20261123212114NotificationTemplates extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "notification_templates" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "topic" text not null, "channel" text not null, "subject_template" text not null, "body_template" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "notification_templates" is 'What the e-mails of an organization say about an event, in place of the text of the product. It is plain text: markup is shown as it is written, and what looks like a link or an address is taken apart.';`,
    );
    this.addSql(
      `comment on column "notification_templates"."topic" is 'Event that it is about: a topic of notifications such as task.assigned.';`,
    );
    this.addSql(`comment on column "notification_templates"."channel" is 'Channel whose messages it is for.';`);
    this.addSql(
      `comment on column "notification_templates"."subject_template" is 'Subject, with variables as {{name}}: those of the topic.';`,
    );
    this.addSql(
      `comment on column "notification_templates"."body_template" is 'Text above the button, with variables as {{name}}: those of the topic. Each line is a paragraph.';`,
    );
    this.addSql(
      `create index "notification_templates_organization_id_id_index" on "notification_templates" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_templates_organization_id_topic_id_index" on "notification_templates" ("organization_id", "topic", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_templates_organization_id_channel_id_index" on "notification_templates" ("organization_id", "channel", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_templates_organization_id_created_at_id_index" on "notification_templates" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_templates_organization_id_updated_at_id_index" on "notification_templates" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "notification_templates_organization_id_channel_topic_key" on "notification_templates" ("organization_id", "channel", "topic") where deleted_at is null;`,
    );

    this.addSql(`alter table "notifications" add "variables" jsonb null;`);
    this.addSql(
      `comment on column "notifications"."variables" is 'Values of the variables of its text, for templates; null for one without.';`,
    );

    this.addSql(
      `alter table "notification_templates" add constraint "notification_templates_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notification_templates" add constraint "notification_templates_channel_check" check (channel in ('email'));`,
    );
    this.addSql(`alter table "notification_templates" enable row level security;`);
    this.addSql(
      `create policy "notification_templates_app" on "notification_templates" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "notification_templates_system" on "notification_templates" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "notification_templates" cascade;`);

    this.addSql(`alter table "notifications" drop column "variables";`);
  }
}
