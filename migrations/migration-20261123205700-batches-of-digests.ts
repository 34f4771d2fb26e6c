import { Migration } from '@mikro-orm/migrations';

/** The mails of several digests are sent by one workflow; preferences for chat are refused. */
export class Migration20261123205700BatchesOfDigests extends Migration {
  override up(): void {
    this.addSql('alter table notification_digests add column batch text');
    this.addSql(
      `comment on column "notification_preferences"."channel" is 'Channel that it is about. The chat of an organization cannot be connected yet, so \`chat\` is refused.';`,
    );
  }

  override down(): void {
    this.addSql(`comment on column "notification_preferences"."channel" is 'Channel that it is about.';`);
    this.addSql('alter table notification_digests drop column batch');
  }
}
