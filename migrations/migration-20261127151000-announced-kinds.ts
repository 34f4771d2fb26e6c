import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const written: Changes = [
  ['occurred_at, payload, state, due_at, updated_at)', 'occurred_at, payload, state, due_at, updated_at, actor)'],
  ["case w.status when 'enabled' then e.at end, e.at", "case w.status when 'enabled' then e.at end, e.at, e.actor"],
  ['select w.id, e.id, e.organization_id, e.topic', 'select w.id, e.id, w.organization_id, e.topic'],
  [
    'record_version int, organization_id text, request_id text, payload jsonb)',
    'record_version int, organization_id text, request_id text, payload jsonb, actor text, concerns text[], concerns_member text)',
  ],
  [
    'join webhook_endpoints w on w.organization_id = e.organization_id and w.deleted_at is null',
    `cross join lateral (
            select e.organization_id as id union select unnest(e.concerns)
            union select m.organization_id from memberships m where m.user_id = e.concerns_member and m.deleted_at is null
          ) as concerned
          join webhook_endpoints w on w.organization_id = concerned.id and w.deleted_at is null`,
  ],
];

/** Events of a person's sessions and tokens become messages to the endpoints of the organizations that they concern. */
export class Migration20261127151000AnnouncedKinds extends Migration {
  override up(): void {
    // Who has caused the event. Those of before are sent within days.
    this.addSql(`alter table webhook_messages add column actor text not null default 'system'`);
    this.addSql(changedFunction('write_changes(jsonb)', written));
  }

  override down(): void {
    this.addSql(changedFunction('write_changes(jsonb)', undone(written)));
    this.addSql('alter table webhook_messages drop column actor');
  }
}
