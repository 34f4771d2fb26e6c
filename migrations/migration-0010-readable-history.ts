import { Migration } from '@mikro-orm/migrations';

const makesPartition = `execute format('create table %I partition of %I for values from (%L) to (%L)', child, parent, day, day + 1);`;
const keepsItsOwn = `${makesPartition} execute format('revoke all on %I from core_app, core_system', child);`;

/**
 * Callers read the history of what they may see. The wall stands on the table of all entries, so nobody but the owner may reach
 * its partitions by their own names.
 */
export class Migration0010ReadableHistory extends Migration {
  override up(): void {
    this.addSql('alter table history enable row level security');
    this.addSql(
      `create policy history_app on history for select to core_app using (
        organization_id = current_setting('core.organization_id', true)
        or (entity_kind = 'user' and entity_id = current_setting('core.user_id', true))
        or (entity_kind = 'organization' and exists (select 1 from memberships m where m.organization_id = entity_id
          and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)))`,
    );
    this.addSql('create policy history_system on history to core_system using (true) with check (true)');
    this.addSql('grant select on history to core_app');
    this.addSql(rewritten(makesPartition, keepsItsOwn));
    this.addSql(`do $$
    declare child regclass;
    begin
      for child in select i.inhrelid from pg_inherits i
        where i.inhparent in ('history'::regclass, 'events'::regclass, 'event_deliveries'::regclass)
      loop
        execute format('revoke all on %s from core_app, core_system', child);
      end loop;
    end $$`);
  }

  override down(): void {
    this.addSql(rewritten(keepsItsOwn, makesPartition));
    this.addSql('revoke select on history from core_app');
    this.addSql('drop policy history_system on history');
    this.addSql('drop policy history_app on history');
    this.addSql('alter table history disable row level security');
  }
}

/** One line of the function that makes partitions; the rest stays as it is. */
function rewritten(from: string, to: string): string {
  return `do $rewrite$
    declare source text := pg_get_functiondef('maintain_partitions(timestamptz, interval, interval)'::regprocedure);
    begin
      if position($line$${from}$line$ in source) = 0 then
        raise exception 'maintain_partitions is not the function that this migration changes';
      end if;
      execute replace(source, $line$${from}$line$, $line$${to}$line$);
    end $rewrite$`;
}
