import { Migration } from '@mikro-orm/migrations';

export class Migration20261127141453RefreshOverlap extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `alter table "sessions" add "replaced_token_hash" text null, add "replaced_at" timestamptz null, add "sealed_successor" text null;`,
    );
    this.addSql(
      `comment on column "sessions"."replaced_token_hash" is 'The same of the refresh token that was used last; null before the first use.';`,
    );
    this.addSql(`comment on column "sessions"."replaced_at" is 'When it was used; null before the first use.';`);
    this.addSql(
      `comment on column "sessions"."sealed_successor" is 'The refresh token that took its place, encrypted: for some seconds, requests with the replaced one get it again.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `alter table "sessions" drop column "replaced_token_hash", drop column "replaced_at", drop column "sealed_successor";`,
    );
  }
}
