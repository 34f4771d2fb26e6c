import { Migration } from '@mikro-orm/migrations';

export class Migration0013ListIndexes extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create index "invites_organization_id_id_index" on "invites" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "groups_organization_id_id_index" on "groups" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "group_settings_organization_id_id_index" on "group_settings" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "creator_grants_organization_id_id_index" on "creator_grants" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "organization_settings_organization_id_id_index" on "organization_settings" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "tags_organization_id_id_index" on "tags" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tags_aliases_words" on "tags" using gin (tenant_words(organization_id, aliases)) where deleted_at is null;`,
    );

    this.addSql(
      `create index "tasks_organization_id_id_index" on "tasks" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_tags_words" on "tasks" using gin (tenant_words(organization_id, tags)) where deleted_at is null;`,
    );

    this.addSql(
      `create index "task_shares_organization_id_id_index" on "task_shares" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "notes_organization_id_id_index" on "notes" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "memberships_organization_id_id_index" on "memberships" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "memberships_created_at_id_index" on "memberships" ("created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "memberships_updated_at_id_index" on "memberships" ("updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "group_memberships_organization_id_id_index" on "group_memberships" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "files_organization_id_id_index" on "files" ("organization_id", "id") where deleted_at is null;`,
    );

    this.addSql(
      `create index "file_shares_organization_id_id_index" on "file_shares" ("organization_id", "id") where deleted_at is null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop index "creator_grants_organization_id_id_index";`);

    this.addSql(`drop index "file_shares_organization_id_id_index";`);

    this.addSql(`drop index "files_organization_id_id_index";`);

    this.addSql(`drop index "group_memberships_organization_id_id_index";`);

    this.addSql(`drop index "group_settings_organization_id_id_index";`);

    this.addSql(`drop index "groups_organization_id_id_index";`);

    this.addSql(`drop index "invites_organization_id_id_index";`);

    this.addSql(`drop index "memberships_organization_id_id_index";`);
    this.addSql(`drop index "memberships_created_at_id_index";`);
    this.addSql(`drop index "memberships_updated_at_id_index";`);

    this.addSql(`drop index "notes_organization_id_id_index";`);

    this.addSql(`drop index "organization_settings_organization_id_id_index";`);

    this.addSql(`drop index "tags_organization_id_id_index";`);
    this.addSql(`drop index "tags_aliases_words";`);

    this.addSql(`drop index "task_shares_organization_id_id_index";`);

    this.addSql(`drop index "tasks_organization_id_id_index";`);
    this.addSql(`drop index "tasks_tags_words";`);
  }
}
