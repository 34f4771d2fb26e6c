import { Migration } from '@mikro-orm/migrations';
import { chainFunction, contextFunction, raisingFunction, stateFunction } from './migration-0006-authorization.ts';

/**
 * Functions that run with every request keep the plans of their statements: PostgreSQL plans those of functions in plain SQL
 * anew at each call, and that was most of what a request asked of it.
 */
export class Migration0014KeptPlans extends Migration {
  override up(): void {
    for (const statement of kept) this.addSql(statement);
  }

  override down(): void {
    for (const statement of [chainFunction, contextFunction, stateFunction, raisingFunction])
      this.addSql(statement.replace(/^create function/, 'create or replace function'));
  }
}

export const header = 'security definer set search_path = public, pg_temp';

/** An organization and those it is part of, whose end at the top is not known. */
export const chain = (wanted: string) => `with recursive chain as (
        select o.id, o.parent_id, 1 as depth from organizations o where o.id = ${wanted} and o.deleted_at is null
        union all
        select o.id, o.parent_id, chain.depth + 1 from organizations o join chain on o.id = chain.parent_id
        where o.deleted_at is null and chain.depth < 25
      ) select chain.id from chain`;

/** From the most to the least powerful (entities/kit/model/caller.ts). */
export const roleOrder = `array['owner', 'super_admin', 'admin', 'member', 'auditor']`;

export const contextKept = `create or replace function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text, group_ids text[], relations text[])
    language plpgsql stable ${header} as $$
  declare
    found_role text; found_groups text[] := '{}'; found_relations text[] := '{}';
  begin
    select m.role into found_role from memberships m
      where m.user_id = wanted_user and m.deleted_at is null and m.organization_id in (${chain('wanted_organization')})
      order by array_position(${roleOrder}, m.role) limit 1;
    if found_role is not null then
      found_groups := array(select g.group_id from group_memberships g
        where g.user_id = wanted_user and g.organization_id = wanted_organization and g.deleted_at is null order by g.group_id);
      found_relations := array(select distinct t.relation from desired_tuples t
        where t.present and t.object = 'organization:' || wanted_organization and t.relation <> all(${roleOrder})
          and t.subject = any('user:' || wanted_user || array(select 'group:' || g || '#member' from unnest(found_groups) g))
        order by t.relation);
    end if;
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      found_role, found_groups, found_relations;
  end $$`;
const kept = [
  `create or replace function organization_chain(wanted text) returns table (id text) language plpgsql stable ${header} as $$
  begin
    return query ${chain('wanted')};
  end $$`,
  contextKept,
  `create or replace function authorization_state(wanted_organization text)
    returns table (organizations text[], revisions text, is_behind boolean, has_waiting boolean)
    language plpgsql stable ${header} as $$
  begin
    return query with scopes as (
      select c.id as scope, true as is_organization from (${chain('wanted_organization')}) c
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
  `create or replace function raise_revisions(scopes text[]) returns void language plpgsql ${header} as $$
  begin
    insert into authorization_revisions as held (scope, revision)
    select distinct given.scope, 1 from unnest(scopes) as given (scope) order by given.scope
    on conflict (scope) do update set revision = held.revision + 1;
  end $$`,
];
