import { Migration } from '@mikro-orm/migrations';

export class Migration0002Kinds extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "organizations" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "name" text not null, "display_name" text null, "description" text null, "is_personal" boolean not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organizations" is 'A tenant: everything a customer owns belongs to one organization.';`,
    );
    this.addSql(`comment on column "organizations"."name" is 'Unique name.';`);
    this.addSql(`comment on column "organizations"."display_name" is 'Name shown to people; the name when empty.';`);
    this.addSql(`comment on column "organizations"."description" is 'What the organization does.';`);
    this.addSql(`comment on column "organizations"."is_personal" is 'Made at sign-up for one person.';`);
    this.addSql(`create unique index "organizations_name_key" on "organizations" ("name") where deleted_at is null;`);

    this.addSql(
      `create table "organization_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "billing_email" text null, "timezone" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_settings" is 'Settings of one organization; made when the organization is.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."billing_email" is 'Where invoices go; the address of the owner at first.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."timezone" is 'IANA time zone in which days of the organization begin.';`,
    );
    this.addSql(
      `create index "organization_settings_organization_id_index" on "organization_settings" ("organization_id");`,
    );
    this.addSql(
      `create unique index "organization_settings_organization_id_key" on "organization_settings" ("organization_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "users" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "email" text not null, "first_name" text null, "last_name" text null, "display_name" text not null, "status" text not null, "email_confirmed_at" timestamptz null, "password_hash" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "users" is 'A person who can sign in.';`);
    this.addSql(`comment on column "users"."email" is 'Address the person signs in with; unique among live users.';`);
    this.addSql(`comment on column "users"."first_name" is 'Given name.';`);
    this.addSql(`comment on column "users"."last_name" is 'Family name.';`);
    this.addSql(`comment on column "users"."display_name" is 'Name shown to others.';`);
    this.addSql(`comment on column "users"."status" is 'Whether the person may sign in.';`);
    this.addSql(
      `comment on column "users"."email_confirmed_at" is 'When the address was confirmed; empty before that.';`,
    );
    this.addSql(`comment on column "users"."password_hash" is 'argon2id hash in PHC form.';`);
    this.addSql(`create unique index "users_email_key" on "users" ("email") where deleted_at is null;`);

    this.addSql(
      `create table "memberships" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "user_id" text not null, "role" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "memberships" is 'A person belongs to an organization, in one role.';`);
    this.addSql(`comment on column "memberships"."user_id" is 'The person.';`);
    this.addSql(`comment on column "memberships"."role" is 'What the person may do in the organization.';`);
    this.addSql(`create index "memberships_organization_id_index" on "memberships" ("organization_id");`);
    this.addSql(`create index "memberships_user_id_index" on "memberships" ("user_id");`);
    this.addSql(
      `create unique index "memberships_organization_id_user_id_key" on "memberships" ("organization_id", "user_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "email_verifications" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "email" text not null, "round" integer not null, "sent_at" timestamptz not null, "expires_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "email_verifications" is 'A request to confirm that an address belongs to the person who gave it.';`,
    );
    this.addSql(`comment on column "email_verifications"."email" is 'The address to confirm.';`);
    this.addSql(
      `comment on column "email_verifications"."round" is 'Raised by every new mail; only the newest mail works.';`,
    );
    this.addSql(`comment on column "email_verifications"."sent_at" is 'When the newest mail was asked for.';`);
    this.addSql(`comment on column "email_verifications"."expires_at" is 'When the newest mail stops working.';`);
    this.addSql(`comment on column "email_verifications"."used_at" is 'When the address was confirmed.';`);
    this.addSql(`create index "email_verifications_user_id_index" on "email_verifications" ("user_id");`);
    this.addSql(
      `create unique index "email_verifications_user_id_key" on "email_verifications" ("user_id") where deleted_at is null;`,
    );

    this.addSql(`alter table "organizations" enable row level security;`);
    this.addSql(
      `create policy "organizations_app" on "organizations" to "core_app" using (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) with check (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null));`,
    );
    this.addSql(
      `create policy "organizations_system" on "organizations" to "core_system" using (true) with check (true);`,
    );

    this.addSql(
      `alter table "organization_settings" add constraint "organization_settings_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "organization_settings" enable row level security;`);
    this.addSql(
      `create policy "organization_settings_app" on "organization_settings" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "organization_settings_system" on "organization_settings" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "users" add constraint "users_status_check" check (status in ('active', 'inactive', 'deactivated', 'suspended'));`,
    );
    this.addSql(`alter table "users" enable row level security;`);
    this.addSql(
      `create policy "users_app" on "users" to "core_app" using (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) with check (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null));`,
    );
    this.addSql(`create policy "users_system" on "users" to "core_system" using (true) with check (true);`);

    this.addSql(
      `alter table "memberships" add constraint "memberships_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "memberships" add constraint "memberships_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "memberships" add constraint "memberships_role_check" check (role in ('owner', 'super_admin', 'admin', 'member', 'auditor'));`,
    );
    this.addSql(`alter table "memberships" enable row level security;`);
    this.addSql(
      `create policy "memberships_app" on "memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true)) with check (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "memberships_system" on "memberships" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "email_verifications" add constraint "email_verifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "email_verifications" enable row level security;`);
    this.addSql(
      `create policy "email_verifications_app" on "email_verifications" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "email_verifications_system" on "email_verifications" to "core_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "organization_settings" drop constraint "organization_settings_organization_id_foreign";`);
    this.addSql(`alter table "memberships" drop constraint "memberships_organization_id_foreign";`);
    this.addSql(`alter table "memberships" drop constraint "memberships_user_id_foreign";`);
    this.addSql(`alter table "email_verifications" drop constraint "email_verifications_user_id_foreign";`);

    this.addSql(`drop table if exists "organizations" cascade;`);
    this.addSql(`drop table if exists "organization_settings" cascade;`);
    this.addSql(`drop table if exists "users" cascade;`);
    this.addSql(`drop table if exists "memberships" cascade;`);
    this.addSql(`drop table if exists "email_verifications" cascade;`);

    this
      .addSql(`create or replace function "maintain_partitions"("keep_events" interval, "keep_history" interval) returns void security definer volatile language plpgsql as \$\$ begin declare
    parent text; day date; child text; partition record; has_open boolean;   begin
    foreach parent in array array['events', 'event_deliveries', 'history'] loop
      for day in select generate_series(current_date, current_date + 3, interval '1 day')::date loop
        child := format('%s_%s', parent, to_char(day, 'YYYYMMDD'));         if to_regclass(child) is null then
          begin
            execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent, day, day + 1);           exception when check_violation or duplicate_table then null; -- rows of that day lie in the default partition
          end;         end if;       end loop;     end loop;     for partition in
      select c.relname as name, p.relname as parent, to_date(right(c.relname, 8), 'YYYYMMDD') as day
      from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname in ('events', 'event_deliveries', 'history') and c.relname ~ '_[0-9]{8}\$'
      order by p.relname, c.relname
    loop
      if partition.parent = 'history' then
        if partition.day + 1 < now() - keep_history then execute format('drop table %I', partition.name); end if;       elsif partition.day + 1 < now() - keep_events then
        select exists (select 1 from events e where e.occurred_at >= partition.day and e.occurred_at < partition.day + 1
          and e.pending and e.settled_at is null)
          or exists (select 1 from event_deliveries d where d.occurred_at >= partition.day
          and d.occurred_at < partition.day + 1 and d.state in ('failing', 'held')) into has_open;         if not has_open then execute format('drop table %I', partition.name); end if;       end if;     end loop;     delete from events_default where occurred_at < now() - keep_events and (not pending or settled_at is not null);     delete from event_deliveries_default where occurred_at < now() - keep_events and state in ('done', 'skipped');     delete from history_default where recorded_at < now() - keep_history;     delete from revoked_tokens where expires_at < now();     delete from sign_in_failures where last_failed_at < now() - interval '1 day';   end; end \$\$;`);

    this
      .addSql(`create or replace function "request_context"("wanted_user" text, "wanted_token" text, "wanted_organization" text) returns TABLE(is_active boolean, is_revoked boolean, role text) security definer language plpgsql as \$\$ begin return query select
      exists (select 1 from users u where u.id = wanted_user and u.status = 'active' and u.deleted_at is null),
      exists (select 1 from revoked_tokens r where r.token_id = wanted_token),
      (select m.role from memberships m join organizations o on o.id = m.organization_id and o.deleted_at is null
        where m.user_id = wanted_user and m.organization_id = wanted_organization and m.deleted_at is null); end \$\$;`);

    this
      .addSql(`create or replace function "write_records"("doc" jsonb) returns void security definer volatile language sql as \$\$ insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
      snapshot, actor, request_id)
    select h.id, h.at, h.entity_kind, h.entity_id, h.organization_id, h.operation, h.record_version, h.changed_fields,
      h.snapshot, h.actor, h.request_id
    from jsonb_to_recordset(doc -> 'history') as h (id text, at timestamptz, entity_kind text, entity_id text,
      organization_id text, operation text, record_version int, changed_fields text[], snapshot jsonb, actor text,
      request_id text);     insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id,
      traceparent, payload, pending)
    select e.id, e.at, e.topic, e.entity_kind, e.entity_id, e.record_version, e.organization_id, e.actor, e.request_id,
      e.traceparent, e.payload, e.pending
    from jsonb_to_recordset(doc -> 'events') as e (id text, at timestamptz, topic text, entity_kind text, entity_id text,
      record_version int, organization_id text, actor text, request_id text, traceparent text, payload jsonb,
      pending boolean);     insert into desired_tuples as held (object, relation, subject, organization_id, present)
    select t.object, t.relation, t.subject, t.organization_id, t.present
    from jsonb_to_recordset(doc -> 'tuples') as t (object text, relation text, subject text, organization_id text,
      present boolean)
    order by t.object, t.relation, t.subject
    on conflict (object, relation, subject) do update
      set present = excluded.present, version = held.version + 1, organization_id = excluded.organization_id; \$\$;`);
  }
}
