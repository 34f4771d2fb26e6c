import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const tables = [
  // What subscribers are told of: one row for each changed record, while `server.enablegraphsubscriptions` is on. Days are dropped soon.
  // `changed_at` is when the transaction began, by the clock of the database.
  `create table record_changes (
    changed_at timestamptz not null default now(),
    xid xid8 not null default pg_current_xact_id(),
    -- That of the history entry, if there is one.
    id text not null,
    entity_kind text not null,
    entity_id text not null,
    organization_id text,
    -- The only person who may view the record; null if there can be several.
    viewer_id text,
    operation text not null check (operation in ('created', 'updated', 'deleted')),
    record_version integer not null
  ) partition by range (changed_at)`,
  'create index record_changes_xid on record_changes (xid, id)',
  'create index record_changes_time on record_changes (changed_at)',
  'create table record_changes_default partition of record_changes default',
  // Positions in the changes count in the database that they come from.
  'create table change_feed (epoch uuid not null default gen_random_uuid())',
  'insert into change_feed default values',
  'revoke all on record_changes, record_changes_default, change_feed from core_app, core_system',
  'grant select on record_changes, change_feed to core_system',
  'create index caller_changes_xid on caller_changes (xid)',
];

/** With the statement that records the change, so that a create costs no further one. */
const recording: Changes = [
  [
    'perform write_records(doc);',
    `perform write_records(doc);
      if doc ? 'feed' then
        insert into record_changes (id, entity_kind, entity_id, organization_id, viewer_id, operation, record_version)
        select c.id, c.entity_kind, c.entity_id, c.organization_id, c.viewer_id, c.operation, c.record_version
        from jsonb_to_recordset(doc -> 'feed') as c (id text, entity_kind text, entity_id text, organization_id text,
          viewer_id text, operation text, record_version int);
      end if;`,
  ],
];

const counters = `delete from sign_in_failures where last_failed_at < at - interval '1 day';`;

/** A cursor counts for a day, and its changes are kept for that time at least. */
const pruning: Changes = [
  [
    `array['events', 'event_deliveries', 'history']`,
    `array['events', 'event_deliveries', 'history', 'record_changes']`,
  ],
  [
    counters,
    `${counters}
    delete from record_changes_default where changed_at < now() - interval '2 days';
    for child in
      select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
      where p.relname = 'record_changes' and c.relname ~ '_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') + 1 <= now() - interval '1 day'
    loop
      begin
        execute format('drop table %I', child);
      exception when lock_not_available then return;
      end;
    end loop;`,
  ],
];

const maintenance = 'maintain_partitions(timestamptz, interval, interval)';

/** Changes of records for those who subscribe to them. */
export class Migration20261125143500RecordChanges extends Migration {
  readonly locks = { caller_changes: 'it is small: the daily maintenance deletes what was noted before' };

  override up(): void {
    for (const statement of tables) this.addSql(statement);
    this.addSql(changedFunction('write_changes(jsonb)', recording));
    this.addSql(changedFunction(maintenance, pruning));
  }

  override down(): void {
    this.addSql(changedFunction(maintenance, undone(pruning)));
    this.addSql(changedFunction('write_changes(jsonb)', undone(recording)));
    this.addSql('drop index caller_changes_xid');
    this.addSql('drop table change_feed, record_changes');
  }
}
