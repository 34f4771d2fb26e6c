import { Migration } from '@mikro-orm/migrations';

/** What operators do with deliveries of events is kept; those that are not done are found by their time. */
export class Migration20261123150000EventRepairs extends Migration {
  readonly locks = {
    event_deliveries:
      'the index has only what is not done, which is little; concurrently, the index of a partitioned table cannot be made',
  };

  override up(): void {
    this.addSql(`create table event_repairs (
      repair_id text not null,
      operation text not null check (operation in ('retry', 'skip', 'stop')),
      at timestamptz not null,
      -- Which deliveries; null for a repair that is stopped.
      selection jsonb check ((selection is null) = (operation = 'stop')),
      operator text not null,
      reason text not null,
      primary key (repair_id, operation)
    )`);
    this.addSql(`create table repaired_deliveries (
      repair_id text not null,
      -- The event may be gone by now.
      event_id text not null,
      listener text not null,
      primary key (repair_id, event_id, listener)
    )`);
    this.addSql('create index repaired_deliveries_event on repaired_deliveries (event_id)');
    this.addSql('revoke all on event_repairs, repaired_deliveries from core_app, core_system');
    this.addSql('grant select, insert on event_repairs, repaired_deliveries to core_system');
    this.addSql(
      `create index event_deliveries_undone on event_deliveries (occurred_at, event_id, listener) where state <> 'done'`,
    );
  }

  override down(): void {
    this.addSql('drop index event_deliveries_undone');
    this.addSql('drop table repaired_deliveries');
    this.addSql('drop table event_repairs');
  }
}
