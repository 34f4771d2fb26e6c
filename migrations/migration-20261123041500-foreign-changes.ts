import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const many = 'exists (select 1 from caller_changes offset 1000)';

/** A row that is visible, and whose transaction has not begun yet by the snapshot, has its id from another server. */
const foreign = 'exists (select 1 from caller_changes where xid >= pg_snapshot_xmax(pg_current_snapshot()))';
const pruning: Changes = [[many, `${many} or ${foreign}`]];

const maintenance = 'maintain_partitions(timestamptz, interval, interval)';

/** Noted changes of callers that a restored dump brought along are removed: with ids of transactions yet to come, they count for every state. */
export class Migration20261123041500ForeignChanges extends Migration {
  override up(): void | Promise<void> {
    this.addSql(changedFunction(maintenance, pruning));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction(maintenance, undone(pruning)));
  }
}
