import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** Most changes create nothing in an organization or change no tuple: a statement about an empty list costs nearly as much as one about a row. */
const changes: Changes = [
  [
    `select o.id into gone from organizations o
          where o.id in (select jsonb_array_elements_text(doc -> 'created_in'))`,
    `if doc -> 'created_in' <> '[]' then select o.id into gone from organizations o
          where o.id in (select jsonb_array_elements_text(doc -> 'created_in'))`,
  ],
  [
    `gone using errcode = 'CR404';
          end if;`,
    `gone using errcode = 'CR404';
          end if; end if;`,
  ],
  ['insert into desired_tuples as held', `if doc -> 'tuples' <> '[]' then insert into desired_tuples as held`],
  [
    'raises = excluded.raises or (held.raises and held.applied_version < held.version);',
    'raises = excluded.raises or (held.raises and held.applied_version < held.version); end if;',
  ],
];

const writeRecords = 'write_records(jsonb)';

export class Migration20261127011500QuickEmptyLists extends Migration {
  override up(): void {
    this.addSql(changedFunction(writeRecords, changes));
  }

  override down(): void {
    this.addSql(changedFunction(writeRecords, undone(changes)));
  }
}
