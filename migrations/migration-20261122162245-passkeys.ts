import { Migration } from '@mikro-orm/migrations';

export class Migration20261122162245Passkeys extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "passkeys" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "name" text not null, "credential_id" text not null, "public_key" text not null, "sign_count" bigint not null, "transports" text[] not null, "aaguid" text not null, "is_backup_eligible" boolean not null, "is_backed_up" boolean not null, "last_used_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "passkeys" is 'Passkey (WebAuthn credential) with which a person signs in without a password. Deleting it ends sign-ins with it; sessions go on.';`,
    );
    this.addSql(`comment on column "passkeys"."name" is 'Name by which its owner knows the passkey.';`);
    this.addSql(
      `comment on column "passkeys"."credential_id" is 'Id of the credential at the authenticator, in base64url.';`,
    );
    this.addSql(
      `comment on column "passkeys"."public_key" is 'Public key of the credential (COSE_Key), in base64url.';`,
    );
    this.addSql(
      `comment on column "passkeys"."sign_count" is 'Signatures that the authenticator had counted at the last sign-in; 0 if it does not count.';`,
    );
    this.addSql(
      `comment on column "passkeys"."transports" is 'Ways in which browsers reach the authenticator, for example \`internal\` or \`usb\`.';`,
    );
    this.addSql(
      `comment on column "passkeys"."aaguid" is 'Model of the authenticator (AAGUID); zeros if it is not told.';`,
    );
    this.addSql(
      `comment on column "passkeys"."is_backup_eligible" is 'Whether the authenticator may copy the passkey to other devices.';`,
    );
    this.addSql(
      `comment on column "passkeys"."is_backed_up" is 'Whether the passkey had been copied at the last sign-in.';`,
    );
    this.addSql(
      `comment on column "passkeys"."last_used_at" is 'When somebody last signed in with it; null if nobody has.';`,
    );
    this.addSql(`create index "passkeys_user_id_index" on "passkeys" ("user_id");`);
    this.addSql(
      `create unique index "passkeys_credential_id_key" on "passkeys" ("credential_id") where deleted_at is null;`,
    );

    this.addSql(
      `alter table "passkeys" add constraint "passkeys_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "passkeys" enable row level security;`);
    this.addSql(
      `create policy "passkeys_app" on "passkeys" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(`create policy "passkeys_system" on "passkeys" to "core_system" using (true) with check (true);`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "passkeys" cascade;`);
  }
}
