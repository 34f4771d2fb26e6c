import { Migration } from '@mikro-orm/migrations';

export class Migration20261129103900PeopleAddedToApprovals extends Migration {
  readonly locks = { workflow_assignments: 'No release has the workflow engine yet, so the table is small.' };

  override up(): void | Promise<void> {
    this.addSql(`alter table "workflow_assignments" add "is_added" boolean not null default false;`);
    this.addSql(`update "workflow_assignments" set "is_added" = true where "source" = 'escalated';`);
    this.addSql(`alter table "workflow_assignments" alter column "is_added" drop default;`);
    this.addSql(
      `comment on column "workflow_assignments"."is_added" is 'Whether the person was added because nobody else could decide or decided in time, or decides in the place of such a person. They can approve in the place of others, and do not raise the number that is needed while there are others.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "workflow_assignments" drop column "is_added";`);
  }
}
