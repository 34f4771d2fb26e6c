import { Migration } from '@mikro-orm/migrations';

/** Mails know what their link to unsubscribe ends; a person's messages wait for all that one request causes; time zones are those of people. */
export class Migration20261127142415WhatMailsSay extends Migration {
  readonly locks = { email_suppressions: 'it has a row for each address that gets no e-mails' };

  override up(): void {
    this.addSql('alter table notification_sendings add column request_id text');
    this.addSql(`alter table "account_emails" add "topics" text[] not null default '{}';`);
    this.addSql(`alter table "account_emails" alter column "topics" drop default;`);
    this.addSql(
      `comment on column "account_emails"."topics" is 'What its link to unsubscribe ends: topics of notifications such as task.assigned, or a sort of e-mails such as invite. Without any, it ends all e-mails of the organization.';`,
    );

    this.addSql(`drop index "email_suppressions_organization_id_suppressed_email_key";`);
    this.addSql(`alter table "email_suppressions" add "topic" text not null default '*';`);
    this.addSql(`alter table "email_suppressions" alter column "topic" drop default;`);
    this.addSql(
      `comment on column "email_suppressions"."topic" is 'Which e-mails are not sent: one sort, for example invite, or * for all of the organization.';`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_topic_id_index" on "email_suppressions" ("organization_id", "topic", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "email_suppressions_organization_id_suppressed_email_topic_key" on "email_suppressions" ("organization_id", "suppressed_email", "topic") where deleted_at is null;`,
    );

    this.addSql(`alter table "emails" add "topics" text[] not null default '{}';`);
    this.addSql(`alter table "emails" alter column "topics" drop default;`);
    this.addSql(
      `comment on column "emails"."topics" is 'What its link to unsubscribe ends: topics of notifications such as task.assigned, or a sort of e-mails such as invite. Without any, it ends all e-mails of the organization.';`,
    );

    this.addSql(`alter table "notification_preferences" drop column "time_zone";`);
    this.addSql(`alter table "notification_preferences" add "is_unsubscribed" boolean not null default 'false';`);
    this.addSql(`alter table "notification_preferences" alter column "is_unsubscribed" drop default;`);
    this.addSql(
      `comment on column "notification_preferences"."is_unsubscribed" is 'Whether the person has ended these messages with a link to unsubscribe. Then none are sent, whatever the cadence; false sends them again.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_start" is 'Time of day as HH:MM from which the person is told nothing, in their time zone: that of their settings, otherwise that of the organization.';`,
    );
  }

  override down(): void {
    this.addSql('alter table notification_sendings drop column request_id');
    this.addSql(`alter table "account_emails" drop column "topics";`);

    this.addSql(`drop index "email_suppressions_organization_id_topic_id_index";`);
    this.addSql(`drop index "email_suppressions_organization_id_suppressed_email_topic_key";`);
    this.addSql(`delete from "email_suppressions" where topic <> '*';`);
    this.addSql(`alter table "email_suppressions" drop column "topic";`);
    this.addSql(
      `create unique index "email_suppressions_organization_id_suppressed_email_key" on "email_suppressions" ("organization_id", "suppressed_email") where deleted_at IS NULL;`,
    );

    this.addSql(`alter table "emails" drop column "topics";`);

    this.addSql(`alter table "notification_preferences" drop column "is_unsubscribed";`);
    this.addSql(`alter table "notification_preferences" add "time_zone" text not null default 'UTC';`);
    this.addSql(`alter table "notification_preferences" alter column "time_zone" drop default;`);
    this.addSql(
      `comment on column "notification_preferences"."time_zone" is 'Time zone of the quiet hours, and of the days and weeks of collected messages.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_start" is 'Time of day as HH:MM from which the person is told nothing, in \`timeZone\`.';`,
    );
  }
}
