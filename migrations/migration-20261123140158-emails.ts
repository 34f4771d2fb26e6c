import { Migration } from '@mikro-orm/migrations';

export class Migration20261123140158Emails extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "account_emails" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "key" text not null, "template" text not null, "recipient_id" text null, "about_id" text null, "about_round" integer null, "state" text not null, "attempts" integer not null, "attempted_at" timestamptz null, "carrier" text null, "message_id" text null, "content" text null, "error_code" text null, "error_message" text null, "sent_at" timestamptz null, "delivered_at" timestamptz null, "bounced_at" timestamptz null, "bounce_type" text null, "complained_at" timestamptz null, "opened_at" timestamptz null, "clicked_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "account_emails" is 'E-mail about the account of a person, or to an address that has none yet.';`,
    );
    this.addSql(
      `comment on column "account_emails"."key" is 'Idempotency key: the same key is the same e-mail, however often it is asked for.';`,
    );
    this.addSql(`comment on column "account_emails"."template" is 'Which e-mail it is, for example invite.';`);
    this.addSql(
      `comment on column "account_emails"."recipient_id" is 'Id of the person it goes to; null for an address without an account, which the record it is about has.';`,
    );
    this.addSql(`comment on column "account_emails"."about_id" is 'Id of the record that it is about.';`);
    this.addSql(`comment on column "account_emails"."about_round" is 'For a record with a link: which of its links.';`);
    this.addSql(
      `comment on column "account_emails"."state" is 'pending: to be sent; sending: handed to the provider, whose answer is not known; waiting: the provider takes none at the moment (see errorCode); sent: the provider has accepted it; delivered, bounced, complained: what the provider has reported since; refused: the provider does not accept the address; suppressed: the address gets no e-mails; outdated: what it says was no longer true; failed: given up.';`,
    );
    this.addSql(`comment on column "account_emails"."attempts" is 'Number of attempts to hand it to a provider.';`);
    this.addSql(`comment on column "account_emails"."attempted_at" is 'When the last attempt began.';`);
    this.addSql(
      `comment on column "account_emails"."carrier" is 'What carries it: a provider, or in development a folder.';`,
    );
    this.addSql(`comment on column "account_emails"."message_id" is 'Id of the e-mail at the provider.';`);
    this.addSql(
      `comment on column "account_emails"."content" is 'The e-mail as it is sent, until it is accepted: a repeated attempt sends the same bytes.';`,
    );
    this.addSql(
      `comment on column "account_emails"."error_code" is 'Why it is not sent: for example too_many_requests, credentials_refused, address_refused.';`,
    );
    this.addSql(`comment on column "account_emails"."error_message" is 'What the provider said about that.';`);
    this.addSql(`comment on column "account_emails"."sent_at" is 'When the provider accepted it.';`);
    this.addSql(
      `comment on column "account_emails"."delivered_at" is 'When the server of the recipient accepted it, as the provider reports.';`,
    );
    this.addSql(`comment on column "account_emails"."bounced_at" is 'When the server of the recipient refused it.';`);
    this.addSql(
      `comment on column "account_emails"."bounce_type" is 'hard: the address takes no e-mails; soft: it might later.';`,
    );
    this.addSql(`comment on column "account_emails"."complained_at" is 'When the recipient reported it as unwanted.';`);
    this.addSql(
      `comment on column "account_emails"."opened_at" is 'When it was first opened, where that is tracked.';`,
    );
    this.addSql(
      `comment on column "account_emails"."clicked_at" is 'When a link of it was first followed, where that is tracked.';`,
    );
    this.addSql(`create unique index "account_emails_key_key" on "account_emails" ("key") where deleted_at is null;`);

    this.addSql(
      `create table "account_email_suppressions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "email" text not null, "reason" text not null, "email_id" text null, "released_at" timestamptz null, "release_reason" text null, "suppressed_email" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "account_email_suppressions" is 'Address to which no e-mails about accounts are sent.';`,
    );
    this.addSql(`comment on column "account_email_suppressions"."email" is 'Address that gets no e-mails.';`);
    this.addSql(
      `comment on column "account_email_suppressions"."reason" is 'hard_bounce: its server takes no e-mails for it; complaint: the recipient has reported one as unwanted; refused: the provider does not send to it; unsubscribed: the recipient wants no more; manual: a manager has entered it. The last two do not concern e-mails about security.';`,
    );
    this.addSql(
      `comment on column "account_email_suppressions"."email_id" is 'Id of the e-mail that caused it; null for one that a manager has entered.';`,
    );
    this.addSql(
      `comment on column "account_email_suppressions"."released_at" is 'When it was released: from then on, e-mails are sent again.';`,
    );
    this.addSql(
      `comment on column "account_email_suppressions"."release_reason" is 'Why it was released, as stated by whoever did it.';`,
    );
    this.addSql(
      `comment on column "account_email_suppressions"."suppressed_email" is '\`email\` until it is released; null afterwards: the address can be suppressed again.';`,
    );
    this.addSql(
      `create unique index "account_email_suppressions_suppressed_email_key" on "account_email_suppressions" ("suppressed_email") where deleted_at is null;`,
    );

    this.addSql(
      `create table "email_suppressions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "email" text not null, "reason" text not null, "email_id" text null, "released_at" timestamptz null, "release_reason" text null, "suppressed_email" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "email_suppressions" is 'Address to which no e-mails of the organization are sent. Managers see why, enter addresses, and release them with a reason.';`,
    );
    this.addSql(`comment on column "email_suppressions"."email" is 'Address that gets no e-mails.';`);
    this.addSql(
      `comment on column "email_suppressions"."reason" is 'hard_bounce: its server takes no e-mails for it; complaint: the recipient has reported one as unwanted; refused: the provider does not send to it; unsubscribed: the recipient wants no more; manual: a manager has entered it. The last two do not concern e-mails about security.';`,
    );
    this.addSql(
      `comment on column "email_suppressions"."email_id" is 'Id of the e-mail that caused it; null for one that a manager has entered.';`,
    );
    this.addSql(
      `comment on column "email_suppressions"."released_at" is 'When it was released: from then on, e-mails are sent again.';`,
    );
    this.addSql(
      `comment on column "email_suppressions"."release_reason" is 'Why it was released, as stated by whoever did it.';`,
    );
    this.addSql(
      `comment on column "email_suppressions"."suppressed_email" is '\`email\` until it is released; null afterwards: the address can be suppressed again.';`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_id_index" on "email_suppressions" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_email_id_index" on "email_suppressions" ("organization_id", "email", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_reason_id_index" on "email_suppressions" ("organization_id", "reason", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_released_at_id_index" on "email_suppressions" ("organization_id", "released_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_created_at_id_index" on "email_suppressions" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_organization_id_updated_at_id_index" on "email_suppressions" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "email_suppressions_organization_id_suppressed_email_key" on "email_suppressions" ("organization_id", "suppressed_email") where deleted_at is null;`,
    );

    this.addSql(
      `create table "emails" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "key" text not null, "template" text not null, "recipient_id" text null, "about_id" text null, "about_round" integer null, "state" text not null, "attempts" integer not null, "attempted_at" timestamptz null, "carrier" text null, "message_id" text null, "content" text null, "error_code" text null, "error_message" text null, "sent_at" timestamptz null, "delivered_at" timestamptz null, "bounced_at" timestamptz null, "bounce_type" text null, "complained_at" timestamptz null, "opened_at" timestamptz null, "clicked_at" timestamptz null, "resent_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "emails" is 'E-mail that the server sends for the organization. Managers see what became of it, and have it sent again. E-mails about the account of a person are not among them.';`,
    );
    this.addSql(
      `comment on column "emails"."key" is 'Idempotency key: the same key is the same e-mail, however often it is asked for.';`,
    );
    this.addSql(`comment on column "emails"."template" is 'Which e-mail it is, for example invite.';`);
    this.addSql(
      `comment on column "emails"."recipient_id" is 'Id of the person it goes to; null for an address without an account, which the record it is about has.';`,
    );
    this.addSql(`comment on column "emails"."about_id" is 'Id of the record that it is about.';`);
    this.addSql(`comment on column "emails"."about_round" is 'For a record with a link: which of its links.';`);
    this.addSql(
      `comment on column "emails"."state" is 'pending: to be sent; sending: handed to the provider, whose answer is not known; waiting: the provider takes none at the moment (see errorCode); sent: the provider has accepted it; delivered, bounced, complained: what the provider has reported since; refused: the provider does not accept the address; suppressed: the address gets no e-mails; outdated: what it says was no longer true; failed: given up.';`,
    );
    this.addSql(`comment on column "emails"."attempts" is 'Number of attempts to hand it to a provider.';`);
    this.addSql(`comment on column "emails"."attempted_at" is 'When the last attempt began.';`);
    this.addSql(`comment on column "emails"."carrier" is 'What carries it: a provider, or in development a folder.';`);
    this.addSql(`comment on column "emails"."message_id" is 'Id of the e-mail at the provider.';`);
    this.addSql(
      `comment on column "emails"."content" is 'The e-mail as it is sent, until it is accepted: a repeated attempt sends the same bytes.';`,
    );
    this.addSql(
      `comment on column "emails"."error_code" is 'Why it is not sent: for example too_many_requests, credentials_refused, address_refused.';`,
    );
    this.addSql(`comment on column "emails"."error_message" is 'What the provider said about that.';`);
    this.addSql(`comment on column "emails"."sent_at" is 'When the provider accepted it.';`);
    this.addSql(
      `comment on column "emails"."delivered_at" is 'When the server of the recipient accepted it, as the provider reports.';`,
    );
    this.addSql(`comment on column "emails"."bounced_at" is 'When the server of the recipient refused it.';`);
    this.addSql(
      `comment on column "emails"."bounce_type" is 'hard: the address takes no e-mails; soft: it might later.';`,
    );
    this.addSql(`comment on column "emails"."complained_at" is 'When the recipient reported it as unwanted.';`);
    this.addSql(`comment on column "emails"."opened_at" is 'When it was first opened, where that is tracked.';`);
    this.addSql(
      `comment on column "emails"."clicked_at" is 'When a link of it was first followed, where that is tracked.';`,
    );
    this.addSql(
      `comment on column "emails"."resent_at" is 'When somebody last asked to send it again, as a further e-mail.';`,
    );
    this.addSql(
      `create index "emails_organization_id_id_index" on "emails" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_template_id_index" on "emails" ("organization_id", "template", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_state_id_index" on "emails" ("organization_id", "state", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_recipient_id_id_index" on "emails" ("organization_id", "recipient_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_about_id_id_index" on "emails" ("organization_id", "about_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_carrier_id_index" on "emails" ("organization_id", "carrier", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_error_code_id_index" on "emails" ("organization_id", "error_code", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_created_at_id_index" on "emails" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_sent_at_id_index" on "emails" ("organization_id", "sent_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_organization_id_updated_at_id_index" on "emails" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "emails_organization_id_key_key" on "emails" ("organization_id", "key") where deleted_at is null;`,
    );

    this.addSql(`alter table "organization_settings" add "email_theme" text not null default 'modern';`);
    this.addSql(`alter table "organization_settings" alter column "email_theme" drop default;`);
    this.addSql(
      `comment on column "organization_settings"."email_theme" is 'Looks of the e-mails that are sent for the organization.';`,
    );
    this.addSql(
      `alter table "organization_settings" add constraint "organization_settings_email_theme_check" check (email_theme in ('modern', 'classic'));`,
    );

    this.addSql(
      `comment on table "webhook_events" is 'Event that another system has sent to this server. Events that arrive twice are stored once.';`,
    );

    this.addSql(
      `alter table "account_emails" add constraint "account_emails_state_check" check (state in ('pending', 'sending', 'waiting', 'sent', 'delivered', 'bounced', 'complained', 'refused', 'suppressed', 'outdated', 'failed'));`,
    );
    this.addSql(
      `alter table "account_emails" add constraint "account_emails_carrier_check" check (carrier in ('folder', 'providera', 'providerb'));`,
    );
    this.addSql(
      `alter table "account_emails" add constraint "account_emails_bounce_type_check" check (bounce_type in ('hard', 'soft'));`,
    );
    this.addSql(`alter table "account_emails" enable row level security;`);
    this.addSql(
      `create policy "account_emails_app" on "account_emails" to "core_app" using (false) with check (false);`,
    );
    this.addSql(
      `create policy "account_emails_system" on "account_emails" to "core_system" using (true) with check (true);`,
    );

    this.addSql(
      `alter table "account_email_suppressions" add constraint "account_email_suppressions_reason_check" check (reason in ('hard_bounce', 'complaint', 'refused', 'unsubscribed', 'manual'));`,
    );
    this.addSql(`alter table "account_email_suppressions" enable row level security;`);
    this.addSql(
      `create policy "account_email_suppressions_app" on "account_email_suppressions" to "core_app" using (false) with check (false);`,
    );
    this.addSql(
      `create policy "account_email_suppressions_system" on "account_email_suppressions" to "core_system" using (true) with check (true);`,
    );

    this.addSql(
      `alter table "email_suppressions" add constraint "email_suppressions_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "email_suppressions" add constraint "email_suppressions_reason_check" check (reason in ('hard_bounce', 'complaint', 'refused', 'unsubscribed', 'manual'));`,
    );
    this.addSql(`alter table "email_suppressions" enable row level security;`);
    this.addSql(
      `create policy "email_suppressions_app" on "email_suppressions" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "email_suppressions_system" on "email_suppressions" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "emails" add constraint "emails_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "emails" add constraint "emails_state_check" check (state in ('pending', 'sending', 'waiting', 'sent', 'delivered', 'bounced', 'complained', 'refused', 'suppressed', 'outdated', 'failed'));`,
    );
    this.addSql(
      `alter table "emails" add constraint "emails_carrier_check" check (carrier in ('folder', 'providera', 'providerb'));`,
    );
    this.addSql(
      `alter table "emails" add constraint "emails_bounce_type_check" check (bounce_type in ('hard', 'soft'));`,
    );
    this.addSql(`alter table "emails" enable row level security;`);
    this.addSql(
      `create policy "emails_app" on "emails" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "emails_system" on "emails" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "account_emails" cascade;`);
    this.addSql(`drop table if exists "account_email_suppressions" cascade;`);
    this.addSql(`drop table if exists "email_suppressions" cascade;`);
    this.addSql(`drop table if exists "emails" cascade;`);

    this.addSql(`alter table "organization_settings" drop constraint "organization_settings_email_theme_check";`);
    this.addSql(`alter table "organization_settings" drop column "email_theme";`);

    this.addSql(`comment on table "webhook_events" is 'Event of the payment provider that was acted on.';`);
  }
}
