import { Migration } from '@mikro-orm/migrations';

/** Addresses can be changed and given up; the server knows when users were last there, and where they begin. */
export class Migration20261122163307EmailChangesAndLastSeen extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "email_changes" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "email" text not null, "new_email" text null, "sent_at" timestamptz null, "expires_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "email_changes" is 'Request of a user to give up their e-mail address: for another one, or together with the account.';`,
    );
    this.addSql(`comment on column "email_changes"."user_id" is 'Id of the user.';`);
    this.addSql(`comment on column "email_changes"."email" is 'Address of the user at the request.';`);
    this.addSql(
      `comment on column "email_changes"."new_email" is 'Address that the user wants, to which the link is e-mailed; null for a deleted account.';`,
    );
    this.addSql(
      `comment on column "email_changes"."sent_at" is 'When the e-mail with this link was requested; null if another one had just been sent.';`,
    );
    this.addSql(`comment on column "email_changes"."expires_at" is 'When the link expires.';`);
    this.addSql(
      `comment on column "email_changes"."used_at" is 'When the address was given up, or the link became void.';`,
    );
    this.addSql(`create index "email_changes_user_id_index" on "email_changes" ("user_id") where deleted_at is null;`);
    this.addSql(
      `create index "email_changes_new_email_index" on "email_changes" ("new_email") where deleted_at is null;`,
    );

    this.addSql(`alter table "users" add "last_seen_at" timestamptz null, add "default_organization_id" text null;`);
    this.addSql(
      `comment on column "users"."last_seen_at" is 'When the user last signed in or refreshed the tokens of a session; null before the first time.';`,
    );
    this.addSql(
      `comment on column "users"."default_organization_id" is 'Id of the organization in which sign-ins begin; null for the one joined first.';`,
    );

    this.addSql(`alter table "email_changes" enable row level security;`);
    this.addSql(`create policy "email_changes_app" on "email_changes" to "core_app" using (false) with check (false);`);
    this.addSql(
      `create policy "email_changes_system" on "email_changes" to "core_system" using (true) with check (true);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "email_changes" cascade;`);

    this.addSql(`alter table "users" drop column "last_seen_at", drop column "default_organization_id";`);
  }
}
