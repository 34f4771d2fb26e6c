import { Migration } from '@mikro-orm/migrations';

/**
 * What a token stands for, read with every request that shows one (entities/kit/access/principal-state.ts). Without a token of this id
 * and secret it returns a row all the same.
 */
const tokenContext = `create function token_context(wanted_sort text, wanted_id text, wanted_hashes text, wanted_organization text)
    returns table (is_signed_in boolean, is_active boolean, role text, group_ids text[], relations text[], modules text[],
      user_id text, organization_id text, scopes text[], expires_at timestamptz)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  #variable_conflict use_column
  declare
    is_known boolean; found_user text; found_organization text; found_organizations text[]; found_scopes text[]; found_expiry timestamptz;
  begin
    if wanted_sort = 'api' then
      select t.organization_id, t.scopes, t.expires_at into found_organization, found_scopes, found_expiry from api_tokens t
        where t.id = wanted_id and t.secret_hash = any(string_to_array(wanted_hashes, ' ')) and t.deleted_at is null;
      is_known := found;
      return query select is_known,
        coalesce(wanted_organization, found_organization) = found_organization
          and exists (select 1 from organizations o where o.id = found_organization and o.deleted_at is null),
        null::text, '{}'::text[], '{}'::text[],
        array(select distinct m.module from organization_modules m
          where m.organization_id in (select organization_chain(found_organization)) and m.deleted_at is null order by m.module),
        null::text, found_organization, found_scopes, found_expiry;
    else
      select t.user_id, t.organization_ids, t.scopes, t.expires_at
        into found_user, found_organizations, found_scopes, found_expiry from personal_access_tokens t
        where t.id = wanted_id and t.secret_hash = any(string_to_array(wanted_hashes, ' ')) and t.deleted_at is null;
      is_known := found;
      found_organization := coalesce(wanted_organization, found_organizations[1], (select m.organization_id from memberships m
        where m.user_id = found_user and m.deleted_at is null order by m.created_at, m.id limit 1));
      if cardinality(found_organizations) > 0 and found_organization <> all(found_organizations) then
        found_organization := null;
      end if;
      return query select is_known, c.is_active and c.role is not null, c.role, c.group_ids, c.relations, c.modules,
        found_user, found_organization, found_scopes, found_expiry
        from request_context(found_user, '', found_organization) c;
    end if;
  end $$`;

const tables = { api: 'api_tokens', personal: 'personal_access_tokens' } as const;

/** Records when a token was used, at most once a minute. It is no change of the record, so its version stays. */
const recordTokenUse = `create function record_token_use(wanted_sort text, wanted_id text, used_at timestamptz) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    ${Object.entries(tables)
      .map(
        ([sort, table]) => `update ${table} set last_used_at = used_at where wanted_sort = '${sort}' and id = wanted_id
      and deleted_at is null and (last_used_at is null or last_used_at <= used_at - interval '1 minute');`,
      )
      .join('\n    ')}
  end $$`;

const signatures = ['token_context(text, text, text, text)', 'record_token_use(text, text, timestamptz)'];

export class Migration20261122162543ApiTokens extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "api_tokens" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "description" text null, "expires_at" timestamptz null, "last_used_at" timestamptz null, "hint" text not null, "key_id" text not null, "secret_hash" text not null, "rotated_at" timestamptz null, "scopes" text[] not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "api_tokens" is 'API token of an organization, with which a program calls the API. It has the rights of its scopes and belongs to no person. Deleting it revokes it at once.';`,
    );
    this.addSql(`comment on column "api_tokens"."name" is 'Name that says what the token is used for.';`);
    this.addSql(`comment on column "api_tokens"."description" is 'What else is to be known about the token.';`);
    this.addSql(
      `comment on column "api_tokens"."expires_at" is 'When the token stops working; null for a token that works until it is deleted.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."last_used_at" is 'When the token was last used, to the minute; null if it never was.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."hint" is 'Last characters of the token, by which its owner recognizes it.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."key_id" is 'Id of the key in auth.token.apitokens.keys with which the secret was hashed.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."secret_hash" is 'HMAC-SHA256 of the secret with that key, in base64url.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."rotated_at" is 'When the secret was last replaced; null if it never was.';`,
    );
    this.addSql(
      `comment on column "api_tokens"."scopes" is 'Rights of the token: \`<kind>:read\`, \`:write\` or \`:delete\`; each includes those before it.';`,
    );
    this.addSql(
      `create index "api_tokens_organization_id_id_index" on "api_tokens" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_tokens_organization_id_name_id_index" on "api_tokens" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_tokens_organization_id_created_at_id_index" on "api_tokens" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_tokens_organization_id_updated_at_id_index" on "api_tokens" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "personal_access_tokens" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "name" text not null, "description" text null, "expires_at" timestamptz null, "last_used_at" timestamptz null, "hint" text not null, "key_id" text not null, "secret_hash" text not null, "rotated_at" timestamptz null, "scopes" text[] not null, "organization_ids" text[] not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "personal_access_tokens" is 'Token with which a program acts for a person, with those of the rights of the person that are within its scopes. Deleting it revokes it at once.';`,
    );
    this.addSql(`comment on column "personal_access_tokens"."name" is 'Name that says what the token is used for.';`);
    this.addSql(
      `comment on column "personal_access_tokens"."description" is 'What else is to be known about the token.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."expires_at" is 'When the token stops working; null for a token that works until it is deleted.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."last_used_at" is 'When the token was last used, to the minute; null if it never was.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."hint" is 'Last characters of the token, by which its owner recognizes it.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."key_id" is 'Id of the key in auth.token.apitokens.keys with which the secret was hashed.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."secret_hash" is 'HMAC-SHA256 of the secret with that key, in base64url.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."rotated_at" is 'When the secret was last replaced; null if it never was.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."scopes" is 'What the token may do of all that the person may do: \`<kind>:read\`, \`:write\` or \`:delete\`; each includes those before it.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."organization_ids" is 'Ids of the organizations in which the token works; empty for all of the person.';`,
    );
    this.addSql(`create index "personal_access_tokens_user_id_index" on "personal_access_tokens" ("user_id");`);

    this.addSql(
      `alter table "api_tokens" add constraint "api_tokens_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "api_tokens" enable row level security;`);
    this.addSql(
      `create policy "api_tokens_app" on "api_tokens" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "api_tokens_system" on "api_tokens" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "personal_access_tokens" add constraint "personal_access_tokens_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "personal_access_tokens" enable row level security;`);
    this.addSql(
      `create policy "personal_access_tokens_app" on "personal_access_tokens" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "personal_access_tokens_system" on "personal_access_tokens" to "core_system" using (true) with check (true);`,
    );

    this.addSql(tokenContext);
    this.addSql(recordTokenUse);
    this.addSql(`revoke all on function ${signatures.join(', ')} from public`);
    this.addSql(`grant execute on function ${signatures.join(', ')} to core_app, core_system`);
  }

  override down(): void | Promise<void> {
    for (const signature of signatures) this.addSql(`drop function ${signature}`);
    this.addSql(`drop table if exists "api_tokens" cascade;`);
    this.addSql(`drop table if exists "personal_access_tokens" cascade;`);
  }
}
