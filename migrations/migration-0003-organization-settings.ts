import { Migration } from '@mikro-orm/migrations';

export class Migration0003OrganizationSettings extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "organization_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "billing_email" text null, "timezone" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_settings" is 'Settings of one organization; made when the organization is.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."billing_email" is 'Where invoices go; the address of the owner at first.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."timezone" is 'IANA time zone in which days of the organization begin.';`,
    );
    this.addSql(
      `create index "organization_settings_organization_id_index" on "organization_settings" ("organization_id");`,
    );
    this.addSql(
      `create unique index "organization_settings_organization_id_key" on "organization_settings" ("organization_id") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "organization_settings" add constraint "organization_settings_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "organization_settings" enable row level security;`);
    this.addSql(
      `create policy "organization_settings_app" on "organization_settings" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_settings_system" on "organization_settings" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "organization_settings" cascade;`);
  }
}
