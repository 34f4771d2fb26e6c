import { Migration } from '@mikro-orm/migrations';

/** Identities of people at sign-in providers, and providers of organizations for single sign-on. */
export class Migration20261122162520ExternalIdentities extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "identity_providers" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "issuer" text not null, "client_id" text not null, "client_secret" text not null, "allowed_domains" text[] not null, "tested_at" timestamptz null, "is_enforced" boolean not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "identity_providers" is 'OpenID Connect provider for the single sign-on of an organization.';`,
    );
    this.addSql(
      `comment on column "identity_providers"."issuer" is 'URL of the provider, below which it has its OpenID Connect metadata.';`,
    );
    this.addSql(`comment on column "identity_providers"."client_id" is 'Client id of this server at the provider.';`);
    this.addSql(`comment on column "identity_providers"."client_secret" is 'Client secret, encrypted.';`);
    this.addSql(
      `comment on column "identity_providers"."allowed_domains" is 'Domains of e-mail addresses whose people become members when they first sign in with it; empty for none.';`,
    );
    this.addSql(
      `comment on column "identity_providers"."tested_at" is 'When a manager signed in with the current settings; null: not yet.';`,
    );
    this.addSql(
      `comment on column "identity_providers"."is_enforced" is 'Whether all members but owners must sign in with it to act in the organization and in the organizations that are part of it.';`,
    );
    this.addSql(
      `create index "identity_providers_organization_id_id_index" on "identity_providers" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_providers_organization_id_created_at_id_index" on "identity_providers" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "identity_providers_organization_id_updated_at_id_index" on "identity_providers" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "identity_providers_organization_id_key" on "identity_providers" ("organization_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "external_identities" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "provider" text not null, "issuer" text not null, "subject" text not null, "email" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "external_identities" is 'Identity of a person at a sign-in provider, with which they sign in.';`,
    );
    this.addSql(
      `comment on column "external_identities"."provider" is 'Provider of the identity: one of this server, or the single sign-on of an organization.';`,
    );
    this.addSql(`comment on column "external_identities"."issuer" is 'URL of the provider.';`);
    this.addSql(`comment on column "external_identities"."subject" is 'Id of the person at the provider.';`);
    this.addSql(
      `comment on column "external_identities"."email" is 'Address that the provider had verified when the identity was linked.';`,
    );
    this.addSql(`create index "external_identities_user_id_index" on "external_identities" ("user_id");`);
    this.addSql(
      `create unique index "external_identities_issuer_subject_key" on "external_identities" ("issuer", "subject") where deleted_at is null;`,
    );

    this.addSql(`alter table "sessions" add "single_sign_on_id" text null;`);
    this.addSql(
      `comment on column "sessions"."single_sign_on_id" is 'Id of the organization whose single sign-on began it, in which alone it counts; null for other ways to sign in.';`,
    );

    this.addSql(
      `alter table "identity_providers" add constraint "identity_providers_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "identity_providers" enable row level security;`);
    this.addSql(
      `create policy "identity_providers_app" on "identity_providers" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "identity_providers_system" on "identity_providers" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "external_identities" add constraint "external_identities_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "external_identities" add constraint "external_identities_provider_check" check (provider in ('codehost', 'identity', 'single_sign_on'));`,
    );
    this.addSql(`alter table "external_identities" enable row level security;`);
    this.addSql(
      `create policy "external_identities_app" on "external_identities" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "external_identities_system" on "external_identities" to "core_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "identity_providers" cascade;`);
    this.addSql(`drop table if exists "external_identities" cascade;`);

    this.addSql(`alter table "sessions" drop column "single_sign_on_id";`);
  }
}
