import { Migration } from '@mikro-orm/migrations';

/** Revoked tokens were rows; now a token ends with its session. */
const tokensToSessions: Changes = [
  ['wanted_token text', 'wanted_session text'],
  ['is_revoked boolean', 'is_signed_in boolean'],
  [
    'exists (select 1 from revoked_tokens r where r.token_id = wanted_token)',
    'exists (select 1 from sessions s where s.id = wanted_session and s.user_id = wanted_user and s.deleted_at is null)',
  ],
];

/** What `maintain_partitions` did besides. */
const pruning = 'delete from revoked_tokens where expires_at < at;';

/** The privileges of `request_context`, which is created anew: the names of its parameters and columns cannot be changed. */
const privileges = [
  'revoke all on function request_context(text, text, text) from public',
  'grant execute on function request_context(text, text, text) to core_app, core_system',
];

type Changes = readonly (readonly [from: string, to: string])[];

/** Replaces parts of a function, each of which it must contain. */
function changed(signature: string, changes: Changes): string {
  const steps = changes.map(
    ([from, to]) => `if position($old$${from}$old$ in definition) = 0 then
      raise exception 'function ${signature} does not contain: %', $old$${from}$old$; end if;
    definition := replace(definition, $old$${from}$old$, $new$${to}$new$);`,
  );
  return `do $migration$ declare definition text := pg_get_functiondef('${signature}'::regprocedure);
  begin
    ${steps.join('\n    ')}
    ${signature.startsWith('request_context') ? `drop function ${signature};` : ''}
    execute definition;
  end $migration$`;
}

/** Sign-ins become records with which their tokens end; passwords can be reset by mail. */
export class Migration20261122133703Sessions extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `create table "password_resets" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "email" text not null, "sent_at" timestamptz null, "expires_at" timestamptz not null, "used_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(`comment on table "password_resets" is 'Request to set a new password by a link that is e-mailed.';`);
    this.addSql(
      `comment on column "password_resets"."email" is 'Address that the link is e-mailed to, if it has an account.';`,
    );
    this.addSql(
      `comment on column "password_resets"."sent_at" is 'When the e-mail with this link was requested; null if another one had just been sent.';`,
    );
    this.addSql(`comment on column "password_resets"."expires_at" is 'When the link expires.';`);
    this.addSql(
      `comment on column "password_resets"."used_at" is 'When a password was set, with this link or with another.';`,
    );
    this.addSql(`create index "password_resets_email_index" on "password_resets" ("email") where deleted_at is null;`);

    this.addSql(
      `create table "sessions" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "user_agent" text null, "address" text not null, "last_seen_at" timestamptz not null, "expires_at" timestamptz not null, "active_organization_id" text null, "refresh_token_hash" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "sessions" is 'Sign-in of a person on one device. Deleting it signs the device out: all tokens that came from the sign-in stop working.';`,
    );
    this.addSql(
      `comment on column "sessions"."user_agent" is 'Browser or program that signed in, as it names itself; null if it does not.';`,
    );
    this.addSql(
      `comment on column "sessions"."address" is 'Network address that the last token of this sign-in was given to.';`,
    );
    this.addSql(`comment on column "sessions"."last_seen_at" is 'When the last token of this sign-in was given.';`);
    this.addSql(
      `comment on column "sessions"."expires_at" is 'When the sign-in ends unless its tokens are refreshed before.';`,
    );
    this.addSql(
      `comment on column "sessions"."active_organization_id" is 'Id of the organization that refreshed tokens are valid for; null for none.';`,
    );
    this.addSql(
      `comment on column "sessions"."refresh_token_hash" is 'SHA-256 hash of the only refresh token that is still to be used, in base64url.';`,
    );
    this.addSql(`create index "sessions_user_id_index" on "sessions" ("user_id");`);

    this.addSql(`alter table "password_resets" enable row level security;`);
    this.addSql(
      `create policy "password_resets_app" on "password_resets" to "core_app" using (false) with check (false);`,
    );
    this.addSql(
      `create policy "password_resets_system" on "password_resets" to "core_system" using (true) with check (true);`,
    );

    this.addSql(
      `alter table "sessions" add constraint "sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "sessions" enable row level security;`);
    this.addSql(
      `create policy "sessions_app" on "sessions" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(`create policy "sessions_system" on "sessions" to "core_system" using (true) with check (true);`);

    this.addSql(changed('request_context(text, text, text)', tokensToSessions));
    this.addSql(changed('maintain_partitions(timestamptz, interval, interval)', [[pruning, '']]));
    for (const statement of privileges) this.addSql(statement);
    this.addSql('drop table revoked_tokens');
  }

  override down(): void | Promise<void> {
    this.addSql(
      'create table revoked_tokens (token_id text primary key, revoked_at timestamptz not null, expires_at timestamptz not null)',
    );
    this.addSql('revoke all on revoked_tokens from core_app, core_system');
    this.addSql('grant select, insert, update, delete on revoked_tokens to core_system');
    this.addSql(
      changed(
        'request_context(text, text, text)',
        tokensToSessions.map(([from, to]) => [to, from] as const),
      ),
    );
    const counters = 'delete from sign_in_failures';
    this.addSql(
      changed('maintain_partitions(timestamptz, interval, interval)', [[counters, `${pruning}\n    ${counters}`]]),
    );
    for (const statement of privileges) this.addSql(statement);

    this.addSql(`drop table if exists "password_resets" cascade;`);
    this.addSql(`drop table if exists "sessions" cascade;`);
  }
}
