import { Migration } from '@mikro-orm/migrations';

export class Migration20261123104500Subscribers extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "subscribers" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "email" text not null, "phone_number" text null, "is_email_verified" boolean not null, "is_phone_verified" boolean not null, "is_active" boolean not null, "is_unsubscribed" boolean not null, "send_attempts" integer not null, "expires_at" timestamptz null, "user_id" text null, "tags" text[] not null, "subscribed_email" text null, "round" integer not null, "sent_round" integer not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "subscribers" is 'E-mail address that subscribes to the e-mails of an organization. Creating it sends an e-mail with a link that verifies the address; only then is it active.';`,
    );
    this.addSql(`comment on column "subscribers"."email" is 'E-mail address of the subscriber.';`);
    this.addSql(
      `comment on column "subscribers"."phone_number" is 'Phone number in international form (E.164), for example +4312345678.';`,
    );
    this.addSql(
      `comment on column "subscribers"."is_email_verified" is 'Whether the link of a verification e-mail was used.';`,
    );
    this.addSql(
      `comment on column "subscribers"."is_phone_verified" is 'Whether the phone number was verified. The server sends no text messages, so it is false.';`,
    );
    this.addSql(
      `comment on column "subscribers"."is_active" is 'Whether e-mails may be sent to the address: it is verified, and has not unsubscribed.';`,
    );
    this.addSql(
      `comment on column "subscribers"."is_unsubscribed" is 'Whether the subscription has ended. Nobody takes that back; a new subscriber of the same address verifies it again.';`,
    );
    this.addSql(`comment on column "subscribers"."send_attempts" is 'Number of verification e-mails sent.';`);
    this.addSql(
      `comment on column "subscribers"."expires_at" is 'When the link of the verification e-mail expires: 7 days after it was last requested.';`,
    );
    this.addSql(
      `comment on column "subscribers"."user_id" is 'Person in the organization who has confirmed the same address; null if there was none. It stays when they leave.';`,
    );
    this.addSql(`comment on column "subscribers"."tags" is 'Search tags.';`);
    this.addSql(
      `comment on column "subscribers"."subscribed_email" is '\`email\` until the subscription ends; null afterwards: the address can subscribe again.';`,
    );
    this.addSql(
      `comment on column "subscribers"."round" is '1 at first; greater by 1 each time the verification e-mail is requested again.';`,
    );
    this.addSql(
      `comment on column "subscribers"."sent_round" is '\`round\` of the last verification e-mail that was sent; 0 for none.';`,
    );
    this.addSql(
      `create index "subscribers_subscribed_email_index" on "subscribers" ("subscribed_email") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_id_index" on "subscribers" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_email_id_index" on "subscribers" ("organization_id", "email", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_is_email_verified_id_index" on "subscribers" ("organization_id", "is_email_verified", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_is_active_id_index" on "subscribers" ("organization_id", "is_active", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_is_unsubscribed_id_index" on "subscribers" ("organization_id", "is_unsubscribed", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_user_id_id_index" on "subscribers" ("organization_id", "user_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_expires_at_id_index" on "subscribers" ("organization_id", "expires_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_created_at_id_index" on "subscribers" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_updated_at_id_index" on "subscribers" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(`create index "subscribers_user_id_index" on "subscribers" ("user_id") where user_id is not null;`);
    this.addSql(
      `create index "subscribers_search_index" on "subscribers" using gin (organization_id, (coalesce(email, '')) gin_trgm_ops, to_tsvector('english', (coalesce(email, '')))) where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_tags_words" on "subscribers" using gin (tenant_words(organization_id, tags)) where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "subscribers_organization_id_subscribed_email_key" on "subscribers" ("organization_id", "subscribed_email") where deleted_at is null;`,
    );
    this.addSql(
      `alter table "subscribers" add constraint "subscribers_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "subscribers" add constraint "subscribers_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "subscribers" enable row level security;`);
    this.addSql(
      `create policy "subscribers_app" on "subscribers" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "subscribers_system" on "subscribers" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
    this
      .addSql(`create or replace function search_subscribers(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
    with named as (
      select id, 9::real as rank from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(email, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(email, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(email, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(email, '')) + case when coalesce(email, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(email, '')) ilike search_pattern(wanted) and (email ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(email, ''))) / 2 as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(email, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  $$`);
    this.addSql(`revoke all on function search_subscribers(text) from public`);
    this.addSql(`grant execute on function search_subscribers(text) to core_app, core_system`);
    this.addSql(
      `comment on column "user_settings"."timezone" is 'Time zone of the person; null for that of the organization.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."timezone" is 'Time zone of the organization; determines where its days begin.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "subscribers" cascade;`);
    this.addSql(`drop function search_subscribers(text)`);
    this.addSql(
      `comment on column "user_settings"."timezone" is 'IANA time zone of the person, for example Europe/Berlin; null for that of the organization.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."timezone" is 'IANA time zone of the organization; determines where its days begin.';`,
    );
  }
}
