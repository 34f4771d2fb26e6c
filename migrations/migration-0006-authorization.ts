import { Migration } from '@mikro-orm/migrations';

/**
 * What decisions need: revisions of scopes, which tuples are on their way in an organization, and what a caller's
 * organizations, groups and grants say, read in one statement.
 */
export class Migration0006Authorization extends Migration {
  override up(): void {
    for (const statement of [...tables, ...functions, ...privileges]) this.addSql(statement);
  }

  override down(): void {
    for (const name of [
      'authorization_state(text)',
      'raise_revisions(text[])',
      'request_context(text, text, text)',
      'organization_chain(text)',
    ])
      this.addSql(`drop function ${name}`);
    this.addSql('drop table authorization_revisions');
    this.addSql('drop index desired_tuples_subject');
    this.addSql('drop index desired_tuples_waiting');
    this.addSql('alter table desired_tuples drop column raises');
    for (const statement of formerFunctions) this.addSql(statement);
  }
}

const tables = [
  // One row per organization, and `system` for what belongs to none. Raised when decisions about existing records change.
  `create table authorization_revisions (
    scope text primary key,
    revision bigint not null
  )`,
  // Whether decisions about records that were there before change with it: then nobody uses remembered decisions meanwhile.
  'alter table desired_tuples add column raises boolean not null default true',
  'create index desired_tuples_subject on desired_tuples (subject, object) where present',
  `create index desired_tuples_waiting on desired_tuples (coalesce(organization_id, 'system')) where applied_version < version`,
];

const records = `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
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
      pending boolean);`;

const writeRecords = `create or replace function write_records(doc jsonb) returns void language sql security definer
    set search_path = public, pg_temp as $$
    ${records}
    insert into desired_tuples as held (object, relation, subject, organization_id, present, raises)
    select t.object, t.relation, t.subject, t.organization_id, t.present, t.raises
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean, raises boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id,
        raises = excluded.raises or (held.raises and held.applied_version < held.version);
  $$`;

/** From the most to the least powerful (entities/kit/model/caller.ts). */
const roleOrder = `array['owner', 'super_admin', 'admin', 'member', 'auditor']`;

export const chainFunction = `create function organization_chain(wanted text) returns table (id text)
    language sql stable security definer set search_path = public, pg_temp as $$
    with recursive chain as (
      select o.id, o.parent_id, 1 as depth from organizations o where o.id = wanted and o.deleted_at is null
      union all
      select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
      where o.deleted_at is null and chain.depth < 25
    ) select chain.id from chain
  $$`;

export const contextFunction = `create function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text, group_ids text[], relations text[])
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare
    found_role text; found_groups text[] := '{}'; found_relations text[] := '{}';
  begin
    select m.role into found_role from memberships m
      where m.user_id = wanted_user and m.deleted_at is null
        and m.organization_id in (select c.id from organization_chain(wanted_organization) c)
      order by array_position(${roleOrder}, m.role) limit 1;
    if found_role is not null then
      select coalesce(array_agg(g.group_id order by g.group_id), '{}') into found_groups from group_memberships g
        where g.user_id = wanted_user and g.organization_id = wanted_organization and g.deleted_at is null;
      select coalesce(array_agg(distinct t.relation), '{}') into found_relations from desired_tuples t
        where t.present and t.object = 'organization:' || wanted_organization and t.relation <> all(${roleOrder})
          and t.subject in (select 'user:' || wanted_user union all select 'group:' || g || '#member' from unnest(found_groups) g);
    end if;
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      found_role, found_groups, found_relations;
  end $$`;

export const stateFunction = `create function authorization_state(wanted_organization text)
    returns table (organizations text[], revisions text, is_behind boolean, has_waiting boolean)
    language sql stable security definer set search_path = public, pg_temp as $$
    with scopes as (
      select c.id as scope, true as is_organization from organization_chain(wanted_organization) c
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
    ) w on true
  $$`;

export const raisingFunction = `create function raise_revisions(scopes text[]) returns void language sql security definer
    set search_path = public, pg_temp as $$
    insert into authorization_revisions as held (scope, revision)
    select distinct given.scope, 1 from unnest(scopes) as given (scope) order by given.scope
    on conflict (scope) do update set revision = held.revision + 1
  $$`;

const functions = [
  writeRecords,
  // An organization and those it is part of; none of it when one of them is deleted.
  chainFunction,
  'drop function request_context(text, text, text)',
  // The one statement before a unit of work: who is this, still, in which role, in which groups (design, Life of a request).
  contextFunction,
  // What remembered decisions depend on, as of this statement (entities/kit/access/authorization-state.ts).
  stateFunction,
  // Sorted, so that transactions that raise several never wait for each other in a circle.
  raisingFunction,
];

const privileges = [
  'revoke all on function organization_chain(text), request_context(text, text, text), authorization_state(text), raise_revisions(text[]) from public',
  'grant execute on function request_context(text, text, text), authorization_state(text), raise_revisions(text[]) to core_app, core_system',
  'revoke all on authorization_revisions from core_app, core_system',
  'grant select on authorization_revisions to core_system',
];

/** As the foundation made them. */
const formerFunctions = [
  `create or replace function write_records(doc jsonb) returns void language sql security definer
    set search_path = public, pg_temp as $$
    ${records}
    insert into desired_tuples as held (object, relation, subject, organization_id, present)
    select t.object, t.relation, t.subject, t.organization_id, t.present
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id;
  $$`,
  `create function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      (select m.role from memberships m join organizations o on o.id = m.organization_id and o.deleted_at is null
        where m.user_id = wanted_user and m.organization_id = wanted_organization and m.deleted_at is null);
  end $$`,
  'revoke all on function request_context(text, text, text) from public',
  'grant execute on function request_context(text, text, text) to core_app, core_system',
];
