import { Migration } from '@mikro-orm/migrations';

export class Migration20261125170200LinksAndShares extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `comment on table "task_groups" is 'Link of one task with one group. A link gives nobody access: a task share does.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`comment on table "task_groups" is 'Link of one task with one group.';`);
  }
}
