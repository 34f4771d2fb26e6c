import { Migration } from '@mikro-orm/migrations';

interface Table {
  readonly table: string;
  /** Columns of the key besides the name. */
  readonly within: readonly string[];
  /** The key that it had, and columns of the key that takes its place. */
  readonly former: string;
  readonly key: string;
  /** Longest name. */
  readonly max: number;
}

const perOrganization = (table: string, max: number): Table => ({
  table,
  within: ['organization_id'],
  former: `${table}_organization_id_name_key`,
  key: `${table}_organization_id_name_form_key`,
  max,
});

const tables: readonly Table[] = [
  {
    table: 'organizations',
    within: ['founder_id'],
    former: 'organizations_founder_id_name_key',
    key: 'organizations_founder_id_name_form_key',
    max: 160,
  },
  perOrganization('groups', 160),
  perOrganization('entity_types', 64),
  perOrganization('integrations', 120),
  perOrganization('secrets', 120),
  perOrganization('webhook_endpoints', 120),
  {
    table: 'integration_webhooks',
    within: ['integration_id'],
    former: 'integration_webhooks_integration_id_name_key',
    key: 'integration_webhooks_integration_id_name_form_key',
    max: 120,
  },
  {
    table: 'custom_enum_values',
    within: ['organization_id', 'object_type', 'field'],
    former: 'custom_enum_values_organization_id_object_type_field_name_key',
    key: 'custom_enum_values_organization_id_object_type_fie_29a4c289_key',
    max: 64,
  },
  {
    table: 'saved_views',
    within: ['organization_id', 'owner_id', 'record_kind'],
    former: 'saved_views_organization_id_owner_id_record_kind_name_key',
    key: 'saved_views_organization_id_owner_id_record_kind_name_form_key',
    max: 120,
  },
  {
    table: 'tags',
    within: ['organization_id'],
    former: 'tags_organization_id_lower_name_key',
    key: 'tags_organization_id_name_form_key',
    max: 64,
  },
];

/** As `nameForm` makes it (entities/kit/base/name-form.ts), but for joiners, which stay. */
const createForm = String.raw`create function pg_temp.name_form(name text) returns text language sql immutable as $form$
    select btrim(regexp_replace(normalize(replace(lower(upper(lower(replace(normalize(regexp_replace(name,
        '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0]', '', 'g'), nfd),
        U&'\0131', U&'\E000') collate "und-x-icu"))), U&'\E000', U&'\0131'), nfc),
        '[\s\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'))
  $form$`;

const nameColumns = (columns: readonly string[]) => columns.map((column) => `"${column}"`).join(', ');

/** Of names that look the same, the oldest record keeps it; that of others ends with their id. */
function renameTwins({ table, within, max }: Table): string {
  const renamed = `left(t.name, ${max - 27}) || '-' || t.id`;
  return `update "${table}" t set name = ${renamed}, name_form = pg_temp.name_form(${renamed})
    from (select id, row_number() over (partition by ${nameColumns(within)}, name_form order by id) as place from "${table}"
      where deleted_at is null and ${within.map((column) => `"${column}" is not null`).join(' and ')}) twin
    where twin.id = t.id and twin.place > 1`;
}

/** Names that look the same are one name. */
export class Migration20261127143047NameForms extends Migration {
  readonly locks = Object.fromEntries(
    tables.map(({ table }) => [
      table,
      'an organization has few of them, and the forms must be there when the key is made',
    ]),
  );

  override up(): void {
    this.addSql(createForm);
    for (const each of tables) {
      const { table, within, former, key } = each;
      this.addSql(`drop index "${former}"`);
      this.addSql(`alter table "${table}" add "name_form" text not null default ''`);
      this.addSql(`alter table "${table}" alter column "name_form" drop default`);
      this.addSql(
        `comment on column "${table}"."name_form" is 'Form in which \`name\` is compared with that of others.'`,
      );
      this.addSql(`update "${table}" set name_form = pg_temp.name_form(name)`);
      this.addSql(renameTwins(each));
      this.addSql(
        `create unique index "${key}" on "${table}" (${nameColumns(within)}, "name_form") where deleted_at is null`,
      );
    }
    this.addSql(
      `comment on column "organization_settings"."email_domains" is 'Domains of e-mail addresses that belong to the organization, such as example.com: stored in lower case, and as ASCII (UTS 46). A domain is valid while a DNS record proves it; POST /v1/email-domains/verify shows the record and looks for it.'`,
    );
    this.addSql('drop function pg_temp.name_form(text)');
  }

  override down(): void {
    for (const { table, within, former, key } of tables) {
      this.addSql(`drop index "${key}"`);
      this.addSql(`alter table "${table}" drop column "name_form"`);
      const name = table === 'tags' ? 'lower("name")' : '"name"';
      this.addSql(
        `create unique index "${former}" on "${table}" (${nameColumns(within)}, ${name}) where deleted_at is null`,
      );
    }
    this.addSql(
      `comment on column "organization_settings"."email_domains" is 'Domains of e-mail addresses, in lower case, that belong to the organization. A domain counts while a DNS record proves it; POST /v1/email-domains/verify shows the record and looks for it.'`,
    );
  }
}
