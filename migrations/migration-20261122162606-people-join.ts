import { Migration } from '@mikro-orm/migrations';

export class Migration20261122162606PeopleJoin extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`drop policy "memberships_app" on "memberships";`);

    this.addSql(
      `create policy "memberships_app" on "memberships" to "core_app" using (organization_id = current_setting('core.organization_id', true) or user_id = current_setting('core.user_id', true)) with check (organization_id = current_setting('core.organization_id', true) or (user_id = current_setting('core.user_id', true) and deleted_at is not null));`,
    );

    this.addSql(`drop index "invites_organization_id_recipient_key";`);
    this.addSql(`alter table "invites" drop constraint "invites_role_check";`);
    this.addSql(`alter table "invites" drop constraint "invites_status_check";`);
    this.addSql(
      `alter table "invites" add "inviter_id" text null, add "active_recipient" text null, add "round" integer not null default '1', add "sent_round" integer not null default '0';`,
    );
    this.addSql(`alter table "invites" alter column "round" drop default;`);
    this.addSql(`alter table "invites" alter column "sent_round" drop default;`);
    this.addSql(`comment on column "invites"."inviter_id" is 'Person who last requested the invitation.';`);
    this.addSql(
      `comment on column "invites"."active_recipient" is '\`recipient\` while the invitation is open; null afterwards: the address can be invited again.';`,
    );
    this.addSql(
      `comment on column "invites"."round" is '1 at first; greater by 1 each time the e-mail is requested again.';`,
    );
    this.addSql(
      `comment on column "invites"."sent_round" is '\`round\` of the last e-mail that was sent; 0 for none.';`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_inviter_id_foreign" foreign key ("inviter_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `comment on column "invites"."role" is 'Role granted on acceptance; not above the role of whoever invites.';`,
    );
    this.addSql(
      `comment on column "invites"."expires_at" is 'When the invitation expires: 14 days after it was last requested.';`,
    );
    this.addSql(`create index "invites_inviter_id_index" on "invites" ("inviter_id");`);
    this.addSql(
      `create index "invites_organization_id_recipient_id_index" on "invites" ("organization_id", "recipient", "id") where deleted_at is null;`,
    );
    // Invitations of before were never mailed; they can be sent again.
    this.addSql(
      `update "invites" set active_recipient = recipient, expires_at = coalesce(expires_at, created_at + interval '14 days'),
       inviter_id = (select u.id from users u where 'user:' || u.id = invites.created_by)
       where deleted_at is null and status in ('pending', 'sent');`,
    );
    this.addSql(
      `create unique index "invites_organization_id_active_recipient_key" on "invites" ("organization_id", "active_recipient") where deleted_at is null;`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_role_check" check (role in ('owner', 'super_admin', 'admin', 'member', 'auditor'));`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_status_check" check (status in ('pending', 'sent', 'accepted', 'declined', 'expired', 'withdrawn'));`,
    );
    this.addSql(
      `comment on table "invites" is 'Invitation to join an organization. Creating it sends an e-mail with a link that accepts or declines it.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "invites" drop constraint "invites_inviter_id_foreign";`);

    this.addSql(`drop policy "memberships_app" on "memberships";`);

    this.addSql(`drop index "invites_inviter_id_index";`);
    this.addSql(`drop index "invites_organization_id_recipient_id_index";`);
    this.addSql(`drop index "invites_organization_id_active_recipient_key";`);
    this.addSql(`alter table "invites" drop constraint "invites_role_check";`);
    this.addSql(`alter table "invites" drop constraint "invites_status_check";`);
    // An address has one invitation here, with fewer roles and statuses.
    this.addSql(
      `update "invites" set deleted_at = updated_at, deleted_by = updated_by where deleted_at is null and active_recipient is null;`,
    );
    this.addSql(`update "invites" set role = 'admin' where role in ('owner', 'super_admin');`);
    this.addSql(`update "invites" set status = 'withdrawn' where status = 'declined';`);
    this.addSql(
      `alter table "invites" drop column "inviter_id", drop column "active_recipient", drop column "round", drop column "sent_round";`,
    );
    this.addSql(`comment on column "invites"."role" is 'Role granted on acceptance.';`);
    this.addSql(`comment on column "invites"."expires_at" is 'When the invitation expires.';`);
    this.addSql(
      `create unique index "invites_organization_id_recipient_key" on "invites" ("organization_id", "recipient") where deleted_at IS NULL;`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_role_check" check ("role" in ('admin', 'member', 'auditor'));`,
    );
    this.addSql(
      `alter table "invites" add constraint "invites_status_check" check ("status" in ('pending', 'sent', 'accepted', 'expired', 'withdrawn'));`,
    );
    this.addSql(`comment on table "invites" is 'Invitation to join an organization.';`);

    this.addSql(
      `create policy "memberships_app" on "memberships" to "core_app" using (((organization_id = current_setting('core.organization_id'::text, true)) OR (user_id = current_setting('core.user_id'::text, true)))) with check ((organization_id = current_setting('core.organization_id'::text, true)));`,
    );
  }
}
