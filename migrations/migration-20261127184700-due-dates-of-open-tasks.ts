import { Migration } from '@mikro-orm/migrations';

export class Migration20261127184700DueDatesOfOpenTasks extends Migration {
  readonly locks = { tasks: 'the index is created in a product that is not released' };

  override up(): void {
    this.addSql('drop index "tasks_due_at_index"');
    this.addSql(
      `create index "tasks_due_at_index" on "tasks" ("due_at") where deleted_at is null and completed_at is null`,
    );
  }

  override down(): void {
    this.addSql('drop index "tasks_due_at_index"');
    this.addSql('create index "tasks_due_at_index" on "tasks" ("due_at") where deleted_at is null');
  }
}
