import { Migration } from '@mikro-orm/migrations';

/** Endpoints are bound to the membership of whoever answers for them; those that are there continue with the memberships of today. */
export class Migration20261127182515ResponsibleMemberships extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `comment on column "email_verifications"."password_hash" is 'argon2id hash of the password that is valid once this link is confirmed; null: the link is void.';`,
    );

    this.addSql(`alter table "emails" add "address_hash" text null;`);
    this.addSql(
      `comment on column "emails"."address_hash" is 'Keyed hash of the address to which it went: the link to unsubscribe names the address while it is still that of the recipient.';`,
    );

    this.addSql(
      `comment on column "sessions"."single_sign_on_id" is 'Id of the organization whose single sign-on began it, in which alone it is valid; null for other ways to sign in.';`,
    );

    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token is valid although single sign-on is enforced: its owner has authorized it in a session of their single sign-on. Each is valid until the provider of the organization changes, or the membership of the owner ends.';`,
    );

    this.addSql(
      `comment on column "notification_preferences"."channel" is 'Channel to which it applies. The chat of an organization cannot be connected yet, so \`chat\` is refused.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."topic_pattern" is 'Topics to which it applies: one topic such as task.assigned, all of a kind such as task.*, or * for all others.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."cadence" is 'When notifications are sent: at once (immediate), collected once a day, a week or a month, or never (mute). The list in the app interrupts nobody, so there every cadence except mute has the effect of immediate.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."mute_until" is 'No notifications are sent before this time; those held back are sent then.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_start" is 'Time of day as HH:MM from which no notifications are sent, in the time zone of the person: that of their settings, otherwise that of the organization.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_end" is 'Time of day as HH:MM from which notifications are sent again; earlier than the start, it is on the next day.';`,
    );
    this.addSql(
      `comment on table "notification_preferences" is 'How a person receives notifications of an organization on one channel. Of several whose patterns fit, the one with the longest pattern applies.';`,
    );

    this.addSql(
      `comment on table "notifications" is 'Notification of a person in an organization. Only its recipient views it, and only while they may view the record that it is about.';`,
    );

    this.addSql(
      `comment on table "file_verdicts" is 'Verdict of a scanner on one stored file. The latest one applies.';`,
    );

    this.addSql(`alter table "webhook_endpoints" add "responsible_membership_id" text null;`);
    this.addSql(
      `comment on column "webhook_endpoints"."responsible_membership_id" is 'Id of the membership with which that person took this on: it ends with this membership, and no later one restores it.';`,
    );
    this.addSql(
      `update webhook_endpoints set responsible_membership_id = deciding_membership(responsible_id, organization_id) where responsible_id is not null`,
    );

    this.addSql('alter table failing_work add column is_run_settled boolean not null default false');
    this.addSql(
      `comment on column failing_work.is_run_settled is 'Whether an operator has ended it, and with it whatever else its run reports.'`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `comment on column "email_verifications"."password_hash" is 'argon2id hash of the password that counts once this link is confirmed; null: the link is void.';`,
    );

    this.addSql(`alter table "emails" drop column "address_hash";`);

    this.addSql(
      `comment on table "file_verdicts" is 'Verdict of a scanner on one stored file. The latest one counts.';`,
    );

    this.addSql(
      `comment on column "notification_preferences"."channel" is 'Channel that it is about. The chat of an organization cannot be connected yet, so \`chat\` is refused.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."topic_pattern" is 'Topics that it is about: one topic such as task.assigned, all of a kind such as task.*, or * for all others.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."cadence" is 'When the person is told: at once (immediate), collected once a day, a week or a month, or never (mute). The list in the app interrupts nobody, so there everything but mute means at once.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."mute_until" is 'The person is told nothing before this time; what was held back is told then.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_start" is 'Time of day as HH:MM from which the person is told nothing, in their time zone: that of their settings, otherwise that of the organization.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."quiet_hours_end" is 'Time of day as HH:MM from which the person is told again; earlier than the start, it is on the next day.';`,
    );
    this.addSql(
      `comment on table "notification_preferences" is 'How a person wants to be told of notifications of an organization on one channel. Of several whose patterns fit, the longest pattern counts.';`,
    );

    this.addSql(
      `comment on table "notifications" is 'What a person is told in an organization. Only its recipient views it, and only while they may view the record that it is about.';`,
    );

    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token counts although single sign-on is enforced: its owner has authorized it in a session of their single sign-on. Each is valid until the provider of the organization changes, or the membership of the owner ends.';`,
    );

    this.addSql(
      `comment on column "sessions"."single_sign_on_id" is 'Id of the organization whose single sign-on began it, in which alone it counts; null for other ways to sign in.';`,
    );

    this.addSql(`alter table "webhook_endpoints" drop column "responsible_membership_id";`);

    this.addSql('alter table failing_work drop column is_run_settled');
  }
}
