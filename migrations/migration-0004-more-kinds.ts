import { Migration } from '@mikro-orm/migrations';

export class Migration0004MoreKinds extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "invites" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "recipient" text not null, "role" text not null, "status" text not null, "send_attempts" integer not null, "expires_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(`comment on table "invites" is 'Somebody is asked to join an organization.';`);
    this.addSql(`comment on column "invites"."recipient" is 'Address of whoever is asked.';`);
    this.addSql(`comment on column "invites"."role" is 'Role they will have.';`);
    this.addSql(`comment on column "invites"."status" is 'What became of it.';`);
    this.addSql(`comment on column "invites"."send_attempts" is 'Mails sent so far.';`);
    this.addSql(`comment on column "invites"."expires_at" is 'Until when it can be accepted.';`);
    this.addSql(
      `create index "invites_organization_id_role_id_index" on "invites" ("organization_id", "role", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "invites_organization_id_status_id_index" on "invites" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "invites_organization_id_expires_at_id_index" on "invites" ("organization_id", "expires_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "invites_organization_id_created_at_id_index" on "invites" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "invites_organization_id_updated_at_id_index" on "invites" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "invites_organization_id_recipient_key" on "invites" ("organization_id", "recipient") where deleted_at is null;`,
    );

    this.addSql(
      `create table "groups" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "name" text not null, "display_name" text null, "description" text null, "is_managed" boolean not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "groups" is 'People of an organization who are given rights together.';`);
    this.addSql(
      `comment on column "groups"."display_id" is 'Short name for people, unique in the organization; never changes.';`,
    );
    this.addSql(`comment on column "groups"."name" is 'Name, unique in the organization.';`);
    this.addSql(`comment on column "groups"."display_name" is 'Name shown to people; the name when empty.';`);
    this.addSql(`comment on column "groups"."description" is 'What the group is for.';`);
    this.addSql(`comment on column "groups"."is_managed" is 'Kept by the server; people do not change it.';`);
    this.addSql(
      `create index "groups_organization_id_is_managed_id_index" on "groups" ("organization_id", "is_managed", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "groups_organization_id_created_at_id_index" on "groups" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "groups_organization_id_updated_at_id_index" on "groups" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "groups_organization_id_display_id_key" on "groups" ("organization_id", "display_id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "groups_organization_id_name_key" on "groups" ("organization_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "group_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "visibility" text not null, "join_policy" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "group_settings" is 'Settings of one group.';`);
    this.addSql(`comment on column "group_settings"."group_id" is 'The group.';`);
    this.addSql(
      `comment on column "group_settings"."visibility" is 'Who sees the group: everybody in the organization, or its members.';`,
    );
    this.addSql(`comment on column "group_settings"."join_policy" is 'How people come in.';`);
    this.addSql(`create index "group_settings_group_id_index" on "group_settings" ("group_id");`);
    this.addSql(
      `create index "group_settings_organization_id_group_id_id_index" on "group_settings" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_settings_organization_id_visibility_id_index" on "group_settings" ("organization_id", "visibility", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_settings_organization_id_created_at_id_index" on "group_settings" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_settings_organization_id_updated_at_id_index" on "group_settings" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "group_settings_group_id_key" on "group_settings" ("group_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "tags" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "aliases" text[] not null, "description" text null, "color" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "tags" is 'A word of the organization by which records are found.';`);
    this.addSql(`comment on column "tags"."name" is 'The word.';`);
    this.addSql(`comment on column "tags"."aliases" is 'Other words for it.';`);
    this.addSql(`comment on column "tags"."description" is 'What it says of a record.';`);
    this.addSql(`comment on column "tags"."color" is 'Colour, as #rrggbb.';`);
    this.addSql(
      `create index "tags_organization_id_created_at_id_index" on "tags" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tags_organization_id_updated_at_id_index" on "tags" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "tags_organization_id_name_key" on "tags" ("organization_id", "name") where deleted_at is null;`,
    );

    this.addSql(
      `create table "tasks" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "title" text not null, "details" text null, "status" text not null, "priority" integer not null, "due_at" timestamptz null, "completed_at" timestamptz null, "tags" text[] not null, "assignee_id" text null, "assigner_id" text not null, "parent_id" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "tasks" is 'Something that somebody has to do.';`);
    this.addSql(
      `comment on column "tasks"."display_id" is 'Short name for people, unique in the organization; never changes.';`,
    );
    this.addSql(`comment on column "tasks"."title" is 'What is to be done, in one line.';`);
    this.addSql(`comment on column "tasks"."details" is 'What is to be done, at length.';`);
    this.addSql(`comment on column "tasks"."status" is 'How far it is.';`);
    this.addSql(`comment on column "tasks"."priority" is 'How much it matters; more is more.';`);
    this.addSql(`comment on column "tasks"."due_at" is 'When it has to be done.';`);
    this.addSql(`comment on column "tasks"."completed_at" is 'When it was done.';`);
    this.addSql(`comment on column "tasks"."tags" is 'Words to find it by.';`);
    this.addSql(`comment on column "tasks"."assignee_id" is 'Who does it.';`);
    this.addSql(`comment on column "tasks"."assigner_id" is 'Who asked for it.';`);
    this.addSql(`comment on column "tasks"."parent_id" is 'The task it is part of.';`);
    this.addSql(`create index "tasks_assignee_id_index" on "tasks" ("assignee_id");`);
    this.addSql(`create index "tasks_assigner_id_index" on "tasks" ("assigner_id");`);
    this.addSql(`create index "tasks_parent_id_index" on "tasks" ("parent_id");`);
    this.addSql(
      `create index "tasks_organization_id_title_id_index" on "tasks" ("organization_id", "title", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_status_id_index" on "tasks" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_priority_id_index" on "tasks" ("organization_id", "priority", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_due_at_id_index" on "tasks" ("organization_id", "due_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_assignee_id_id_index" on "tasks" ("organization_id", "assignee_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_assigner_id_id_index" on "tasks" ("organization_id", "assigner_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_parent_id_id_index" on "tasks" ("organization_id", "parent_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_created_at_id_index" on "tasks" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_updated_at_id_index" on "tasks" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "tasks_organization_id_display_id_key" on "tasks" ("organization_id", "display_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "notes" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "display_id" text not null, "title" text null, "text" text not null, "is_edited" boolean not null, "owner_id" text not null, "task_id" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "notes" is 'What somebody wrote about a record.';`);
    this.addSql(
      `comment on column "notes"."display_id" is 'Short name for people, unique in the organization; never changes.';`,
    );
    this.addSql(`comment on column "notes"."title" is 'Headline.';`);
    this.addSql(`comment on column "notes"."text" is 'What was written.';`);
    this.addSql(`comment on column "notes"."is_edited" is 'Changed after it was written.';`);
    this.addSql(`comment on column "notes"."owner_id" is 'Who wrote it.';`);
    this.addSql(`comment on column "notes"."task_id" is 'The task it is about.';`);
    this.addSql(`create index "notes_owner_id_index" on "notes" ("owner_id");`);
    this.addSql(`create index "notes_task_id_index" on "notes" ("task_id");`);
    this.addSql(
      `create index "notes_organization_id_owner_id_id_index" on "notes" ("organization_id", "owner_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notes_organization_id_task_id_id_index" on "notes" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notes_organization_id_created_at_id_index" on "notes" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "notes_organization_id_updated_at_id_index" on "notes" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "notes_organization_id_display_id_key" on "notes" ("organization_id", "display_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "group_memberships" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "user_id" text not null, "role" text not null, primary key ("id"));`,
    );
    this.addSql(`comment on table "group_memberships" is 'A person belongs to a group.';`);
    this.addSql(`comment on column "group_memberships"."group_id" is 'The group.';`);
    this.addSql(`comment on column "group_memberships"."user_id" is 'The person.';`);
    this.addSql(`comment on column "group_memberships"."role" is 'What the person may do with the group.';`);
    this.addSql(`create index "group_memberships_group_id_index" on "group_memberships" ("group_id");`);
    this.addSql(`create index "group_memberships_user_id_index" on "group_memberships" ("user_id");`);
    this.addSql(
      `create index "group_memberships_organization_id_group_id_id_index" on "group_memberships" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_memberships_organization_id_user_id_id_index" on "group_memberships" ("organization_id", "user_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_memberships_organization_id_role_id_index" on "group_memberships" ("organization_id", "role", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_memberships_organization_id_created_at_id_index" on "group_memberships" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_memberships_organization_id_updated_at_id_index" on "group_memberships" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "group_memberships_group_id_user_id_key" on "group_memberships" ("group_id", "user_id") where deleted_at is null;`,
    );

    this.addSql(
      `create table "files" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "name" text not null, "content_type" text not null, "size_bytes" bigint not null, "metadata" jsonb null, "owner_id" text not null, "task_id" text null, primary key ("id"));`,
    );
    this.addSql(`comment on table "files" is 'What is known of a file; its bytes are in the object storage.';`);
    this.addSql(`comment on column "files"."name" is 'Name it was given.';`);
    this.addSql(`comment on column "files"."content_type" is 'Media type.';`);
    this.addSql(`comment on column "files"."size_bytes" is 'Length.';`);
    this.addSql(`comment on column "files"."metadata" is 'What the uploader says about it.';`);
    this.addSql(`comment on column "files"."owner_id" is 'Who brought it.';`);
    this.addSql(`comment on column "files"."task_id" is 'The task it belongs to.';`);
    this.addSql(`create index "files_owner_id_index" on "files" ("owner_id");`);
    this.addSql(`create index "files_task_id_index" on "files" ("task_id");`);
    this.addSql(
      `create index "files_organization_id_name_id_index" on "files" ("organization_id", "name", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_content_type_id_index" on "files" ("organization_id", "content_type", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_size_bytes_id_index" on "files" ("organization_id", "size_bytes", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_owner_id_id_index" on "files" ("organization_id", "owner_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_task_id_id_index" on "files" ("organization_id", "task_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_created_at_id_index" on "files" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_organization_id_updated_at_id_index" on "files" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(`alter table "organizations" add "parent_id" text null;`);
    this.addSql(
      `comment on column "organizations"."parent_id" is 'The organization it is part of; roles there are roles here.';`,
    );
    this.addSql(
      `alter table "organizations" add constraint "organizations_parent_id_foreign" foreign key ("parent_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`create index "organizations_parent_id_index" on "organizations" ("parent_id");`);

    this.addSql(`drop index "organization_settings_organization_id_index";`);
    this.addSql(
      `create index "organization_settings_organization_id_created_at_id_index" on "organization_settings" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "organization_settings_organization_id_updated_at_id_index" on "organization_settings" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(`drop index "memberships_organization_id_index";`);
    this.addSql(
      `create index "memberships_organization_id_role_id_index" on "memberships" ("organization_id", "role", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "memberships_organization_id_created_at_id_index" on "memberships" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "memberships_organization_id_updated_at_id_index" on "memberships" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "invites" add constraint "invites_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_role_check" check (role in ('super_admin', 'admin', 'member', 'auditor'));`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_status_check" check (status in ('sent', 'accepted', 'expired', 'withdrawn'));`,
    );
    this.addSql(`alter table "invites" enable row level security;`);
    this.addSql(
      `create policy "invites_app" on "invites" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "invites_system" on "invites" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "groups" add constraint "groups_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "groups" enable row level security;`);
    this.addSql(
      `create policy "groups_app" on "groups" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "groups_system" on "groups" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "group_settings" add constraint "group_settings_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_settings" add constraint "group_settings_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_settings" add constraint "group_settings_visibility_check" check (visibility in ('public', 'private'));`,
    );
    this.addSql(
      `alter table "group_settings" add constraint "group_settings_join_policy_check" check (join_policy in ('open', 'invite_only', 'application_only', 'invite_or_application'));`,
    );
    this.addSql(`alter table "group_settings" enable row level security;`);
    this.addSql(
      `create policy "group_settings_app" on "group_settings" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "group_settings_system" on "group_settings" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "tags" add constraint "tags_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "tags" enable row level security;`);
    this.addSql(
      `create policy "tags_app" on "tags" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "tags_system" on "tags" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "tasks" add constraint "tasks_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_assignee_id_foreign" foreign key ("assignee_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_assigner_id_foreign" foreign key ("assigner_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_parent_id_foreign" foreign key ("parent_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "tasks" add constraint "tasks_status_check" check (status in ('open', 'in_progress', 'in_review', 'completed', 'wont_do'));`,
    );
    this.addSql(`alter table "tasks" enable row level security;`);
    this.addSql(
      `create policy "tasks_app" on "tasks" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "tasks_system" on "tasks" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "notes" add constraint "notes_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notes" add constraint "notes_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "notes" add constraint "notes_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "notes" enable row level security;`);
    this.addSql(
      `create policy "notes_app" on "notes" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "notes_system" on "notes" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "group_memberships" add constraint "group_memberships_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_memberships" add constraint "group_memberships_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_memberships" add constraint "group_memberships_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_memberships" add constraint "group_memberships_role_check" check (role in ('admin', 'member'));`,
    );
    this.addSql(`alter table "group_memberships" enable row level security;`);
    this.addSql(
      `create policy "group_memberships_app" on "group_memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "group_memberships_system" on "group_memberships" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );

    this.addSql(
      `alter table "files" add constraint "files_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "files" add constraint "files_owner_id_foreign" foreign key ("owner_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "files" add constraint "files_task_id_foreign" foreign key ("task_id") references "tasks" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "files" enable row level security;`);
    this.addSql(
      `create policy "files_app" on "files" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "files_system" on "files" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "group_settings" drop constraint "group_settings_group_id_foreign";`);
    this.addSql(`alter table "group_memberships" drop constraint "group_memberships_group_id_foreign";`);
    this.addSql(`alter table "tasks" drop constraint "tasks_parent_id_foreign";`);
    this.addSql(`alter table "notes" drop constraint "notes_task_id_foreign";`);
    this.addSql(`alter table "files" drop constraint "files_task_id_foreign";`);

    this.addSql(`drop table if exists "invites" cascade;`);
    this.addSql(`drop table if exists "groups" cascade;`);
    this.addSql(`drop table if exists "group_settings" cascade;`);
    this.addSql(`drop table if exists "tags" cascade;`);
    this.addSql(`drop table if exists "tasks" cascade;`);
    this.addSql(`drop table if exists "notes" cascade;`);
    this.addSql(`drop table if exists "group_memberships" cascade;`);
    this.addSql(`drop table if exists "files" cascade;`);

    this.addSql(`alter table "organizations" drop constraint "organizations_parent_id_foreign";`);

    this.addSql(`drop index "memberships_organization_id_role_id_index";`);
    this.addSql(`drop index "memberships_organization_id_created_at_id_index";`);
    this.addSql(`drop index "memberships_organization_id_updated_at_id_index";`);
    this.addSql(`create index "memberships_organization_id_index" on "memberships" ("organization_id");`);

    this.addSql(`drop index "organization_settings_organization_id_created_at_id_index";`);
    this.addSql(`drop index "organization_settings_organization_id_updated_at_id_index";`);
    this.addSql(
      `create index "organization_settings_organization_id_index" on "organization_settings" ("organization_id");`,
    );

    this.addSql(`drop index "organizations_parent_id_index";`);
    this.addSql(`alter table "organizations" drop column "parent_id";`);
  }
}
