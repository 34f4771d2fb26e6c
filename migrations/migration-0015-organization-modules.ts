import { Migration } from '@mikro-orm/migrations';
import { chain, contextKept, header, roleOrder } from './migration-0014-kept-plans.ts';

export class Migration0015OrganizationModules extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "organization_modules" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "module" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_modules" is 'An organization, and those that are part of it, may use a product module.';`,
    );
    this.addSql(`comment on column "organization_modules"."module" is 'The product module.';`);
    this.addSql(
      `create index "organization_modules_organization_id_id_index" on "organization_modules" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_modules_organization_id_created_at_id_index" on "organization_modules" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_modules_organization_id_updated_at_id_index" on "organization_modules" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "organization_modules_organization_id_module_key" on "organization_modules" ("organization_id", "module") where deleted_at is null;`,
    );

    this.addSql(`drop index "groups_organization_id_is_managed_id_index";`);
    this.addSql(`alter table "groups" drop column "is_managed";`);

    this.addSql(
      `alter table "organization_modules" add constraint "organization_modules_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "organization_modules" add constraint "organization_modules_module_check" check (module in ('compliance', 'entity_management', 'policy_management', 'registry', 'risk_management', 'trust_center', 'vulnerability_management'));`,
    );
    this.addSql(`alter table "organization_modules" enable row level security;`);
    this.addSql(
      `create policy "organization_modules_app" on "organization_modules" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_modules_system" on "organization_modules" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
    for (const statement of contextInstead(contextFunction)) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    for (const statement of contextInstead(contextKept)) this.addSql(statement);
    this.addSql(`drop table if exists "organization_modules" cascade;`);

    this.addSql(`alter table "groups" add "is_managed" boolean not null default false;`);
    this.addSql(`alter table "groups" alter column "is_managed" drop default;`);
    this.addSql(`comment on column "groups"."is_managed" is 'Kept by the server; people do not change it.';`);
    this.addSql(
      `create index "groups_organization_id_is_managed_id_index" on "groups" ("organization_id", "is_managed", "id") where deleted_at is null;`,
    );
  }
}

const signature = 'request_context(text, text, text)';

/** What a function answers with can be changed by making it anew only. */
function contextInstead(definition: string): string[] {
  return [
    `drop function ${signature}`,
    definition,
    `revoke all on function ${signature} from public`,
    `grant execute on function ${signature} to core_app, core_system`,
  ];
}

/** As it was, and the product modules of the organization and of those it is part of. */
const contextFunction = `create function request_context(wanted_user text, wanted_token text, wanted_organization text)
    returns table (is_active boolean, is_revoked boolean, role text, group_ids text[], relations text[], modules text[])
    language plpgsql stable ${header} as $$
  declare
    chain_ids text[]; found_role text; found_groups text[] := '{}'; found_relations text[] := '{}'; found_modules text[] := '{}';
  begin
    chain_ids := array(${chain('wanted_organization')});
    select m.role into found_role from memberships m
      where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
      order by array_position(${roleOrder}, m.role) limit 1;
    if found_role is not null then
      found_groups := array(select g.group_id from group_memberships g
        where g.user_id = wanted_user and g.organization_id = wanted_organization and g.deleted_at is null order by g.group_id);
      found_relations := array(select distinct t.relation from desired_tuples t
        where t.present and t.object = 'organization:' || wanted_organization and t.relation <> all(${roleOrder})
          and t.subject = any('user:' || wanted_user || array(select 'group:' || g || '#member' from unnest(found_groups) g))
        order by t.relation);
      found_modules := array(select distinct o.module from organization_modules o
        where o.organization_id = any(chain_ids) and o.deleted_at is null order by o.module);
    end if;
    return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      found_role, found_groups, found_relations, found_modules;
  end $$`;
