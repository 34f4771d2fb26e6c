import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** A session of single sign-on counts while the provider that began it is there. */
const signOnCurrent = [
  `create function is_sign_on_current(wanted_organization text, wanted_revision text) returns boolean
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return exists (select 1 from identity_providers p where p.organization_id = wanted_organization
      and p.revision = wanted_revision and p.deleted_at is null);
  end $$`,
  // Whoever left an organization, or was removed, has rows that are deleted; so has whoever unlinked the identity or deleted the account.
  // The address can be one that somebody has given up for another one, or with their account.
  `create function was_member(wanted_user text, wanted_organization text, wanted_issuer text, wanted_subject text, wanted_email text)
    returns boolean language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare former text[];
  begin
    former := array(select e.user_id from external_identities e
        where e.realm = wanted_organization and e.issuer = wanted_issuer and e.subject = wanted_subject
      union select c.user_id from email_changes c where c.email = wanted_email and c.deleted_at is null);
    return exists (select 1 from memberships m
      where m.user_id = any(former || wanted_user) and m.organization_id = wanted_organization);
  end $$`,
  'revoke all on function is_sign_on_current(text, text), was_member(text, text, text, text, text) from public',
  'grant execute on function is_sign_on_current(text, text), was_member(text, text, text, text, text) to core_app, core_system',
];

/**
 * The rule of single sign-on for people with a role in an organization: of all providers that are enforced, the uppermost counts, so that
 * no part of an organization gets around it with a provider of its own. It does not count for owners of the organization that enforces it
 * or of one above, in sessions that began in another way; owners of parts are members like others. A session that began with single
 * sign-on counts in that organization and its parts alone, and there only if no organization above it enforces another.
 */
const uppermostCounts = [
  'drop function single_sign_on_gap(text, text, text)',
  `create function single_sign_on_gap(wanted_user text, wanted_organization text, begun_with text) returns text
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare chain_ids text[]; required text;
  begin
    chain_ids := array(select c.id from organization_chain(wanted_organization) c);
    if begun_with <> '' and begun_with <> all(chain_ids) then return ''; end if;
    required := (select p.organization_id from identity_providers p
      where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null
      order by array_position(chain_ids, p.organization_id) desc limit 1);
    if required is null then return null; end if;
    if begun_with <> '' then
      return case when array_position(chain_ids, begun_with) >= array_position(chain_ids, required) then null else required end;
    end if;
    if exists (select 1 from memberships m where m.user_id = wanted_user and m.role = 'owner' and m.deleted_at is null
        and m.organization_id = any(chain_ids[array_position(chain_ids, required):])) then return null; end if;
    return required;
  end $$`,
  entry(`case when c.role is not null then single_sign_on_gap(wanted_user, wanted_organization, begun_with) end`),
  'revoke all on function single_sign_on_gap(text, text, text) from public',
];

const nearestCounts = [
  'drop function single_sign_on_gap(text, text, text)',
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
  entry(`single_sign_on_gap(c.role, wanted_organization, begun_with)`),
  'revoke all on function single_sign_on_gap(text, text, text) from public',
];

/** `organization_entry` keeps its parameters, columns and privileges. @param gap what it returns besides the role */
function entry(gap: string): string {
  return `create or replace function organization_entry(wanted_user text, wanted_organization text, begun_with text)
    returns table (role text, gap text)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query select c.role, ${gap} from request_context(wanted_user, '*', wanted_organization) c;
  end $$`;
}

/**
 * Parts of `request_context` that become others: it also returns with whose single sign-on the session began, and whether a second factor
 * is missing. It is part of every request, so it asks the two rules only where an organization has a provider or a requirement.
 */
const changes: Changes = [
  ['modules text[])', 'modules text[], single_sign_on_id text, lacks_second_factor boolean)'],
  [
    `found_modules text[] := '{}';`,
    `found_modules text[] := '{}';
    is_known boolean; begun_with text; begun_revision text;`,
  ],
  [
    `if wanted_session <> '*' and single_sign_on_gap(found_role, wanted_organization, coalesce(
      (select s.single_sign_on_id from sessions s where s.id = wanted_session and s.deleted_at is null), '')) is not null then`,
    `select s.single_sign_on_id, s.single_sign_on_revision into begun_with, begun_revision from sessions s
      where s.id = wanted_session and s.user_id = wanted_user and s.deleted_at is null;
    is_known := found;
    if wanted_session <> '*' and found_role is not null
      and (begun_with is not null or exists (select 1 from identity_providers p
        where p.organization_id = any(chain_ids) and p.is_enforced and p.deleted_at is null))
      and single_sign_on_gap(wanted_user, wanted_organization, coalesce(begun_with, '')) is not null then`,
  ],
  [
    'exists (select 1 from sessions s where s.id = wanted_session and s.user_id = wanted_user and s.deleted_at is null)',
    'is_known and (begun_with is null or is_sign_on_current(begun_with, begun_revision))',
  ],
  [
    'found_relations, found_modules;',
    `found_relations, found_modules, begun_with,
      found_role is not null and exists (select 1 from organization_settings o
        where o.organization_id = any(chain_ids) and o.requires_second_factor and o.deleted_at is null)
        and lacks_second_factor(wanted_user, wanted_organization);`,
  ],
];

const requestContext = 'request_context(text, text, text)';

const privileges = [
  `revoke all on function ${requestContext} from public`,
  `grant execute on function ${requestContext} to core_app, core_system`,
];

/** Sessions of single sign-on end with their provider and reach nothing beyond the organization; identities count in their realm. */
export class Migration20261122194200ConfinedSessions extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "identity_providers" add "revision" text null;`);
    this.addSql('update identity_providers set revision = id;');
    this.addSql(`alter table "identity_providers" alter column "revision" set not null;`);
    this.addSql(
      `comment on column "identity_providers"."revision" is 'Changes with issuer and client: sessions that began with earlier ones have ended.';`,
    );
    this.addSql(
      `comment on column "identity_providers"."allowed_domains" is 'Domains of e-mail addresses whose people become members when they first sign in with it, once a DNS record proves the domain; empty for none.';`,
    );

    this.addSql(
      `comment on column "identity_providers"."is_enforced" is 'Whether all members must sign in with it to act in the organization and in the organizations that are part of it, except owners of the organization or of one above it.';`,
    );

    this.addSql(`alter table "sessions" add "single_sign_on_revision" text null;`);
    this.addSql(
      `comment on column "sessions"."single_sign_on_revision" is '\`revision\` of the provider that began it: the session ends with the provider; null for other ways to sign in.';`,
    );
    this.addSql(
      'update sessions s set single_sign_on_revision = p.revision from identity_providers p where p.organization_id = s.single_sign_on_id and p.deleted_at is null;',
    );

    this.addSql(`alter table "external_identities" add "realm" text null;`);
    // Of single sign-on, that of an organization of the person with this issuer; what belongs to none signs nobody in.
    this
      .addSql(`update external_identities e set realm = case when e.provider <> 'single_sign_on' then e.provider else coalesce(
      (select p.organization_id from identity_providers p join memberships m on m.organization_id = p.organization_id
        where p.issuer = e.issuer and m.user_id = e.user_id and p.deleted_at is null and m.deleted_at is null
        order by p.id limit 1), 'none') end;`);
    this.addSql(`alter table "external_identities" alter column "realm" set not null;`);
    this.addSql(
      `comment on column "external_identities"."realm" is 'Where the identity signs in: the name of the provider of this server, or the id of the organization whose single sign-on it is.';`,
    );
    this.addSql(`drop index "external_identities_issuer_subject_key";`);
    this.addSql(
      `create unique index "external_identities_realm_issuer_subject_key" on "external_identities" ("realm", "issuer", "subject") where deleted_at is null;`,
    );

    this.addSql(`create index "email_changes_email_index" on "email_changes" ("email") where deleted_at is null;`);
    for (const statement of signOnCurrent) this.addSql(statement);
    for (const statement of uppermostCounts) this.addSql(statement);
    this.addSql(changedFunction(requestContext, changes, { isAnew: true }));
    for (const statement of privileges) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction(requestContext, undone(changes), { isAnew: true }));
    for (const statement of privileges) this.addSql(statement);
    for (const statement of nearestCounts) this.addSql(statement);
    this.addSql('drop function is_sign_on_current(text, text)');
    this.addSql('drop function was_member(text, text, text, text, text)');

    this.addSql('drop index "email_changes_email_index";');
    // Without realms an identity belongs to one account: to the first that has linked it.
    this.addSql(`update external_identities e set deleted_at = now(), deleted_by = 'system:migration'
      where e.deleted_at is null and exists (select 1 from external_identities older where older.deleted_at is null
        and older.issuer = e.issuer and older.subject = e.subject and (older.created_at, older.id) < (e.created_at, e.id));`);
    this.addSql(`drop index "external_identities_realm_issuer_subject_key";`);
    this.addSql(
      `create unique index "external_identities_issuer_subject_key" on "external_identities" ("issuer", "subject") where deleted_at is null;`,
    );
    this.addSql(`alter table "external_identities" drop column "realm";`);
    this.addSql(`alter table "sessions" drop column "single_sign_on_revision";`);
    this.addSql(`alter table "identity_providers" drop column "revision";`);
    this.addSql(
      `comment on column "identity_providers"."allowed_domains" is 'Domains of e-mail addresses whose people become members when they first sign in with it; empty for none.';`,
    );
    this.addSql(
      `comment on column "identity_providers"."is_enforced" is 'Whether all members but owners must sign in with it to act in the organization and in the organizations that are part of it.';`,
    );
  }
}
