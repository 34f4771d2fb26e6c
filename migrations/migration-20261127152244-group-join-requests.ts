import { Migration } from '@mikro-orm/migrations';

/** Names of the ways to join a group, before and after. */
const applying = [
  ['application_only', 'apply'],
  ['invite_or_application', 'apply'],
] as const;

/** Renames values of `join_policy`, also in the history. */
const renamedPolicies = (names: readonly (readonly [string, string])[]) =>
  names.flatMap(([from, to]) => [
    `update "group_settings" set join_policy = '${to}' where join_policy = '${from}'`,
    `update history set snapshot = jsonb_set(snapshot, '{joinPolicy}', '"${to}"')
      where entity_kind = 'group_setting' and snapshot ->> 'joinPolicy' = '${from}'`,
  ]);

/** Requests to join a group; the ways to join one are three. */
export class Migration20261127152244GroupJoinRequests extends Migration {
  readonly locks = {
    group_settings: 'a group has one row, and its ways to join are few',
    history: 'only rows of the settings of groups are changed, which nobody else changes',
    notifications: 'the values of a column are checked, which reads the table once',
  };

  override up(): void {
    this.addSql(
      `create table "group_join_requests" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_id" text not null, "group_id" text not null, "user_id" text not null, "message" text null, "status" text not null, "decider_id" text null, "open_for" text null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "group_join_requests" is 'Request of a person to join a group. Managers of the group accept or decline it, and the person can withdraw it.';`,
    );
    this.addSql(`comment on column "group_join_requests"."group_id" is 'Group that the person wants to join.';`);
    this.addSql(`comment on column "group_join_requests"."user_id" is 'Person who wants to join.';`);
    this.addSql(`comment on column "group_join_requests"."message" is 'Why the person wants to join.';`);
    this.addSql(`comment on column "group_join_requests"."status" is 'What became of the request.';`);
    this.addSql(`comment on column "group_join_requests"."decider_id" is 'Person who accepted or declined it.';`);
    this.addSql(
      `comment on column "group_join_requests"."open_for" is '\`userId\` while the request is pending; null afterwards: the person can ask again.';`,
    );
    this.addSql(`create index "group_join_requests_group_id_index" on "group_join_requests" ("group_id");`);
    this.addSql(`create index "group_join_requests_user_id_index" on "group_join_requests" ("user_id");`);
    this.addSql(
      `create index "group_join_requests_organization_id_id_index" on "group_join_requests" ("organization_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_organization_id_group_id_id_index" on "group_join_requests" ("organization_id", "group_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_organization_id_user_id_id_index" on "group_join_requests" ("organization_id", "user_id", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_organization_id_status_id_index" on "group_join_requests" ("organization_id", "status", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_organization_id_created_at_id_index" on "group_join_requests" ("organization_id", "created_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_organization_id_updated_at_id_index" on "group_join_requests" ("organization_id", "updated_at", "id") where deleted_at is null;`,
    );
    this.addSql(
      `create index "group_join_requests_decider_id_index" on "group_join_requests" ("decider_id") where decider_id is not null;`,
    );
    this.addSql(
      `create unique index "group_join_requests_group_id_open_for_key" on "group_join_requests" ("group_id", "open_for") where deleted_at is null;`,
    );

    this.addSql(`alter table "notifications" drop constraint "notifications_target_kind_check";`);
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in ('task', 'note', 'webhook_endpoint', 'export', 'organization', 'group'));`,
    );

    this.addSql(`alter table "group_settings" drop constraint "group_settings_join_policy_check";`);
    for (const statement of renamedPolicies(applying)) this.addSql(statement);
    this.addSql(
      `comment on column "group_settings"."join_policy" is 'How people who see the group join it: at once (open), with the consent of one of its managers (apply), or only when a manager adds them (invite_only).';`,
    );
    this.addSql(
      `alter table "group_settings" add constraint "group_settings_join_policy_check" check (join_policy in ('open', 'apply', 'invite_only'));`,
    );

    this.addSql(
      `alter table "group_join_requests" add constraint "group_join_requests_organization_id_foreign" foreign key ("organization_id") references "organizations" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_join_requests" add constraint "group_join_requests_group_id_foreign" foreign key ("group_id") references "groups" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_join_requests" add constraint "group_join_requests_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_join_requests" add constraint "group_join_requests_decider_id_foreign" foreign key ("decider_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "group_join_requests" add constraint "group_join_requests_status_check" check (status in ('pending', 'accepted', 'declined', 'withdrawn'));`,
    );
    this.addSql(`alter table "group_join_requests" enable row level security;`);
    this.addSql(
      `create policy "group_join_requests_app" on "group_join_requests" to "core_app" using (organization_id = current_setting('core.organization_id', true)) with check (organization_id = current_setting('core.organization_id', true));`,
    );
    this.addSql(
      `create policy "group_join_requests_system" on "group_join_requests" to "core_system" using (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true)) with check (coalesce(current_setting('core.organization_id', true), '') = '' or organization_id = current_setting('core.organization_id', true));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "group_join_requests" cascade;`);

    this.addSql(`alter table "group_settings" drop constraint "group_settings_join_policy_check";`);
    for (const statement of renamedPolicies([['apply', 'invite_or_application']])) this.addSql(statement);
    this.addSql(`comment on column "group_settings"."join_policy" is 'How users join the group.';`);
    this.addSql(
      `alter table "group_settings" add constraint "group_settings_join_policy_check" check ("join_policy" in ('open', 'invite_only', 'application_only', 'invite_or_application'));`,
    );

    this.addSql(`delete from "notifications" where target_kind = 'group'`);
    this.addSql(`alter table "notifications" drop constraint "notifications_target_kind_check";`);
    this.addSql(
      `alter table "notifications" add constraint "notifications_target_kind_check" check ("target_kind" in ('task', 'note', 'webhook_endpoint', 'export', 'organization'));`,
    );
  }
}
