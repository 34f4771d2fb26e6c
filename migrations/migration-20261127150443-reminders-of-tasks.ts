import { Migration } from '@mikro-orm/migrations';

/** Of which due dates people were reminded (entities/kit/outbox/task-reminders.ts). */
export class Migration20261127150443RemindersOfTasks extends Migration {
  readonly locks = {
    email_suppressions: 'it has a row for each address that gets no e-mails',
    tasks: 'the index is built once, from their due dates alone; while that lasts, changes of tasks wait',
  };

  override up(): void {
    this.addSql(`create table task_reminders (
      task_id text not null,
      due_at timestamptz not null,
      stage text not null check (stage in ('due_tomorrow', 'due_today', 'overdue')),
      told_at timestamptz not null,
      primary key (task_id, due_at, stage)
    )`);
    this.addSql('create index task_reminders_age on task_reminders (told_at)');
    this.addSql('revoke all on task_reminders from core_app, core_system');
    this.addSql('grant select, insert, delete on task_reminders to core_system');
    this.addSql(
      `create index "email_suppressions_topic_beginning" on "email_suppressions" (organization_id, (left(matched_form(topic), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(`create index "tasks_due_at_index" on "tasks" ("due_at") where deleted_at is null;`);

    this.addSql(
      `comment on column "subscribers"."is_unsubscribed" is 'Whether the subscription has ended. Only its e-mailed link takes that back; a new subscriber of the same address verifies it again.';`,
    );
  }

  override down(): void {
    this.addSql('drop table task_reminders');
    this.addSql(
      `comment on column "subscribers"."is_unsubscribed" is 'Whether the subscription has ended. Nobody takes that back; a new subscriber of the same address verifies it again.';`,
    );

    this.addSql(`drop index "tasks_due_at_index";`);
    this.addSql('drop index "email_suppressions_topic_beginning"');
  }
}
