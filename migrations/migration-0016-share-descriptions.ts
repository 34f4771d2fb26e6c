import { Migration } from '@mikro-orm/migrations';

export class Migration0016ShareDescriptions extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`comment on table "task_shares" is 'One task, shared with a group or kept from it.';`);

    this.addSql(`comment on table "file_shares" is 'One file, shared with a group or kept from it.';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`comment on table "file_shares" is 'A file is shared with a group, or kept from it.';`);

    this.addSql(`comment on table "task_shares" is 'A task is shared with a group, or kept from it.';`);
  }
}
