import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** The rows are locked, so this sees every verdict on the object that was written before. One without a time comes from an older process. */
const changes: Changes = [
  [
    'update stored_objects s set verdict = v.verdict',
    `update stored_objects s set verdict = case when s.verdict > v.verdict and v.last <= (select max(f.created_at) from file_verdicts f
          where f.organization_id = v.organization and f.object_id = v.object and f.id <> all(v.ids)) then s.verdict else v.verdict end`,
  ],
  [
    `from (select object, organization, max(verdict) as verdict
          from jsonb_to_recordset(doc -> 'verdicts') as given (object text, organization text, verdict text) group by object, organization) as v`,
    `from (select object, organization, max(verdict) as verdict, max("at") as last, array_agg(id) as ids
          from jsonb_to_recordset(doc -> 'verdicts') as given (id text, object text, organization text, verdict text, "at" timestamptz) group by object, organization) as v`,
  ],
];

/** Of verdicts that overtake each other the worse one counts, as in one request. */
export class Migration20261123040600CrossingVerdicts extends Migration {
  override up(): void | Promise<void> {
    this.addSql(changedFunction('write_records(jsonb)', changes));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('write_records(jsonb)', undone(changes)));
  }
}
