import { Migration } from '@mikro-orm/migrations';

/** Describes when sessions of single sign-on end. */
export class Migration20261122205900SingleSignOnEnds extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `comment on column "sessions"."expires_at" is 'When the sign-in ends unless its tokens are refreshed before; with single sign-on, at the latest twelve hours after it began.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `comment on column "sessions"."expires_at" is 'When the sign-in ends unless its tokens are refreshed before.';`,
    );
  }
}
