import { Migration } from '@mikro-orm/migrations';

export class Migration20261122070507EmailVerificationPerSignUp extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`drop policy "email_verifications_app" on "email_verifications";`);
    this.addSql(`alter table "email_verifications" drop constraint "email_verifications_user_id_foreign";`);

    this.addSql(`drop index "email_verifications_user_id_index";`);
    this.addSql(`drop index "email_verifications_user_id_key";`);
    this.addSql(
      `alter table "email_verifications" add "password_hash" text null, add "first_name" text null, add "last_name" text null;`,
    );
    // Links that were mailed before still confirm the sign-up they were mailed for.
    this.addSql(
      `update "email_verifications" v set password_hash = u.password_hash, first_name = u.first_name, last_name = u.last_name
       from "users" u where u.id = v.user_id and v.used_at is null and u.email_confirmed_at is null;`,
    );
    this.addSql(`alter table "email_verifications" drop column "user_id";`);
    this.addSql(
      `comment on column "email_verifications"."password_hash" is 'argon2id hash of the password that counts once this link is confirmed; null: the link is void.';`,
    );
    this.addSql(`comment on column "email_verifications"."first_name" is 'Given name written at sign-up.';`);
    this.addSql(`comment on column "email_verifications"."last_name" is 'Family name written at sign-up.';`);
    this.addSql(`alter table "email_verifications" alter column "sent_at" drop not null;`);
    this.addSql(
      `comment on column "email_verifications"."round" is '1 for a sign-up; greater by 1 for each later request to send its mail again.';`,
    );
    this.addSql(
      `comment on column "email_verifications"."sent_at" is 'When the e-mail with this link was requested; null if another one had just been sent.';`,
    );
    this.addSql(`comment on column "email_verifications"."expires_at" is 'When the link expires.';`);
    this.addSql(
      `comment on column "email_verifications"."used_at" is 'When the address was verified, with this link or with another.';`,
    );
    this.addSql(
      `create index "email_verifications_email_index" on "email_verifications" ("email") where deleted_at is null;`,
    );
    this.addSql(`comment on table "email_verifications" is 'Request to verify that a person owns an e-mail address.';`);
    this.addSql(
      `create policy "email_verifications_app" on "email_verifications" to "core_app" using (false) with check (false);`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`drop policy "email_verifications_app" on "email_verifications";`);

    this.addSql(`drop index "email_verifications_email_index";`);
    this.addSql(
      `alter table "email_verifications" drop column "password_hash", drop column "first_name", drop column "last_name";`,
    );
    this.addSql(`alter table "email_verifications" add "user_id" text null;`);
    this.addSql(
      `update "email_verifications" v set user_id = u.id from "users" u where u.email = v.email and u.deleted_at is null;`,
    );
    // There was one for each user, and none without.
    this.addSql(
      `delete from "email_verifications" v where v.user_id is null
         or exists (select 1 from "email_verifications" o where o.user_id = v.user_id and o.id > v.id);`,
    );
    this.addSql(`update "email_verifications" set sent_at = created_at where sent_at is null;`);
    this.addSql(`alter table "email_verifications" alter column "user_id" set not null;`);
    this.addSql(
      `alter table "email_verifications" add constraint "email_verifications_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "email_verifications" alter column "sent_at" set not null;`);
    this.addSql(
      `comment on column "email_verifications"."round" is 'Number of the latest e-mail; links in earlier e-mails are invalid.';`,
    );
    this.addSql(`comment on column "email_verifications"."sent_at" is 'When the latest e-mail was requested.';`);
    this.addSql(
      `comment on column "email_verifications"."expires_at" is 'When the link in the latest e-mail expires.';`,
    );
    this.addSql(`comment on column "email_verifications"."used_at" is 'When the address was verified.';`);
    this.addSql(`create index "email_verifications_user_id_index" on "email_verifications" ("user_id");`);
    this.addSql(
      `create unique index "email_verifications_user_id_key" on "email_verifications" ("user_id") where deleted_at IS NULL;`,
    );
    this.addSql(`comment on table "email_verifications" is 'Request to verify that a user owns an e-mail address.';`);
    this.addSql(
      `create policy "email_verifications_app" on "email_verifications" to "core_app" using ((user_id = current_setting('core.user_id'::text, true))) with check ((user_id = current_setting('core.user_id'::text, true)));`,
    );
  }
}
