import { Migration } from '@mikro-orm/migrations';

/**
 * Whom a delegation stands for, and whether both sides still have the rights for it (entities/kit/access/principal-state.ts). Support
 * needs the consent under which it began. A manager needs the session from which it began, with all that sessions need in the
 * organization, and a role above that of the member.
 */
const delegationContext = [
  `create function delegation_context(wanted_id text)
    returns table (is_signed_in boolean, is_active boolean, role text, group_ids text[], relations text[], modules text[],
      type text, actor_id text, actor_name text, subject_id text, organization_id text, expires_at timestamptz)
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  #variable_conflict use_column
  declare
    held delegations%rowtype; consent_end timestamptz; lowest int;
    -- As rankOf (entities/kit/model/caller.ts): member and auditor are equal. test/api/acting-as-somebody-else.test.ts compares all pairs.
    ladder text[] := array['owner', 'super_admin', 'admin', 'member', 'auditor'];
  begin
    lowest := array_position(ladder, 'member');
    select * into held from delegations d where d.id = wanted_id and d.ended_at is null and d.deleted_at is null;
    if held.id is null then
      return query select false, false, null::text, '{}'::text[], '{}'::text[], '{}'::text[],
        null::text, null::text, null::text, null::text, null::text, null::timestamptz;
    elsif held.type = 'support' then
      select c.expires_at into consent_end from support_consents c
        where c.id = held.consent_id and c.organization_id = held.organization_id and c.deleted_at is null;
      return query select true,
        consent_end is not null and exists (select 1 from organizations o where o.id = held.organization_id and o.deleted_at is null),
        null::text, '{}'::text[], '{}'::text[],
        array(select distinct m.module from organization_modules m
          where m.organization_id in (select organization_chain(held.organization_id)) and m.deleted_at is null order by m.module),
        held.type, held.actor_id, held.actor_name, held.subject_id, held.organization_id, least(held.expires_at, consent_end);
    else
      return query select a.is_signed_in,
        coalesce(a.is_active and s.is_active and not lacks_second_factor(held.actor_id, held.organization_id)
          and array_position(ladder, a.role) < least(array_position(ladder, s.role), lowest) and s.role is not null, false),
        s.role, s.group_ids, s.relations, s.modules,
        held.type, held.actor_id, held.actor_name, held.subject_id, held.organization_id, held.expires_at
        from request_context(held.actor_id, held.session_id, held.organization_id) a,
          request_context(held.subject_id, '*', held.organization_id) s;
    end if;
  end $$`,
  'revoke all on function delegation_context(text) from public',
  'grant execute on function delegation_context(text) to core_app, core_system',
];

/** Support access and impersonation. */
export class Migration20261122194236Delegations extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "delegations" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "type" text not null, "reason" text not null, "actor_id" text not null, "actor_name" text not null, "actor_email" text not null, "subject_id" text not null, "session_id" text null, "consent_id" text null, "address" text not null, "expires_at" timestamptz not null, "ended_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "delegations" is 'Access of somebody who acts in the organization as somebody else, for at most an hour: of support, or of a manager as a member. Nobody deletes it; an access that has ended stays on record.';`,
    );
    this.addSql(
      `comment on column "delegations"."type" is 'Support access, or impersonation of a member by a manager.';`,
    );
    this.addSql(`comment on column "delegations"."reason" is 'Why it is needed, as stated by whoever acts.';`);
    this.addSql(
      `comment on column "delegations"."actor_id" is 'Id of the person who acts, or of the support identity.';`,
    );
    this.addSql(
      `comment on column "delegations"."actor_name" is 'Name of the person who acts, or of the support identity.';`,
    );
    this.addSql(
      `comment on column "delegations"."actor_email" is 'Address of the person who acts; for support, the one that completed the second factor.';`,
    );
    this.addSql(
      `comment on column "delegations"."subject_id" is 'Id of the member as whom the person acts; for support, the support identity.';`,
    );
    this.addSql(
      `comment on column "delegations"."session_id" is 'Id of the session from which it began, with which it ends; null for support.';`,
    );
    this.addSql(
      `comment on column "delegations"."consent_id" is 'Id of the consent of the organization, with which it ends; null for impersonation.';`,
    );
    this.addSql(`comment on column "delegations"."address" is 'Network address that the token was given to.';`);
    this.addSql(`comment on column "delegations"."expires_at" is 'When it ends unless it is ended before.';`);
    this.addSql(
      `comment on column "delegations"."ended_at" is 'When somebody ended it before; null for one that nobody has ended.';`,
    );
    this.addSql(
      `create index "delegations_organization_id_id_index" on "delegations" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "delegations_organization_id_type_id_index" on "delegations" ("organization_id", "type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "delegations_organization_id_subject_id_id_index" on "delegations" ("organization_id", "subject_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "delegations_organization_id_expires_at_id_index" on "delegations" ("organization_id", "expires_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "delegations_organization_id_created_at_id_index" on "delegations" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "delegations_organization_id_updated_at_id_index" on "delegations" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "support_consents" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "expires_at" timestamptz not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "support_consents" is 'Consent of an organization to support access. While it exists, support staff can sign in to the organization; deleting it ends their access at once.';`,
    );
    this.addSql(
      `comment on column "support_consents"."expires_at" is 'When the consent ends, and with it all access under it; at most 30 days after it is given.';`,
    );
    this.addSql(
      `create index "support_consents_organization_id_id_index" on "support_consents" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "support_consents_organization_id_created_at_id_index" on "support_consents" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "support_consents_organization_id_updated_at_id_index" on "support_consents" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "support_consents_organization_id_key" on "support_consents" ("organization_id") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "delegations" add constraint "delegations_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "delegations" add constraint "delegations_type_check" check (type in ('support', 'impersonation'));`,
    );
    this.addSql(`alter table "delegations" enable row level security;`);
    this.addSql(
      `create policy "delegations_app" on "delegations" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "delegations_system" on "delegations" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "support_consents" add constraint "support_consents_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "support_consents" enable row level security;`);
    this.addSql(
      `create policy "support_consents_app" on "support_consents" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "support_consents_system" on "support_consents" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
    for (const statement of delegationContext) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    this.addSql('drop function delegation_context(text)');
    this.addSql(`drop table if exists "delegations" cascade;`);
    this.addSql(`drop table if exists "support_consents" cascade;`);
  }
}
