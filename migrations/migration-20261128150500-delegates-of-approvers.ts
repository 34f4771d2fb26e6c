import { Migration } from '@mikro-orm/migrations';

export class Migration20261128150500DelegatesOfApprovers extends Migration {
  readonly locks = { workflow_assignments: 'No release has the workflow engine yet, so the table is empty.' };

  override up(): void | Promise<void> {
    this.addSql(`alter table "workflow_assignments" add "on_behalf_of_id" text null;`);
    this.addSql(
      `comment on column "workflow_assignments"."on_behalf_of_id" is 'Person in whose place a delegate decides: both together are one decision.';`,
    );
    this.addSql(
      `alter table "workflow_assignments" add constraint "workflow_assignments_on_behalf_of_id_foreign" foreign key ("on_behalf_of_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `create index "workflow_assignments_on_behalf_of_id_index" on "workflow_assignments" ("on_behalf_of_id") where on_behalf_of_id is not null;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "workflow_assignments" drop constraint "workflow_assignments_on_behalf_of_id_foreign";`);
    this.addSql(`drop index "workflow_assignments_on_behalf_of_id_index";`);
    this.addSql(`alter table "workflow_assignments" drop column "on_behalf_of_id";`);
  }
}
