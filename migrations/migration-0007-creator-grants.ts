import { Migration } from '@mikro-orm/migrations';

export class Migration0007CreatorGrants extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "creator_grants" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "relation" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "creator_grants" is 'A group may create records of a kind.';`);
    this.addSql(`comment on column "creator_grants"."group_id" is 'The group.';`);
    this.addSql(`comment on column "creator_grants"."relation" is 'Which records its people may create.';`);
    this.addSql(`create index "creator_grants_group_id_index" on "creator_grants" ("group_id");`);
    this.addSql(
      `create index "creator_grants_organization_id_group_id_id_index" on "creator_grants" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "creator_grants_organization_id_relation_id_index" on "creator_grants" ("organization_id", "relation", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "creator_grants_organization_id_created_at_id_index" on "creator_grants" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "creator_grants_organization_id_updated_at_id_index" on "creator_grants" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "creator_grants_group_id_relation_key" on "creator_grants" ("group_id", "relation") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "creator_grants" add constraint "creator_grants_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "creator_grants" add constraint "creator_grants_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "creator_grants" add constraint "creator_grants_relation_check" check (relation in ('group_creator', 'task_creator', 'file_creator'));`,
    );
    this.addSql(`alter table "creator_grants" enable row level security;`);
    this.addSql(
      `create policy "creator_grants_app" on "creator_grants" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "creator_grants_system" on "creator_grants" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "creator_grants" cascade;`);
  }
}
