import { Migration } from '@mikro-orm/migrations';

const tables = { email: 'emails', account_email: 'account_emails' };

/** The history holds the fields of a record by name. */
function renamed(from: string, to: string): string[] {
  return [
    ...Object.values(tables).flatMap((table) => [
      `alter table "${table}" rename column "${from}" to "${to}"`,
      `alter table "${table}" rename constraint "${table}_${from}_check" to "${table}_${to}_check"`,
    ]),
    `alter index "emails_organization_id_${from}_id_index" rename to "emails_organization_id_${to}_id_index"`,
    ...Object.keys(tables).map(
      (topic) => `update history set changed_fields = array_replace(changed_fields, '${from}', '${to}'),
        snapshot = (snapshot - '${from}') || jsonb_build_object('${to}', snapshot -> '${from}')
      where entity_kind = '${topic}' and jsonb_exists(snapshot, '${from}')`,
    ),
  ];
}

/** Before and after. */
const comments = Object.entries({
  '"integrations"."status"': ['State of the connection.', 'Status of the connection.'],
  '"organization_removals"."status"': ['How far the removal is.', 'Status of the removal.'],
});

/** What the API calls status was `state` in e-mails alone. */
export class Migration20261127140900OneWordForStatus extends Migration {
  readonly locks = { history: 'only rows of e-mails are changed, which nobody else changes' };

  override up(): void {
    for (const statement of renamed('state', 'status')) this.addSql(statement);
    for (const [column, [, comment]] of comments) this.addSql(`comment on column ${column} is '${comment}';`);
  }

  override down(): void {
    for (const statement of renamed('status', 'state')) this.addSql(statement);
    for (const [column, [comment]] of comments) this.addSql(`comment on column ${column} is '${comment}';`);
  }
}
