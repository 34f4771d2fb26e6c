import { Migration } from '@mikro-orm/migrations';

export class Migration20261122072935PendingInvitesAndFounders extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`drop index "organizations_name_key";`);
    this.addSql(`alter table "organizations" add "founder_id" text null;`);
    this.addSql(
      `comment on column "organizations"."founder_id" is 'Id of the user who created the organization; null if the server did.';`,
    );
    this.addSql(
      `comment on column "organizations"."name" is 'Name; unique among the organizations that one user created.';`,
    );
    this.addSql(`update "organizations" set founder_id = substring(created_by from 6) where created_by like 'user:%';`);
    this.addSql(
      `create unique index "organizations_founder_id_name_key" on "organizations" ("founder_id", "name") where deleted_at is null;`,
    );

    this.addSql(`create index "organizations_name_index" on "organizations" ("name") where deleted_at is null;`);

    this.addSql(`alter table "invites" drop constraint "invites_status_check";`);
    this.addSql(
      `comment on column "invites"."status" is 'Status of the invitation; pending until an e-mail has been sent.';`,
    );
    // No e-mail has ever been sent for these.
    this.addSql(`update "invites" set status = 'pending' where status = 'sent' and send_attempts = 0;`);
    this.addSql(
      `alter table "invites" add constraint "invites_status_check" check (status in ('pending', 'sent', 'accepted', 'expired', 'withdrawn'));`,
    );

    this.addSql(`comment on column "group_settings"."group_id" is 'Group that these settings apply to.';`);

    this.addSql(`comment on column "creator_grants"."group_id" is 'Group whose members may create records.';`);

    this.addSql(
      `comment on column "task_shares"."task_id" is 'Task that is shared with the group, or blocked for it.';`,
    );
    this.addSql(`comment on column "task_shares"."group_id" is 'Group that gets or loses access to the record.';`);

    this.addSql(`comment on column "memberships"."user_id" is 'User who is a member of the organization.';`);

    this.addSql(`comment on column "group_memberships"."group_id" is 'Group that the user belongs to.';`);
    this.addSql(`comment on column "group_memberships"."user_id" is 'User who belongs to the group.';`);

    this.addSql(
      `comment on column "file_shares"."file_id" is 'File that is shared with the group, or blocked for it.';`,
    );
    this.addSql(`comment on column "file_shares"."group_id" is 'Group that gets or loses access to the record.';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`comment on column "creator_grants"."group_id" is 'Group.';`);

    this.addSql(`comment on column "file_shares"."file_id" is 'File.';`);
    this.addSql(`comment on column "file_shares"."group_id" is 'Group.';`);

    this.addSql(`comment on column "group_memberships"."group_id" is 'Group.';`);
    this.addSql(`comment on column "group_memberships"."user_id" is 'User.';`);

    this.addSql(`comment on column "group_settings"."group_id" is 'Group.';`);

    this.addSql(`alter table "invites" drop constraint "invites_status_check";`);
    this.addSql(`update "invites" set status = 'sent' where status = 'pending';`);
    this.addSql(`comment on column "invites"."status" is 'Status of the invitation.';`);
    this.addSql(
      `alter table "invites" add constraint "invites_status_check" check ("status" in ('sent', 'accepted', 'expired', 'withdrawn'));`,
    );

    this.addSql(`comment on column "memberships"."user_id" is 'User.';`);

    this.addSql(`drop index "organizations_name_index";`);
    this.addSql(`drop index "organizations_founder_id_name_key";`);
    this.addSql(`alter table "organizations" drop column "founder_id";`);
    this.addSql(`comment on column "organizations"."name" is 'Unique name.';`);
    this.addSql(`create unique index "organizations_name_key" on "organizations" ("name") where deleted_at IS NULL;`);

    this.addSql(`comment on column "task_shares"."task_id" is 'Task.';`);
    this.addSql(`comment on column "task_shares"."group_id" is 'Group.';`);
  }
}
