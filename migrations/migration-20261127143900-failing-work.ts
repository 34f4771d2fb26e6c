import { Migration } from '@mikro-orm/migrations';

/** Activities that keep failing and workflows that failed, so that one list shows them (entities/kit/outbox/failing-work.ts). */
export class Migration20261127143900FailingWork extends Migration {
  readonly locks = { notification_sendings: 'the index has only what was given up, which is little' };

  override up(): void {
    this.addSql(`create table failing_work (
      id text primary key,
      -- The workflow, without the time of a run of a schedule, and the activity, if one fails: what fails again has the same row.
      key text not null unique,
      kind text not null,
      workflow_id text not null,
      run_id text not null,
      workflow_type text not null,
      activity text,
      organization_id text,
      record_id text,
      request_id text,
      status text not null check (status in ('failing', 'failed')),
      attempts int,
      error text not null,
      since timestamptz not null,
      next_attempt_at timestamptz,
      updated_at timestamptz not null,
      -- When it was compared with its workflow.
      looked_at timestamptz not null,
      -- When it succeeded, or an operator retried or stopped it.
      ended_at timestamptz
    )`);
    this.addSql('create index failing_work_now on failing_work (looked_at) where ended_at is null');
    this.addSql('create index failing_work_ended on failing_work (ended_at) where ended_at is not null');
    this.addSql('revoke all on failing_work from core_app, core_system');
    this.addSql('grant select, insert, update, delete on failing_work to core_system');
    this.addSql(`create index notification_sendings_failed on notification_sendings (told_at) where state = 'failed'`);
    this.addSql('create index webhook_queues_failing on webhook_queues (failing_since) where failures >= 5');
  }

  override down(): void {
    this.addSql('drop index webhook_queues_failing');
    this.addSql('drop index notification_sendings_failed');
    this.addSql('drop table failing_work');
  }
}
