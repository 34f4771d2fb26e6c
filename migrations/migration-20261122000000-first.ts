import { Migration } from '@mikro-orm/migrations';

/**
 * The schema of the first version: tables without an entity (history, outbox, desired tuples, revoked tokens, sign-in failures),
 * the functions through which the app role reaches tables it has no privileges on, and the tables of the kinds.
 */
export class Migration20261122000000First extends Migration {
  override up(): void {
    const statements = [rolesAndExtension, tables, functions, privileges, kinds, historyPolicies].flat();
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    for (const table of [...kindTables, ...otherTables]) this.addSql(`drop table ${table} cascade`);
    for (const name of functionNames) this.addSql(`drop function ${name}`);
    // Roles and the extension stay: they belong to the server, and other databases may use them.
    this.addSql(
      'alter default privileges in schema public revoke select, insert, update on tables from core_app, core_system',
    );
  }
}

const kindTables = [
  'creator_grants',
  'email_verifications',
  'file_shares',
  'files',
  'group_memberships',
  'group_settings',
  'groups',
  'invites',
  'memberships',
  'notes',
  'organization_modules',
  'organization_settings',
  'organizations',
  'tags',
  'task_shares',
  'tasks',
  'users',
];

const otherTables = [
  'authorization_revisions',
  'desired_tuples',
  'event_deliveries',
  'events',
  'history',
  'record_kinds',
  'revoked_tokens',
  'sign_in_failures',
];

const functionNames = [
  'search_files(text)',
  'search_groups(text)',
  'search_invites(text)',
  'search_notes(text)',
  'search_organizations(text)',
  'search_tags(text)',
  'search_tasks(text)',
  'search_users(text)',
  'authorization_state(text)',
  'kinds_of_records(text[])',
  'maintain_partitions(timestamptz, interval, interval)',
  'organization_chain(text)',
  'raise_revisions(text[])',
  'records_holding(text, text, text)',
  'request_context(text, text, text)',
  'search_pattern(text)',
  'tenant_words(text, text[])',
  'write_records(jsonb)',
];

const rolesAndExtension = [
  `do $$
  declare name text;
  begin
    foreach name in array array['core_app', 'core_system'] loop
      begin
        execute format('create role %I nologin', name);
      exception when duplicate_object or unique_violation then null; -- created by another database of this server
      end;
      execute format('grant %I to %I', name, current_user);
    end loop;
  end $$`,
  'create extension if not exists pg_trgm',
  'grant usage on schema public to core_app, core_system',
];

const tables = [
  `create table history (
    id text not null,
    recorded_at timestamptz not null,
    entity_kind text not null,
    entity_id text not null,
    organization_id text,
    operation text not null check (operation in ('created', 'updated', 'deleted')),
    record_version integer not null,
    changed_fields text[] not null,
    snapshot jsonb not null,
    actor text not null,
    request_id text not null,
    primary key (recorded_at, id)
  ) partition by range (recorded_at)`,
  'create index history_record on history (entity_kind, entity_id, recorded_at)',
  'create index history_organization on history (organization_id, recorded_at)',
  'create index history_request on history (request_id)',
  'create table history_default partition of history default',

  `create table events (
    id text not null,
    occurred_at timestamptz not null,
    topic text not null,
    entity_kind text not null,
    entity_id text not null,
    record_version integer not null,
    organization_id text,
    actor text not null,
    request_id text not null,
    traceparent text,
    payload jsonb not null,
    pending boolean not null,
    batch_id text,
    claimed_at timestamptz,
    settled_at timestamptz,
    primary key (occurred_at, id)
  ) partition by range (occurred_at)`,
  'create index events_unclaimed on events (occurred_at, id) where pending and batch_id is null',
  // Whose events wait, and the oldest of each: claims take turns between organizations (relay/outbox).
  `create index events_waiting on events (coalesce(organization_id, ''), occurred_at, id) where pending and batch_id is null`,
  'create index events_unsettled on events (batch_id) where pending and batch_id is not null and settled_at is null',
  'create index events_batch on events (batch_id) where batch_id is not null',
  'create index events_record on events (entity_id, record_version, id) where pending and settled_at is null',
  'create index events_request on events (request_id)',
  'create table events_default partition of events default',

  `create table event_deliveries (
    occurred_at timestamptz not null,
    event_id text not null,
    listener text not null,
    entity_id text not null,
    state text not null check (state in ('done', 'failing', 'held', 'skipped')),
    error text,
    updated_at timestamptz not null,
    primary key (occurred_at, event_id, listener)
  ) partition by range (occurred_at)`,
  `create index event_deliveries_open on event_deliveries (entity_id, listener) where state in ('failing', 'held')`,
  'create table event_deliveries_default partition of event_deliveries default',

  `create table desired_tuples (
    object text not null,
    relation text not null,
    subject text not null,
    organization_id text,
    present boolean not null,
    version bigint not null default 1,
    applied_version bigint not null default 0,
    confirm_at timestamptz,
    -- Whether decisions about existing records depend on it: while it is being applied, cached decisions are not used.
    raises boolean not null default true,
    primary key (object, relation, subject)
  )`,
  'create index desired_tuples_unapplied on desired_tuples (object, relation, subject) where applied_version < version',
  'create index desired_tuples_subject on desired_tuples (subject, object) where present',
  `create index desired_tuples_waiting on desired_tuples (coalesce(organization_id, 'system')) where applied_version < version`,
  'create index desired_tuples_unconfirmed on desired_tuples (confirm_at) where confirm_at is not null',

  // One row per organization, and `system` for what belongs to none. Raised when decisions about existing records change.
  `create table authorization_revisions (
    scope text primary key,
    revision bigint not null
  )`,

  // Finds the kind of a record by its id alone. `organization_id` is null for kinds that are visible in several organizations.
  `create table record_kinds (
    id text primary key,
    kind text not null,
    organization_id text
  )`,

  `create table revoked_tokens (
    token_id text primary key,
    revoked_at timestamptz not null,
    expires_at timestamptz not null
  )`,
  `create table sign_in_failures (
    key text primary key,
    failures integer not null,
    first_failed_at timestamptz not null,
    last_failed_at timestamptz not null
  )`,
];

const functions = [
  // Creates day partitions (UTC) in advance and drops old ones: events once none of their day is open, history by age. Waiting
  // for a lock on a partitioned table blocks everybody behind it, so a run gives up soon; the next run does the rest.
  `create function maintain_partitions(at timestamptz, keep_events interval, keep_history interval) returns void
    language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '500ms' as $$
  declare
    parent text; day date; child text; has_open boolean;
  begin
    delete from history_default where recorded_at < date_trunc('day', at - keep_history);
    delete from revoked_tokens where expires_at < at;
    delete from sign_in_failures where last_failed_at < at - interval '1 day';
    foreach parent in array array['events', 'event_deliveries', 'history'] loop
      for day in select generate_series(at::date, at::date + 3, interval '1 day')::date loop
        child := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));
        if to_regclass(child) is null then
          begin
            execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent, day, day + 1); execute format('revoke all on %I from core_app, core_system', child);
          exception
            when check_violation or duplicate_table then null; -- rows of that day lie in the default partition
            when lock_not_available then return;
          end;
        end if;
      end loop;
    end loop;
    for day in
      select distinct known.day from (
        select to_date(right(c.relname, 8), 'YYYYMMDD') as day
        from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
        where p.relname in ('events', 'event_deliveries') and c.relname ~ '_[0-9]{8}$'
        union select occurred_at::date from events_default
        union select occurred_at::date from event_deliveries_default) as known
      where known.day + 1 <= at - keep_events order by 1
    loop
      -- A day goes as a whole or stays as a whole: an event whose delivery is open is needed, and so are the rows that say
      -- which listeners have seen an event that is open.
      select exists (select 1 from events e where e.occurred_at >= day and e.occurred_at < day + 1
        and e.pending and e.settled_at is null)
        or exists (select 1 from event_deliveries d where d.occurred_at >= day and d.occurred_at < day + 1
        and d.state in ('failing', 'held')) into has_open;
      continue when has_open;
      begin
        delete from events_default where occurred_at >= day and occurred_at < day + 1;
        delete from event_deliveries_default where occurred_at >= day and occurred_at < day + 1;
        execute format('drop table if exists %I', format('events_%s', to_char(day, 'YYYYMMDD')));
        execute format('drop table if exists %I', format('event_deliveries_%s', to_char(day, 'YYYYMMDD')));
      exception when lock_not_available then return;
      end;
    end loop;
    for child in
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname = 'history' and c.relname ~ '_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= at - keep_history
    loop
      begin
        execute format('drop table %I', child);
      exception when lock_not_available then return;
      end;
    end loop;
  end $$`,
  // Expression of the indexes over word lists: a word is looked up within its organization (docs/decisions/indexes-below-row-level-security.md).
  `create function tenant_words(organization_id text, words text[]) returns text[]
    language sql immutable parallel safe as $$ select array_agg(organization_id || ' ' || word) from unnest(words) as word $$`,
  // Escapes the wildcards of ILIKE.
  `create function search_pattern(wanted text) returns text language sql immutable strict as $$
    select '%' || replace(replace(replace(wanted, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'
  $$`,
  // An organization and its parents; the chain ends below a deleted one.
  `create function organization_chain(wanted text) returns table (id text)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query with recursive chain as (
        select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted and o.deleted_at is null
        union all
        select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
        where o.deleted_at is null and chain.depth < 25
      ) select chain.id from chain;
  end $$`,
  // Runs once before each unit of work: state, role, groups, relations and product modules of the caller. Functions that run with
  // every request are plpgsql, because PostgreSQL plans the statements of functions in plain SQL anew at each call.
  `create function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text, group_ids text[], relations text[], modules text[])
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare
    chain_ids text[]; found_role text; found_groups text[] := '{}'; found_relations text[] := '{}'; found_modules text[] := '{}';
  begin
    chain_ids := array(with recursive chain as (
        select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted_organization and o.deleted_at is null
        union all
        select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
        where o.deleted_at is null and chain.depth < 25
      ) select chain.id from chain);
    select m.role into found_role from memberships m
      where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
      order by array_position(array['owner', 'super_admin', 'admin', 'member', 'auditor'], m.role) limit 1;
    if found_role is not null then
      found_groups := array(select g.group_id from group_memberships g
        where g.user_id = wanted_user and g.organization_id = wanted_organization and g.deleted_at is null order by g.group_id);
      found_relations := array(select distinct t.relation from desired_tuples t
        where t.present and t.object = 'organization:' || wanted_organization and t.relation <> all(array['owner', 'super_admin', 'admin', 'member', 'auditor'])
          and t.subject = any('user:' || wanted_user || array(select 'group:' || g || '#member' from unnest(found_groups) g))
        order by t.relation);
      found_modules := array(select distinct o.module from organization_modules o
        where o.organization_id = any(chain_ids) and o.deleted_at is null order by o.module);
    end if;
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      found_role, found_groups, found_relations, found_modules;
  end $$`,
  // What cached decisions depend on, as of this statement (entities/kit/access/authorization-state.ts).
  `create function authorization_state(wanted_organization text)
    returns table (organizations text[], revisions text, is_behind boolean, has_waiting boolean)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query with scopes as (
      select c.id as scope, true as is_organization from (with recursive chain as (
        select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted_organization and o.deleted_at is null
        union all
        select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
        where o.deleted_at is null and chain.depth < 25
      ) select chain.id from chain) c
      union all select 'system', false
    )
    select array_agg(s.scope) filter (where s.is_organization),
      string_agg(s.scope || '=' || coalesce(r.revision, 0), ' ' order by s.scope),
      coalesce(bool_or(w.raises), false),
      bool_or(w.raises is not null)
    from scopes s left join authorization_revisions r using (scope)
    left join lateral (
      select bool_or(t.raises) as raises from desired_tuples t
      where coalesce(t.organization_id, 'system') = s.scope and t.applied_version < t.version
    ) w on true;
  end $$`,
  // Sorted, so that transactions that raise several revisions cannot deadlock.
  `create function raise_revisions(scopes text[]) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    insert into authorization_revisions as held (scope, revision)
    select distinct given.scope, 1 from unnest(scopes) as given (scope) order by given.scope
    on conflict (scope) do update set revision = held.revision + 1;
  end $$`,
  // Runs below the row-level security policy, so it reads the organization from the same setting as the policy, and returns ids only.
  `create function records_holding(wanted_table text, wanted_column text, word text) returns setof text
    language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
      begin
        return query execute format(
          'select t.id from %I as t where tenant_words(t.organization_id, t.%I) @> array[$1] and t.deleted_at is null',
          wanted_table, wanted_column)
          using current_setting('core.organization_id', true) || ' ' || word;
      end $$`,
  // The kinds of records, in the order of their ids; null for records that belong to another organization than the caller's.
  `create function kinds_of_records(ids text[]) returns text[]
    language plpgsql stable security definer set search_path = public, pg_temp as $$
      begin
        return array(
          select r.kind from unnest(ids) with ordinality as given (id, position)
          left join record_kinds r on r.id = given.id
            and (r.organization_id is null or r.organization_id = current_setting('core.organization_id', true))
          order by given.position);
      end $$`,
  // Called with the history, events and tuples of one flush (entities/kit/write/change-log.ts). The foreign keys of the created rows
  // have locked their organization against deletion, or waited for its end, so what is read of it here stays true.
  `create function write_records(doc jsonb) returns void
    language plpgsql security definer set search_path = public, pg_temp as $$
    declare gone text;
        begin
          select o.id into gone from organizations o
          where o.id in (select jsonb_array_elements_text(doc -> 'created_in')) and o.deleted_at is not null limit 1;
          if gone is not null then
            raise exception 'There is no Organization "%".', gone using errcode = 'CR404';
          end if;
    insert into record_kinds (id, kind, organization_id)
    select c.id, c.kind, c.organization_id
    from jsonb_to_recordset(doc -> 'created') as c (id text, kind text, organization_id text);
    insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
      snapshot, actor, request_id)
    select h.id, h.at, h.entity_kind, h.entity_id, h.organization_id, h.operation, h.record_version, h.changed_fields,
      h.snapshot, h.actor, h.request_id
    from jsonb_to_recordset(doc -> 'history') as h (id text, at timestamptz, entity_kind text, entity_id text,
      organization_id text, operation text, record_version int, changed_fields text[], snapshot jsonb, actor text,
      request_id text);
    insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
      traceparent, payload, pending)
    select e.id, e.at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id,
      e.traceparent, e.payload, e.pending
    from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
      record_version int, organization_id text, actor text, request_id text, traceparent text, payload jsonb,
      pending boolean);
    insert into desired_tuples as held (object, relation, subject, organization_id, present, raises)
    select t.object, t.relation, t.subject, t.organization_id, t.present, t.raises
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean, raises boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id,
        raises = excluded.raises or (held.raises and held.applied_version < held.version);
    end
  $$`,
  `select maintain_partitions(now(), interval '1 day', interval '10 years')`,
];

const privileges = [
  `revoke all on function write_records(jsonb), request_context(text, text, text), organization_chain(text),
    authorization_state(text), kinds_of_records(text[]), raise_revisions(text[]), records_holding(text, text, text),
    maintain_partitions(timestamptz, interval, interval) from public`,
  `grant execute on function write_records(jsonb), request_context(text, text, text), authorization_state(text),
    kinds_of_records(text[]), raise_revisions(text[]), records_holding(text, text, text) to core_app, core_system`,
  'grant execute on function maintain_partitions(timestamptz, interval, interval) to core_system',
  `grant select, insert, update, delete on history, events, event_deliveries, desired_tuples, revoked_tokens, sign_in_failures
    to core_system`,
  'grant select on history to core_app',
  'grant select on authorization_revisions, record_kinds to core_system',
  // Tables of the kinds: rows are never deleted, only marked.
  'alter default privileges in schema public grant select, insert, update on tables to core_app, core_system',
];

/** As `npm run migrate:new` writes them for all kinds. */
const kinds = [
  'create table "organizations" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "name" text not null, "display_name" text null, "description" text null, "parent_id" text null, "is_personal" boolean not null, primary key ("id"))',
  `comment on table "organizations" is 'Tenant: all data of a customer belongs to one organization.'`,
  `comment on column "organizations"."name" is 'Unique name.'`,
  `comment on column "organizations"."display_name" is 'Display name; falls back to the name when empty.'`,
  `comment on column "organizations"."description" is 'Description of the organization.'`,
  `comment on column "organizations"."parent_id" is 'Parent organization; its roles also apply in this organization.'`,
  `comment on column "organizations"."is_personal" is 'Whether the organization was created at sign-up for one user.'`,
  'create index "organizations_parent_id_index" on "organizations" ("parent_id")',
  `create index "organizations_search_index" on "organizations" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  'create unique index "organizations_name_key" on "organizations" ("name") where deleted_at is null',

  'create table "invites" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "recipient" text not null, "role" text not null, "status" text not null, "send_attempts" integer not null, "expires_at" timestamptz null, primary key ("id"))',
  `comment on table "invites" is 'Invitation to join an organization.'`,
  `comment on column "invites"."recipient" is 'E-mail address of the invited person.'`,
  `comment on column "invites"."role" is 'Role granted on acceptance.'`,
  `comment on column "invites"."status" is 'Status of the invitation.'`,
  `comment on column "invites"."send_attempts" is 'Number of e-mails sent.'`,
  `comment on column "invites"."expires_at" is 'When the invitation expires.'`,
  'create index "invites_organization_id_id_index" on "invites" ("organization_id", "id") where deleted_at is null',
  'create index "invites_organization_id_role_id_index" on "invites" ("organization_id", "role", "id") where deleted_at is null',
  'create index "invites_organization_id_status_id_index" on "invites" ("organization_id", "status", "id") where deleted_at is null',
  'create index "invites_organization_id_expires_at_id_index" on "invites" ("organization_id", "expires_at", "id") where deleted_at is null',
  'create index "invites_organization_id_created_at_id_index" on "invites" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "invites_organization_id_updated_at_id_index" on "invites" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "invites_search_index" on "invites" using gin ((coalesce(recipient, '')) gin_trgm_ops) where deleted_at is null`,
  'create unique index "invites_organization_id_recipient_key" on "invites" ("organization_id", "recipient") where deleted_at is null',

  'create table "groups" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "name" text not null, "display_name" text null, "description" text null, primary key ("id"))',
  `comment on table "groups" is 'Group of users who receive permissions together.'`,
  `comment on column "groups"."display_id" is 'Human-readable identifier; unique within the organization and immutable.'`,
  `comment on column "groups"."name" is 'Name; unique within the organization.'`,
  `comment on column "groups"."display_name" is 'Display name; falls back to the name when empty.'`,
  `comment on column "groups"."description" is 'Purpose of the group.'`,
  'create index "groups_organization_id_id_index" on "groups" ("organization_id", "id") where deleted_at is null',
  'create index "groups_organization_id_created_at_id_index" on "groups" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "groups_organization_id_updated_at_id_index" on "groups" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "groups_search_index" on "groups" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  'create unique index "groups_organization_id_display_id_key" on "groups" ("organization_id", "display_id") where deleted_at is null',
  'create unique index "groups_organization_id_name_key" on "groups" ("organization_id", "name") where deleted_at is null',

  'create table "group_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "visibility" text not null, "join_policy" text not null, primary key ("id"))',
  `comment on table "group_settings" is 'Settings of a group.'`,
  `comment on column "group_settings"."group_id" is 'Group.'`,
  `comment on column "group_settings"."visibility" is 'Whether all members of the organization see the group (public) or only its own members (private).'`,
  `comment on column "group_settings"."join_policy" is 'How users join the group.'`,
  'create index "group_settings_group_id_index" on "group_settings" ("group_id")',
  'create index "group_settings_organization_id_id_index" on "group_settings" ("organization_id", "id") where deleted_at is null',
  'create index "group_settings_organization_id_group_id_id_index" on "group_settings" ("organization_id", "group_id", "id") where deleted_at is null',
  'create index "group_settings_organization_id_visibility_id_index" on "group_settings" ("organization_id", "visibility", "id") where deleted_at is null',
  'create index "group_settings_organization_id_created_at_id_index" on "group_settings" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "group_settings_organization_id_updated_at_id_index" on "group_settings" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "group_settings_group_id_key" on "group_settings" ("group_id") where deleted_at is null',

  'create table "creator_grants" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"))',
  `comment on table "creator_grants" is 'Right of a group to create records of one kind.'`,
  `comment on column "creator_grants"."group_id" is 'Group.'`,
  `comment on column "creator_grants"."relation" is 'Kind of record that members of the group may create.'`,
  'create index "creator_grants_group_id_index" on "creator_grants" ("group_id")',
  'create index "creator_grants_organization_id_id_index" on "creator_grants" ("organization_id", "id") where deleted_at is null',
  'create index "creator_grants_organization_id_group_id_id_index" on "creator_grants" ("organization_id", "group_id", "id") where deleted_at is null',
  'create index "creator_grants_organization_id_relation_id_index" on "creator_grants" ("organization_id", "relation", "id") where deleted_at is null',
  'create index "creator_grants_organization_id_created_at_id_index" on "creator_grants" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "creator_grants_organization_id_updated_at_id_index" on "creator_grants" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "creator_grants_group_id_relation_key" on "creator_grants" ("group_id", "relation") where deleted_at is null',

  'create table "organization_modules" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "module" text not null, primary key ("id"))',
  `comment on table "organization_modules" is 'Product module enabled for an organization and its child organizations.'`,
  `comment on column "organization_modules"."module" is 'Product module.'`,
  'create index "organization_modules_organization_id_id_index" on "organization_modules" ("organization_id", "id") where deleted_at is null',
  'create index "organization_modules_organization_id_created_at_id_index" on "organization_modules" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "organization_modules_organization_id_updated_at_id_index" on "organization_modules" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "organization_modules_organization_id_module_key" on "organization_modules" ("organization_id", "module") where deleted_at is null',

  'create table "organization_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "billing_email" text null, "timezone" text not null, primary key ("id"))',
  `comment on table "organization_settings" is 'Settings of an organization; created together with it.'`,
  `comment on column "organization_settings"."billing_email" is 'E-mail address for invoices; initially the address of the owner.'`,
  `comment on column "organization_settings"."timezone" is 'IANA time zone of the organization; determines where its days begin.'`,
  'create index "organization_settings_organization_id_id_index" on "organization_settings" ("organization_id", "id") where deleted_at is null',
  'create index "organization_settings_organization_id_created_at_id_index" on "organization_settings" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "organization_settings_organization_id_updated_at_id_index" on "organization_settings" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "organization_settings_organization_id_key" on "organization_settings" ("organization_id") where deleted_at is null',

  'create table "tags" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "aliases" text[] not null, "description" text null, "color" text not null, primary key ("id"))',
  `comment on table "tags" is 'Tag that an organization uses to classify records.'`,
  `comment on column "tags"."name" is 'Name of the tag.'`,
  `comment on column "tags"."aliases" is 'Alternative names.'`,
  `comment on column "tags"."description" is 'Meaning of the tag.'`,
  `comment on column "tags"."color" is 'Colour in the form #rrggbb.'`,
  'create index "tags_organization_id_id_index" on "tags" ("organization_id", "id") where deleted_at is null',
  'create index "tags_organization_id_created_at_id_index" on "tags" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "tags_organization_id_updated_at_id_index" on "tags" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "tags_search_index" on "tags" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
  'create index "tags_aliases_words" on "tags" using gin (tenant_words(organization_id, aliases)) where deleted_at is null',
  'create unique index "tags_organization_id_name_key" on "tags" ("organization_id", "name") where deleted_at is null',

  'create table "users" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "email" text not null, "first_name" text null, "last_name" text null, "display_name" text not null, "status" text not null, "email_confirmed_at" timestamptz null, "password_hash" text null, primary key ("id"))',
  `comment on table "users" is 'User account of a person.'`,
  `comment on column "users"."email" is 'E-mail address used to sign in; unique among users that are not deleted.'`,
  `comment on column "users"."first_name" is 'Given name.'`,
  `comment on column "users"."last_name" is 'Family name.'`,
  `comment on column "users"."display_name" is 'Name shown to other users.'`,
  `comment on column "users"."status" is 'Account status; only active users can sign in.'`,
  `comment on column "users"."email_confirmed_at" is 'When the e-mail address was verified; null until then.'`,
  `comment on column "users"."password_hash" is 'argon2id password hash in PHC format.'`,
  `create index "users_search_index" on "users" using gin ((coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  'create unique index "users_email_key" on "users" ("email") where deleted_at is null',

  'create table "tasks" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "title" text not null, "details" text null, "status" text not null, "priority" integer not null, "due_at" timestamptz null, "completed_at" timestamptz null, "tags" text[] not null, "assignee_id" text null, "assigner_id" text null, "parent_id" text null, primary key ("id"))',
  `comment on table "tasks" is 'Piece of work assigned to a user.'`,
  `comment on column "tasks"."display_id" is 'Human-readable identifier; unique within the organization and immutable.'`,
  `comment on column "tasks"."title" is 'Title in one line.'`,
  `comment on column "tasks"."details" is 'Full description.'`,
  `comment on column "tasks"."status" is 'Progress status.'`,
  `comment on column "tasks"."priority" is 'Priority; higher numbers are more important.'`,
  `comment on column "tasks"."due_at" is 'Due date.'`,
  `comment on column "tasks"."completed_at" is 'When the task was completed.'`,
  `comment on column "tasks"."tags" is 'Search tags.'`,
  `comment on column "tasks"."assignee_id" is 'Assignee: the user who does the task.'`,
  `comment on column "tasks"."assigner_id" is 'Assigner: the user who requested the task.'`,
  `comment on column "tasks"."parent_id" is 'Parent task.'`,
  'create index "tasks_assignee_id_index" on "tasks" ("assignee_id")',
  'create index "tasks_assigner_id_index" on "tasks" ("assigner_id")',
  'create index "tasks_parent_id_index" on "tasks" ("parent_id")',
  'create index "tasks_organization_id_id_index" on "tasks" ("organization_id", "id") where deleted_at is null',
  'create index "tasks_organization_id_title_id_index" on "tasks" ("organization_id", "title", "id") where deleted_at is null',
  'create index "tasks_organization_id_status_id_index" on "tasks" ("organization_id", "status", "id") where deleted_at is null',
  'create index "tasks_organization_id_priority_id_index" on "tasks" ("organization_id", "priority", "id") where deleted_at is null',
  'create index "tasks_organization_id_due_at_id_index" on "tasks" ("organization_id", "due_at", "id") where deleted_at is null',
  'create index "tasks_organization_id_assignee_id_id_index" on "tasks" ("organization_id", "assignee_id", "id") where deleted_at is null',
  'create index "tasks_organization_id_assigner_id_id_index" on "tasks" ("organization_id", "assigner_id", "id") where deleted_at is null',
  'create index "tasks_organization_id_parent_id_id_index" on "tasks" ("organization_id", "parent_id", "id") where deleted_at is null',
  'create index "tasks_organization_id_created_at_id_index" on "tasks" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "tasks_organization_id_updated_at_id_index" on "tasks" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "tasks_search_index" on "tasks" using gin ((coalesce(title, '') || ' ' || coalesce(details, '')) gin_trgm_ops) where deleted_at is null`,
  'create index "tasks_tags_words" on "tasks" using gin (tenant_words(organization_id, tags)) where deleted_at is null',
  'create unique index "tasks_organization_id_display_id_key" on "tasks" ("organization_id", "display_id") where deleted_at is null',

  'create table "task_shares" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "task_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"))',
  `comment on table "task_shares" is 'Access of a group to one task: granted or blocked.'`,
  `comment on column "task_shares"."task_id" is 'Task.'`,
  `comment on column "task_shares"."group_id" is 'Group.'`,
  `comment on column "task_shares"."relation" is 'Relation of the group to the record.'`,
  'create index "task_shares_task_id_index" on "task_shares" ("task_id")',
  'create index "task_shares_group_id_index" on "task_shares" ("group_id")',
  'create index "task_shares_organization_id_id_index" on "task_shares" ("organization_id", "id") where deleted_at is null',
  'create index "task_shares_organization_id_task_id_id_index" on "task_shares" ("organization_id", "task_id", "id") where deleted_at is null',
  'create index "task_shares_organization_id_group_id_id_index" on "task_shares" ("organization_id", "group_id", "id") where deleted_at is null',
  'create index "task_shares_organization_id_relation_id_index" on "task_shares" ("organization_id", "relation", "id") where deleted_at is null',
  'create index "task_shares_organization_id_created_at_id_index" on "task_shares" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "task_shares_organization_id_updated_at_id_index" on "task_shares" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "task_shares_task_id_group_id_relation_key" on "task_shares" ("task_id", "group_id", "relation") where deleted_at is null',

  'create table "notes" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "title" text null, "text" text not null, "is_edited" boolean not null, "owner_id" text null, "task_id" text null, primary key ("id"))',
  `comment on table "notes" is 'Comment on a record.'`,
  `comment on column "notes"."display_id" is 'Human-readable identifier; unique within the organization and immutable.'`,
  `comment on column "notes"."title" is 'Title.'`,
  `comment on column "notes"."text" is 'Text of the note.'`,
  `comment on column "notes"."is_edited" is 'Whether the note was edited after its creation.'`,
  `comment on column "notes"."owner_id" is 'Author.'`,
  `comment on column "notes"."task_id" is 'Task that the note comments on.'`,
  'create index "notes_owner_id_index" on "notes" ("owner_id")',
  'create index "notes_task_id_index" on "notes" ("task_id")',
  'create index "notes_organization_id_id_index" on "notes" ("organization_id", "id") where deleted_at is null',
  'create index "notes_organization_id_owner_id_id_index" on "notes" ("organization_id", "owner_id", "id") where deleted_at is null',
  'create index "notes_organization_id_task_id_id_index" on "notes" ("organization_id", "task_id", "id") where deleted_at is null',
  'create index "notes_organization_id_created_at_id_index" on "notes" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "notes_organization_id_updated_at_id_index" on "notes" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "notes_search_index" on "notes" using gin ((coalesce(title, '') || ' ' || coalesce(text, '')) gin_trgm_ops) where deleted_at is null`,
  'create unique index "notes_organization_id_display_id_key" on "notes" ("organization_id", "display_id") where deleted_at is null',

  'create table "memberships" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "user_id" text not null, "role" text not null, primary key ("id"))',
  `comment on table "memberships" is 'Membership of a user in an organization, with one role.'`,
  `comment on column "memberships"."user_id" is 'User.'`,
  `comment on column "memberships"."role" is 'Role of the user in the organization.'`,
  'create index "memberships_user_id_index" on "memberships" ("user_id")',
  'create index "memberships_organization_id_id_index" on "memberships" ("organization_id", "id") where deleted_at is null',
  'create index "memberships_organization_id_role_id_index" on "memberships" ("organization_id", "role", "id") where deleted_at is null',
  'create index "memberships_organization_id_created_at_id_index" on "memberships" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "memberships_organization_id_updated_at_id_index" on "memberships" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create index "memberships_created_at_id_index" on "memberships" ("created_at", "id") where deleted_at is null',
  'create index "memberships_updated_at_id_index" on "memberships" ("updated_at", "id") where deleted_at is null',
  'create unique index "memberships_organization_id_user_id_key" on "memberships" ("organization_id", "user_id") where deleted_at is null',

  'create table "group_memberships" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "user_id" text not null, "role" text not null, primary key ("id"))',
  `comment on table "group_memberships" is 'Membership of a user in a group.'`,
  `comment on column "group_memberships"."group_id" is 'Group.'`,
  `comment on column "group_memberships"."user_id" is 'User.'`,
  `comment on column "group_memberships"."role" is 'Role of the user in the group.'`,
  'create index "group_memberships_group_id_index" on "group_memberships" ("group_id")',
  'create index "group_memberships_user_id_index" on "group_memberships" ("user_id")',
  'create index "group_memberships_organization_id_id_index" on "group_memberships" ("organization_id", "id") where deleted_at is null',
  'create index "group_memberships_organization_id_group_id_id_index" on "group_memberships" ("organization_id", "group_id", "id") where deleted_at is null',
  'create index "group_memberships_organization_id_user_id_id_index" on "group_memberships" ("organization_id", "user_id", "id") where deleted_at is null',
  'create index "group_memberships_organization_id_role_id_index" on "group_memberships" ("organization_id", "role", "id") where deleted_at is null',
  'create index "group_memberships_organization_id_created_at_id_index" on "group_memberships" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "group_memberships_organization_id_updated_at_id_index" on "group_memberships" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "group_memberships_group_id_user_id_key" on "group_memberships" ("group_id", "user_id") where deleted_at is null',

  'create table "files" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "content_type" text not null, "size_bytes" bigint not null, "metadata" jsonb null, "owner_id" text null, "task_id" text null, primary key ("id"))',
  `comment on table "files" is 'Metadata of a file; its content is in object storage.'`,
  `comment on column "files"."name" is 'File name.'`,
  `comment on column "files"."content_type" is 'Media type (MIME type).'`,
  `comment on column "files"."size_bytes" is 'Size in bytes.'`,
  `comment on column "files"."metadata" is 'Metadata supplied by the uploader.'`,
  `comment on column "files"."owner_id" is 'Uploader.'`,
  `comment on column "files"."task_id" is 'Task that the file is attached to.'`,
  'create index "files_owner_id_index" on "files" ("owner_id")',
  'create index "files_task_id_index" on "files" ("task_id")',
  'create index "files_organization_id_id_index" on "files" ("organization_id", "id") where deleted_at is null',
  'create index "files_organization_id_name_id_index" on "files" ("organization_id", "name", "id") where deleted_at is null',
  'create index "files_organization_id_content_type_id_index" on "files" ("organization_id", "content_type", "id") where deleted_at is null',
  'create index "files_organization_id_size_bytes_id_index" on "files" ("organization_id", "size_bytes", "id") where deleted_at is null',
  'create index "files_organization_id_owner_id_id_index" on "files" ("organization_id", "owner_id", "id") where deleted_at is null',
  'create index "files_organization_id_task_id_id_index" on "files" ("organization_id", "task_id", "id") where deleted_at is null',
  'create index "files_organization_id_created_at_id_index" on "files" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "files_organization_id_updated_at_id_index" on "files" ("organization_id", "updated_at", "id") where deleted_at is null',
  `create index "files_search_index" on "files" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null`,

  'create table "file_shares" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "file_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"))',
  `comment on table "file_shares" is 'Access of a group to one file: granted or blocked.'`,
  `comment on column "file_shares"."file_id" is 'File.'`,
  `comment on column "file_shares"."group_id" is 'Group.'`,
  `comment on column "file_shares"."relation" is 'Relation of the group to the record.'`,
  'create index "file_shares_file_id_index" on "file_shares" ("file_id")',
  'create index "file_shares_group_id_index" on "file_shares" ("group_id")',
  'create index "file_shares_organization_id_id_index" on "file_shares" ("organization_id", "id") where deleted_at is null',
  'create index "file_shares_organization_id_file_id_id_index" on "file_shares" ("organization_id", "file_id", "id") where deleted_at is null',
  'create index "file_shares_organization_id_group_id_id_index" on "file_shares" ("organization_id", "group_id", "id") where deleted_at is null',
  'create index "file_shares_organization_id_relation_id_index" on "file_shares" ("organization_id", "relation", "id") where deleted_at is null',
  'create index "file_shares_organization_id_created_at_id_index" on "file_shares" ("organization_id", "created_at", "id") where deleted_at is null',
  'create index "file_shares_organization_id_updated_at_id_index" on "file_shares" ("organization_id", "updated_at", "id") where deleted_at is null',
  'create unique index "file_shares_file_id_group_id_relation_key" on "file_shares" ("file_id", "group_id", "relation") where deleted_at is null',

  'create table "email_verifications" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "email" text not null, "round" integer not null, "sent_at" timestamptz not null, "expires_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"))',
  `comment on table "email_verifications" is 'Request to verify that a user owns an e-mail address.'`,
  `comment on column "email_verifications"."email" is 'E-mail address to verify.'`,
  `comment on column "email_verifications"."round" is 'Number of the latest e-mail; links in earlier e-mails are invalid.'`,
  `comment on column "email_verifications"."sent_at" is 'When the latest e-mail was requested.'`,
  `comment on column "email_verifications"."expires_at" is 'When the link in the latest e-mail expires.'`,
  `comment on column "email_verifications"."used_at" is 'When the address was verified.'`,
  'create index "email_verifications_user_id_index" on "email_verifications" ("user_id")',
  'create unique index "email_verifications_user_id_key" on "email_verifications" ("user_id") where deleted_at is null',
  'alter table "organizations" add constraint "organizations_parent_id_foreign" foreign key ("parent_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "organizations" enable row level security',
  `create policy "organizations_app" on "organizations" to "core_app" using (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) with check (id = current_setting('core.organization_id', true))`,
  'create policy "organizations_system" on "organizations" to "core_system" using (true) with check (true)',

  'alter table "invites" add constraint "invites_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  `alter table "invites" add constraint "invites_role_check" check (role in ('admin', 'member', 'auditor'))`,
  `alter table "invites" add constraint "invites_status_check" check (status in ('sent', 'accepted', 'expired', 'withdrawn'))`,
  'alter table "invites" enable row level security',
  `create policy "invites_app" on "invites" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "invites_system" on "invites" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "groups" add constraint "groups_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "groups" enable row level security',
  `create policy "groups_app" on "groups" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "groups_system" on "groups" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "group_settings" add constraint "group_settings_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "group_settings" add constraint "group_settings_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict',
  `alter table "group_settings" add constraint "group_settings_visibility_check" check (visibility in ('public', 'private'))`,
  `alter table "group_settings" add constraint "group_settings_join_policy_check" check (join_policy in ('open', 'invite_only', 'application_only', 'invite_or_application'))`,
  'alter table "group_settings" enable row level security',
  `create policy "group_settings_app" on "group_settings" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "group_settings_system" on "group_settings" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "creator_grants" add constraint "creator_grants_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "creator_grants" add constraint "creator_grants_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict',
  `alter table "creator_grants" add constraint "creator_grants_relation_check" check (relation in ('group_creator', 'task_creator', 'file_creator'))`,
  'alter table "creator_grants" enable row level security',
  `create policy "creator_grants_app" on "creator_grants" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "creator_grants_system" on "creator_grants" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "organization_modules" add constraint "organization_modules_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  `alter table "organization_modules" add constraint "organization_modules_module_check" check (module in ('compliance', 'entity_management', 'policy_management', 'registry', 'risk_management', 'trust_center', 'vulnerability_management'))`,
  'alter table "organization_modules" enable row level security',
  `create policy "organization_modules_app" on "organization_modules" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "organization_modules_system" on "organization_modules" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "organization_settings" add constraint "organization_settings_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "organization_settings" enable row level security',
  `create policy "organization_settings_app" on "organization_settings" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "organization_settings_system" on "organization_settings" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "tags" add constraint "tags_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "tags" enable row level security',
  `create policy "tags_app" on "tags" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "tags_system" on "tags" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,
  `alter table "users" add constraint "users_status_check" check (status in ('active', 'inactive', 'deactivated', 'suspended'))`,
  'alter table "users" enable row level security',
  `create policy "users_app" on "users" to "core_app" using (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) with check (id = current_setting('core.user_id', true))`,
  'create policy "users_system" on "users" to "core_system" using (true) with check (true)',

  'alter table "tasks" add constraint "tasks_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "tasks" add constraint "tasks_assignee_id_foreign" foreign key ("assignee_id") references "users" ("id") on update no action on delete restrict',
  'alter table "tasks" add constraint "tasks_assigner_id_foreign" foreign key ("assigner_id") references "users" ("id") on update no action on delete restrict',
  'alter table "tasks" add constraint "tasks_parent_id_foreign" foreign key ("parent_id") references "tasks" ("id") on update no action on delete restrict',
  `alter table "tasks" add constraint "tasks_status_check" check (status in ('open', 'in_progress', 'in_review', 'completed', 'wont_do'))`,
  'alter table "tasks" enable row level security',
  `create policy "tasks_app" on "tasks" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "tasks_system" on "tasks" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "task_shares" add constraint "task_shares_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "task_shares" add constraint "task_shares_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict',
  'alter table "task_shares" add constraint "task_shares_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict',
  `alter table "task_shares" add constraint "task_shares_relation_check" check (relation in ('viewer', 'editor', 'blocked'))`,
  'alter table "task_shares" enable row level security',
  `create policy "task_shares_app" on "task_shares" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "task_shares_system" on "task_shares" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "notes" add constraint "notes_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "notes" add constraint "notes_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict',
  'alter table "notes" add constraint "notes_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict',
  'alter table "notes" enable row level security',
  `create policy "notes_app" on "notes" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "notes_system" on "notes" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "memberships" add constraint "memberships_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "memberships" add constraint "memberships_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict',
  `alter table "memberships" add constraint "memberships_role_check" check (role in ('owner', 'super_admin', 'admin', 'member', 'auditor'))`,
  'alter table "memberships" enable row level security',
  `create policy "memberships_app" on "memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "memberships_system" on "memberships" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "group_memberships" add constraint "group_memberships_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "group_memberships" add constraint "group_memberships_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict',
  'alter table "group_memberships" add constraint "group_memberships_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict',
  `alter table "group_memberships" add constraint "group_memberships_role_check" check (role in ('admin', 'member'))`,
  'alter table "group_memberships" enable row level security',
  `create policy "group_memberships_app" on "group_memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "group_memberships_system" on "group_memberships" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "files" add constraint "files_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "files" add constraint "files_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict',
  'alter table "files" add constraint "files_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict',
  'alter table "files" enable row level security',
  `create policy "files_app" on "files" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "files_system" on "files" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,

  'alter table "file_shares" add constraint "file_shares_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict',
  'alter table "file_shares" add constraint "file_shares_file_id_foreign" foreign key ("file_id") references "files" ("id") on update no action on delete restrict',
  'alter table "file_shares" add constraint "file_shares_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict',
  `alter table "file_shares" add constraint "file_shares_relation_check" check (relation in ('viewer', 'editor', 'blocked'))`,
  'alter table "file_shares" enable row level security',
  `create policy "file_shares_app" on "file_shares" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true))`,
  `create policy "file_shares_system" on "file_shares" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true))`,
  'alter table "email_verifications" add constraint "email_verifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict',
  'alter table "email_verifications" enable row level security',
  `create policy "email_verifications_app" on "email_verifications" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true))`,
  'create policy "email_verifications_system" on "email_verifications" to "core_system" using (true) with check (true)',

  `create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(display_name, '')) ilike search_pattern(wanted) and (display_name ilike search_pattern(wanted))
    union
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  'revoke all on function search_users(text) from public',
  'grant execute on function search_users(text) to core_app, core_system',

  `create or replace function search_invites(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(recipient, '')) ilike search_pattern(wanted) and (recipient ilike search_pattern(wanted))
    union
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  'revoke all on function search_invites(text) from public',
  'grant execute on function search_invites(text) to core_app, core_system',

  `create or replace function search_organizations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  'revoke all on function search_organizations(text) from public',
  'grant execute on function search_organizations(text) to core_app, core_system',

  `create or replace function search_groups(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  'revoke all on function search_groups(text) from public',
  'grant execute on function search_groups(text) to core_app, core_system',

  `create or replace function search_notes(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or text ilike search_pattern(wanted))
    union
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  'revoke all on function search_notes(text) from public',
  'grant execute on function search_notes(text) to core_app, core_system',

  `create or replace function search_tags(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  'revoke all on function search_tags(text) from public',
  'grant execute on function search_tags(text) to core_app, core_system',

  `create or replace function search_tasks(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or details ilike search_pattern(wanted))
    union
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  'revoke all on function search_tasks(text) from public',
  'grant execute on function search_tasks(text) to core_app, core_system',

  `create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  'revoke all on function search_files(text) from public',
  'grant execute on function search_files(text) to core_app, core_system',
];

/** Callers read the history of records they may see. Only the owner may access partitions by their own names. */
const historyPolicies = [
  'alter table history enable row level security',
  `create policy history_app on history for select to core_app using (
    organization_id = current_setting('core.organization_id', true)
    or (entity_kind = 'user' and entity_id = current_setting('core.user_id', true))
    or (entity_kind = 'organization' and exists (select 1 from memberships m where m.organization_id = entity_id
      and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)))`,
  'create policy history_system on history to core_system using (true) with check (true)',
];
