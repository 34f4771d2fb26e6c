import { Migration } from '@mikro-orm/migrations';

/** Identities of people at sign-in providers. */
export class Migration20261122163403ExternalIdentities extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "external_identities" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "provider" text not null, "issuer" text not null, "subject" text not null, "email" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "external_identities" is 'Identity of a person at a sign-in provider, with which they sign in.';`,
    );
    this.addSql(`comment on column "external_identities"."provider" is 'Provider of the identity.';`);
    this.addSql(`comment on column "external_identities"."issuer" is 'URL of the provider.';`);
    this.addSql(`comment on column "external_identities"."subject" is 'Id of the person at the provider.';`);
    this.addSql(
      `comment on column "external_identities"."email" is 'Address that the provider had verified when the identity was linked.';`,
    );
    this.addSql(`create index "external_identities_user_id_index" on "external_identities" ("user_id");`);
    this.addSql(
      `create unique index "external_identities_issuer_subject_key" on "external_identities" ("issuer", "subject") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "external_identities" add constraint "external_identities_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "external_identities" add constraint "external_identities_provider_check" check (provider in ('codehost', 'identity'));`,
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
    this.addSql(`drop table if exists "external_identities" cascade;`);
  }
}
