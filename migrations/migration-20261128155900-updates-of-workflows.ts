import { Migration } from '@mikro-orm/migrations';

/** A wake can be an update of the workflow; the id makes it one, however often it is sent. */
export class Migration20261128155900UpdatesOfWorkflows extends Migration {
  override up(): void {
    this.addSql('alter table "workflow_wakes" add column "update_id" text null;');
  }

  override down(): void {
    this.addSql('alter table "workflow_wakes" drop column "update_id";');
  }
}
