import { Migration } from '@mikro-orm/migrations';

/** The mails of several digests are sent by one workflow. */
export class Migration20261123205700BatchesOfDigests extends Migration {
  override up(): void {
    this.addSql('alter table notification_digests add column batch text');
  }

  override down(): void {
    this.addSql('alter table notification_digests drop column batch');
  }
}
