import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/**
 * The rule of single sign-on: a session that began with that of an organization counts there and in its parts alone; other sessions do
 * not count where the nearest provider is enforced, except for owners. Personal tokens, which have no session, are like other sessions.
 */
const functions = [
  `create function single_sign_on_gap(held_role text, wanted_organization text, begun_with text) returns text
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare chain_ids text[];
  begin
    if held_role is null or (begun_with = '' and held_role = 'owner') then return null; end if;
    chain_ids := array(select c.id from organization_chain(wanted_organization) c);
    if begun_with <> '' then return case when begun_with = any(chain_ids) then null else '' end; end if;
    return (select p.organization_id from identity_providers p
      where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null
      order by array_position(chain_ids, p.organization_id) limit 1);
  end $$`,
  `create function organization_entry(wanted_user text, wanted_organization text, begun_with text)
    returns table (role text, gap text)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query select c.role, single_sign_on_gap(c.role, wanted_organization, begun_with)
      from request_context(wanted_user, '*', wanted_organization) c;
  end $$`,
  'revoke all on function single_sign_on_gap(text, text, text), organization_entry(text, text, text) from public',
  'grant execute on function organization_entry(text, text, text) to core_app, core_system',
];

const ungated = 'if found_role is not null then';

/** Without the gate, `*` stands for work of a request whose session has been judged. */
const gated = `if wanted_session <> '*' and single_sign_on_gap(found_role, wanted_organization, coalesce(
      (select s.single_sign_on_id from sessions s where s.id = wanted_session and s.deleted_at is null), '')) is not null then
      found_role := null;
    end if;
    if found_role is not null then`;

const gate: Changes = [[ungated, gated]];

/** Single sign-on of organizations. */
export class Migration20261122171322SingleSignOn extends Migration {
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

    this.addSql(`alter table "sessions" add "single_sign_on_id" text null;`);
    this.addSql(
      `comment on column "sessions"."single_sign_on_id" is 'Id of the organization whose single sign-on began it, in which alone it counts; null for other ways to sign in.';`,
    );

    this.addSql(`alter table "external_identities" drop constraint "external_identities_provider_check";`);
    this.addSql(
      `comment on column "external_identities"."provider" is 'Provider of the identity: one of this server, or the single sign-on of an organization.';`,
    );
    this.addSql(
      `alter table "external_identities" add constraint "external_identities_provider_check" check (provider in ('codehost', 'identity', 'single_sign_on'));`,
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
    for (const statement of functions) this.addSql(statement);
    this.addSql(changedFunction('request_context(text, text, text)', gate));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('request_context(text, text, text)', undone(gate)));
    this.addSql('drop function organization_entry(text, text, text)');
    this.addSql('drop function single_sign_on_gap(text, text, text)');
    this.addSql(`drop table if exists "identity_providers" cascade;`);

    this.addSql(`alter table "external_identities" drop constraint "external_identities_provider_check";`);
    this.addSql(`comment on column "external_identities"."provider" is 'Provider of the identity.';`);
    this.addSql(
      `alter table "external_identities" add constraint "external_identities_provider_check" check ("provider" in ('codehost', 'identity'));`,
    );

    this.addSql(`alter table "sessions" drop column "single_sign_on_id";`);
  }
}
