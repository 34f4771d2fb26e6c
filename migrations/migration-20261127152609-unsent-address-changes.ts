import { Migration } from '@mikro-orm/migrations';

export class Migration20261127152609UnsentAddressChanges extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `comment on column "email_changes"."sent_at" is 'When the e-mail with this link was requested; null where none was sent.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(
      `comment on column "email_changes"."sent_at" is 'When the e-mail with this link was requested; null if another one had just been sent.';`,
    );
  }
}
