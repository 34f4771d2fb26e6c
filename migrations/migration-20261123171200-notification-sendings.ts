import { Migration } from '@mikro-orm/migrations';

/** Kinds that people are told about, before and after. */
const [before, after] = [
  `'task', 'note', 'webhook_endpoint'`,
  `'task', 'note', 'webhook_endpoint', 'export', 'organization'`,
];

const targetKinds = (kinds: string) => [
  `alter table "notifications" drop constraint "notifications_target_kind_check";`,
  `alter table "notifications" add constraint "notifications_target_kind_check" check (target_kind in (${kinds}));`,
];

/** Notifications are sent on channels, by themselves or in digests; people mute them in the app. */
export class Migration20261123171200NotificationSendings extends Migration {
  readonly locks = {
    notifications:
      'all of them are shown to their recipients, and their kinds are checked again; until now there are few',
  };

  override up(): void {
    this.addSql(
      `alter table "notifications" add column "shown_to" text null, add column "link" text not null default '/';`,
    );
    this.addSql('alter table "notifications" alter column "link" drop default;');
    this.addSql('update "notifications" set "shown_to" = "user_id";');
    this.addSql(
      `comment on column "notifications"."shown_to" is 'Id of the recipient; null when they have muted such notifications in the app.';`,
    );
    this.addSql(
      `comment on column "notifications"."link" is 'Page of the record in the application: a path, which begins with a slash.';`,
    );
    for (const statement of targetKinds(after)) this.addSql(statement);
    this.addSql(`drop index "notifications_organization_id_user_id_is_read_index";`);
    this.addSql(
      `create index "notifications_organization_id_shown_to_is_read_index" on "notifications" ("organization_id", "shown_to", "is_read") where deleted_at is null;`,
    );
    this.addSql(
      `comment on column "notification_preferences"."cadence" is 'When the person is told: at once (immediate), collected once a day, a week or a month, or never (mute). The list in the app interrupts nobody, so there everything but mute means at once.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."mute_until" is 'The person is told nothing before this time; what was held back is told then.';`,
    );
    this.addSql(`create table notification_sendings (
      notification_id text not null,
      channel text not null,
      organization_id text not null,
      user_id text not null,
      topic text not null,
      is_default boolean not null,
      is_urgent boolean not null,
      state text not null check (state in ('due', 'sent', 'collected', 'dropped')),
      round integer not null,
      due_at timestamptz check ((due_at is null) = (state <> 'due')),
      digest_id text check ((digest_id is null) = (state <> 'collected')),
      told_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (notification_id, channel)
    )`);
    this.addSql(
      `create index notification_sendings_due on notification_sendings (due_at, organization_id, user_id, channel) where state = 'due'`,
    );
    this.addSql(
      `create index notification_sendings_person on notification_sendings (organization_id, user_id, channel) where state = 'due'`,
    );
    this.addSql(
      `create index notification_sendings_digest on notification_sendings (digest_id, notification_id) where digest_id is not null`,
    );
    this.addSql(`create index notification_sendings_ended on notification_sendings (updated_at) where state <> 'due'`);
    this.addSql(`create table notification_digests (
      id text primary key,
      organization_id text not null,
      user_id text not null,
      channel text not null,
      cadence text not null,
      period text not null,
      state text not null check (state in ('claimed', 'sent', 'empty')),
      round integer not null,
      due_at timestamptz check ((due_at is null) = (state <> 'claimed')),
      updated_at timestamptz not null,
      unique (organization_id, user_id, channel, cadence, period)
    )`);
    this.addSql(`create index notification_digests_due on notification_digests (due_at) where state = 'claimed'`);
    this.addSql(
      `create index notification_digests_ended on notification_digests (updated_at) where state <> 'claimed'`,
    );
    this.addSql('revoke all on notification_sendings, notification_digests from core_app, core_system');
    this.addSql('grant select, insert, update, delete on notification_sendings, notification_digests to core_system');
  }

  override down(): void {
    this.addSql('drop table notification_digests');
    this.addSql('drop table notification_sendings');
    this.addSql(`delete from "notifications" where target_kind in ('export', 'organization')`);
    for (const statement of targetKinds(before)) this.addSql(statement);
    this.addSql(
      `comment on column "notification_preferences"."mute_until" is 'The person is told nothing before this time.';`,
    );
    this.addSql(
      `comment on column "notification_preferences"."cadence" is 'When the person is told: at once (immediate), collected once a day, a week or a month, or never (mute).';`,
    );
    this.addSql(`drop index "notifications_organization_id_shown_to_is_read_index";`);
    this.addSql(
      `create index "notifications_organization_id_user_id_is_read_index" on "notifications" ("organization_id", "user_id", "is_read") where deleted_at is null;`,
    );
    this.addSql('alter table "notifications" drop column "shown_to", drop column "link";');
  }
}
