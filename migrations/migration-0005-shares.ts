import { Migration } from '@mikro-orm/migrations';

export class Migration0005Shares extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "task_shares" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "task_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "task_shares" is 'A task is shared with a group, or kept from it.';`);
    this.addSql(`comment on column "task_shares"."task_id" is 'The task.';`);
    this.addSql(`comment on column "task_shares"."group_id" is 'The group.';`);
    this.addSql(`comment on column "task_shares"."relation" is 'What the group is to it.';`);
    this.addSql(`create index "task_shares_task_id_index" on "task_shares" ("task_id");`);
    this.addSql(`create index "task_shares_group_id_index" on "task_shares" ("group_id");`);
    this.addSql(
      `create index "task_shares_organization_id_task_id_id_index" on "task_shares" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_shares_organization_id_group_id_id_index" on "task_shares" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_shares_organization_id_relation_id_index" on "task_shares" ("organization_id", "relation", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_shares_organization_id_created_at_id_index" on "task_shares" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_shares_organization_id_updated_at_id_index" on "task_shares" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "task_shares_task_id_group_id_relation_key" on "task_shares" ("task_id", "group_id", "relation") where deleted_at is null;`,
    );

    this.addSql(
      `create table "file_shares" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "file_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "file_shares" is 'A file is shared with a group, or kept from it.';`);
    this.addSql(`comment on column "file_shares"."file_id" is 'The file.';`);
    this.addSql(`comment on column "file_shares"."group_id" is 'The group.';`);
    this.addSql(`comment on column "file_shares"."relation" is 'What the group is to it.';`);
    this.addSql(`create index "file_shares_file_id_index" on "file_shares" ("file_id");`);
    this.addSql(`create index "file_shares_group_id_index" on "file_shares" ("group_id");`);
    this.addSql(
      `create index "file_shares_organization_id_file_id_id_index" on "file_shares" ("organization_id", "file_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_shares_organization_id_group_id_id_index" on "file_shares" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_shares_organization_id_relation_id_index" on "file_shares" ("organization_id", "relation", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_shares_organization_id_created_at_id_index" on "file_shares" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "file_shares_organization_id_updated_at_id_index" on "file_shares" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "file_shares_file_id_group_id_relation_key" on "file_shares" ("file_id", "group_id", "relation") where deleted_at is null;`,
    );

    this.addSql(`alter table "invites" drop constraint "invites_role_check";`);
    this.addSql(
      `alter table "invites" add constraint "invites_role_check" check (role in ('admin', 'member', 'auditor'));`,
    );

    this.addSql(
      `alter table "task_shares" add constraint "task_shares_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_shares" add constraint "task_shares_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_shares" add constraint "task_shares_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "task_shares" add constraint "task_shares_relation_check" check (relation in ('viewer', 'editor', 'blocked'));`,
    );
    this.addSql(`alter table "task_shares" enable row level security;`);
    this.addSql(
      `create policy "task_shares_app" on "task_shares" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "task_shares_system" on "task_shares" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "file_shares" add constraint "file_shares_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_shares" add constraint "file_shares_file_id_foreign" foreign key ("file_id") references "files" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_shares" add constraint "file_shares_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "file_shares" add constraint "file_shares_relation_check" check (relation in ('viewer', 'editor', 'blocked'));`,
    );
    this.addSql(`alter table "file_shares" enable row level security;`);
    this.addSql(
      `create policy "file_shares_app" on "file_shares" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "file_shares_system" on "file_shares" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "task_shares" cascade;`);
    this.addSql(`drop table if exists "file_shares" cascade;`);

    this.addSql(`alter table "invites" drop constraint "invites_role_check";`);
    this.addSql(
      `alter table "invites" add constraint "invites_role_check" check (role in ('super_admin', 'admin', 'member', 'auditor'));`,
    );
  }
}
