import { Migration } from '@mikro-orm/migrations';

/** Read with the caller of each request (entities/kit/access/principal-state.ts), so it is plpgsql like `request_context`. */
const lacksSecondFactor = [
  `create function lacks_second_factor(wanted_user text, wanted_organization text) returns boolean
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return exists (select 1 from organization_settings s
        where s.organization_id in (select c.id from organization_chain(wanted_organization) c)
          and s.requires_second_factor and s.deleted_at is null)
      and not exists (select 1 from second_factors f
        where f.user_id = wanted_user and f.confirmed_at is not null and f.deleted_at is null);
  end $$`,
  'revoke all on function lacks_second_factor(text, text) from public',
  'grant execute on function lacks_second_factor(text, text) to core_app, core_system',
];

/** Authenticator apps as second factor, which organizations can require. */
export class Migration20261122162449AddSecondFactors extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "second_factors" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "sealed_secret" text null, "digits" integer not null, "confirmed_at" timestamptz null, "last_used_step" integer not null, "recovery_code_hashes" jsonb null, "recovery_codes_left" integer not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "second_factors" is 'Authenticator app of a person: after the first proof of identity, a sign-in also asks for a one-time code (TOTP, RFC 6238).';`,
    );
    this.addSql(
      `comment on column "second_factors"."sealed_secret" is 'Secret shared with the authenticator app, encrypted (JWE); null once it is removed.';`,
    );
    this.addSql(
      `comment on column "second_factors"."digits" is 'Number of digits of a code; set when the app is set up.';`,
    );
    this.addSql(
      `comment on column "second_factors"."confirmed_at" is 'When the person confirmed the app with a code; null until then.';`,
    );
    this.addSql(
      `comment on column "second_factors"."last_used_step" is 'Number of the time step (30 seconds) of the last accepted code; codes of this step and of earlier ones are refused.';`,
    );
    this.addSql(
      `comment on column "second_factors"."recovery_code_hashes" is 'HMAC-SHA256 of each recovery code that has not been used, as a list in base64url.';`,
    );
    this.addSql(
      `comment on column "second_factors"."recovery_codes_left" is 'Number of recovery codes that have not been used.';`,
    );
    this.addSql(`create index "second_factors_user_id_index" on "second_factors" ("user_id");`);
    this.addSql(
      `create unique index "second_factors_user_id_key" on "second_factors" ("user_id") where deleted_at is null;`,
    );

    this.addSql(`alter table "organization_settings" add "requires_second_factor" boolean not null default 'false';`);
    this.addSql(`alter table "organization_settings" alter column "requires_second_factor" drop default;`);
    this.addSql(
      `comment on column "organization_settings"."requires_second_factor" is 'Whether members need a second factor to act in the organization and in the organizations that are part of it. Members without one can set it up, and then enter.';`,
    );

    this.addSql(`alter table "sessions" add "proven_at" timestamptz null;`);
    this.addSql(
      `comment on column "sessions"."proven_at" is 'When the person last proved who they are in this session, for sensitive actions; null: never since this is recorded.';`,
    );

    this.addSql(
      `alter table "second_factors" add constraint "second_factors_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "second_factors" enable row level security;`);
    this.addSql(
      `create policy "second_factors_app" on "second_factors" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "second_factors_system" on "second_factors" to "core_system" using (true) with check (true);`,
    );
    for (const statement of lacksSecondFactor) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    this.addSql('drop function lacks_second_factor(text, text)');
    this.addSql(`drop table if exists "second_factors" cascade;`);

    this.addSql(`alter table "organization_settings" drop column "requires_second_factor";`);

    this.addSql(`alter table "sessions" drop column "proven_at";`);
  }
}
