import { Migration } from '@mikro-orm/migrations';

const states: Readonly<Record<string, readonly string[]>> = {
  notification_sendings: ['due', 'sent', 'collected', 'dropped'],
  notification_digests: ['claimed', 'sent', 'empty'],
};

/** Every row of before is in one of the states, so none is read for it. */
const statesOf = (table: string, more: readonly string[]) => [
  `alter table ${table} drop constraint ${table}_state_check`,
  `alter table ${table} add constraint ${table}_state_check
     check (state in (${[...(states[table] ?? []), ...more].map((state) => `'${state}'`).join(', ')})) not valid`,
];

/** A message that no worker can send is set aside with its reason; what has waited for a year is found by its age. */
export class Migration20261123210100FailedSendings extends Migration {
  readonly locks = {
    notification_sendings: 'the index has only what waits; while it is built, workers wait to add what people are told',
  };

  override up(): void {
    for (const table of Object.keys(states)) {
      this.addSql(`alter table ${table} add column error text`);
      for (const statement of statesOf(table, ['failed'])) this.addSql(statement);
    }
    this.addSql(`create index notification_sendings_waiting on notification_sendings (told_at) where state = 'due'`);
  }

  override down(): void {
    this.addSql('drop index notification_sendings_waiting');
    this.addSql(`update notification_sendings set state = 'dropped' where state = 'failed'`);
    this.addSql(`update notification_digests set state = 'empty' where state = 'failed'`);
    for (const table of Object.keys(states)) {
      for (const statement of statesOf(table, [])) this.addSql(statement);
      this.addSql(`alter table ${table} drop column error`);
    }
  }
}
