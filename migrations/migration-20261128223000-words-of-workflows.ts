import { Migration } from '@mikro-orm/migrations';

/** Kinds whose proposals have the same fields. */
const proposed = [
  'api_token',
  'file',
  'group_membership',
  'identity_provider',
  'membership',
  'organization_setting',
  'task',
  'webhook_endpoint',
];

const ofProposals = [
  {
    column: 'status',
    before: 'Status.',
    after:
      'draft: not submitted yet. submitted: people decide. applied: approved and written. rejected: rejected, or approved and refused when it was written; reason has the cause. withdrawn: withdrawn by its submitter.',
  },
  {
    column: 'reason_code',
    before: 'Code of the error with which an approved change was refused, or of the end.',
    after:
      'Code of the end, such as rejected, overdue, out_of_reach (too few people can decide), cancelled or forced, or the code of the error with which an approved change was refused.',
  },
] as const;

const comments = [
  {
    table: 'workflow_instances',
    column: 'status',
    before: 'Status.',
    after:
      'waiting: for decisions of people. failing: an action has failed and is tried again; reason has the error. completed, rejected and cancelled are ends.',
  },
  { table: 'workflow_events', column: 'type', before: 'Sort of the step.', after: 'Type of the step.' },
  {
    table: 'workflow_assignments',
    column: 'source',
    before: 'Why this person is asked.',
    after:
      'Reason why this person is asked: the definition names them (target), nobody else could decide or decided in time (escalated), or the assignment was delegated or reassigned to them.',
  },
  {
    table: 'workflow_assignments',
    column: 'status',
    before: 'Status.',
    after:
      'pending: the person has not decided yet. cancelled: the decision is not needed any more, or the person may not take it any more.',
  },
  ...proposed.flatMap((kind) => ofProposals.map((comment) => ({ table: `${kind}_proposals`, ...comment }))),
];

export class Migration20261128223000WordsOfWorkflows extends Migration {
  override up(): void {
    for (const { table, column, after } of comments)
      this.addSql(`comment on column "${table}"."${column}" is '${after}';`);
  }

  override down(): void {
    for (const { table, column, before } of comments)
      this.addSql(`comment on column "${table}"."${column}" is '${before}';`);
  }
}
