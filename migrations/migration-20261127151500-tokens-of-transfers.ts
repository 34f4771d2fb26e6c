import { Migration } from '@mikro-orm/migrations';

const tables = ['exports', 'imports'] as const;

/** Exports and imports that a personal token started stay within its scopes. */
export class Migration20261127151500TokensOfTransfers extends Migration {
  override up(): void {
    for (const table of tables) {
      this.addSql(`alter table "${table}" add column "token_id" text null;`);
      this.addSql(
        `comment on column "${table}"."token_id" is 'Id of the personal token with which the work was started, within whose scopes it stays; null for a session.';`,
      );
    }
  }

  override down(): void {
    for (const table of tables) this.addSql(`alter table "${table}" drop column "token_id";`);
  }
}
