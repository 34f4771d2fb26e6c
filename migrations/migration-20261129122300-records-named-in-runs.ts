import { Migration } from '@mikro-orm/migrations';

const comments = [
  {
    column: 'filtered_records',
    before:
      'Number of records that were left out: by a filter, because a later one has the same id, or because their account or group was left out.',
    after:
      'Number of records that were left out: by a filter, because an earlier one of the run has the same id, or because their account or group was left out.',
  },
  {
    column: 'failures',
    before:
      'The first hundred records that could not be taken over, each with its id at the other system and the reason.',
    after:
      'The first hundred records that could not be taken over, or repeat the id of an earlier one, each with its id at the other system and the reason.',
  },
] as const;

export class Migration20261129122300RecordsNamedInRuns extends Migration {
  override up(): void | Promise<void> {
    for (const { column, after } of comments)
      this.addSql(`comment on column "integration_runs"."${column}" is '${after}';`);
  }

  override down(): void | Promise<void> {
    for (const { column, before } of comments)
      this.addSql(`comment on column "integration_runs"."${column}" is '${before}';`);
  }
}
