import { Migration } from '@mikro-orm/migrations';

const comments: readonly (readonly [target: string, before: string, after: string])[] = [
  [
    'table "notes"',
    'Comment on a record.',
    'Comment on a task or in a discussion. Without either it is a note of its own, which only its author and the owners of the organization see.',
  ],
  [
    'column "notes"."task_id"',
    'Task that the note comments on.',
    'Task that the note comments on; who may view the task may view the note.',
  ],
  [
    'column "notes"."discussion_id"',
    'Discussion that the note is part of.',
    'Discussion that the note is part of; who may view it may view the note.',
  ],
];

/** Roles that come from organizations above count for what belongs to a person, too, so the statements of changes read them. */
export class Migration20261123172300InheritedRoles extends Migration {
  override up(): void | Promise<void> {
    this.addSql('grant execute on function organization_chain(text) to core_app, core_system');
    for (const [target, , after] of comments) this.addSql(`comment on ${target} is '${after}'`);
  }

  override down(): void | Promise<void> {
    for (const [target, before] of comments) this.addSql(`comment on ${target} is '${before}'`);
    this.addSql('revoke execute on function organization_chain(text) from core_app, core_system');
  }
}
