import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

/** A new id with the time of another one: digits and letters A to F are digits of an id. */
const idLike = (id: string) => `left(${id}, 10) || upper(substr(md5(gen_random_uuid()::text), 1, 16))`;

/** As `displayIdOf` makes it. */
const displayId = (prefix: string, id: string) =>
  `'${prefix}-' || (select string_agg(substr('ABCDEFGHIJKLMNOPQRSTUVWXYZ234567', (get_byte(sha256(convert_to(${id}, 'UTF8')), n) & 31) + 1, 1), '' order by n) from generate_series(0, 7) as n)`;

const common = 'created_at, updated_at, created_by, updated_by, record_version';
const now = `now(), now(), 'system:migration', 'system:migration', 1`;
const isNew = `r.created_by = 'system:migration' and r.created_at = now()`;

/** What is recorded about new rows. @param fields SQL by the name of the field */
function recorded(
  kind: string,
  table: string,
  fields: Readonly<Record<string, string>>,
  organization = 'r.organization_id',
): string[] {
  const given = Object.entries(fields).filter(([, value]) => value !== 'null');
  const changed = `array[${given.map(([name]) => `'${name}'`).join(', ')}]`;
  const snapshot = `jsonb_build_object(${Object.entries(fields)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')})`;
  return [
    `insert into record_kinds (id, kind, organization_id) select r.id, '${kind}', ${organization} from ${table} r where ${isNew}`,
    `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields, snapshot, actor, request_id)
      select ${idLike('r.id')}, now(), '${kind}', r.id, ${organization}, 'created', 1, ${changed}, ${snapshot}, 'system:migration', 'migration-organizations-and-people'
      from ${table} r where ${isNew}`,
    `insert into events (id, occurred_at, topic, entity_kind, entity_id, record_version, organization_id, actor, request_id, payload, pending)
      select ${idLike('r.id')}, now(), '${kind}.created', '${kind}', r.id, 1, ${organization}, 'system:migration', 'migration-organizations-and-people', jsonb_build_object('changed', to_jsonb(${changed})), false
      from ${table} r where ${isNew}`,
  ];
}

/** Organizations of earlier releases get what new ones are created with; entity types are for new ones alone. */
const fill = [
  // A group that somebody called so already keeps its name.
  `insert into groups (id, ${common}, organization_id, display_id, name, description, managed_as)
    select made.id, ${now}, made.organization_id, ${displayId('GRP', 'made.id')},
      case when exists (select 1 from groups g where g.organization_id = made.organization_id and g.name = made.name and g.deleted_at is null)
        then made.name || ' (' || right(made.id, 8) || ')' else made.name end, made.description, made.managed_as
    from (select ${idLike('o.id')} as id, o.id as organization_id, managed.*
      from organizations o cross join (values ('admins', 'Admins', 'Everybody who manages the organization.'),
        ('viewers', 'Viewers', 'Everybody who does not manage the organization.'),
        ('all_members', 'All Members', 'Everybody in the organization.')) as managed (managed_as, name, description)
      where o.deleted_at is null and not o.is_personal) as made`,
  ...recorded('group', 'groups', {
    displayId: 'r.display_id',
    name: 'r.name',
    displayName: 'null',
    description: 'r.description',
    managedAs: 'r.managed_as',
  }),
  `insert into group_settings (id, ${common}, organization_id, group_id, visibility, join_policy)
    select ${idLike('r.id')}, ${now}, r.organization_id, r.id, 'public', 'invite_only' from groups r where ${isNew}`,
  ...recorded('group_setting', 'group_settings', {
    groupId: 'r.group_id',
    visibility: 'r.visibility',
    joinPolicy: 'r.join_policy',
  }),
  `insert into group_memberships (id, ${common}, organization_id, group_id, user_id, role)
    select ${idLike('m.id')}, ${now}, m.organization_id, r.id, m.user_id, 'member'
    from groups r join memberships m on m.organization_id = r.organization_id and m.deleted_at is null
    where ${isNew} and r.managed_as in ('all_members', case when m.role in ('owner', 'super_admin', 'admin') then 'admins' else 'viewers' end)`,
  ...recorded('group_membership', 'group_memberships', { groupId: 'r.group_id', userId: 'r.user_id', role: 'r.role' }),
  `insert into organization_settings (id, ${common}, organization_id, billing_email, timezone, requires_second_factor, files_need_verdict, email_domains, admits_email_domains)
    select ${idLike('o.id')}, ${now}, o.id, null, 'UTC', false, false, '{}', false from organizations o
    where o.deleted_at is null and not exists (select 1 from organization_settings s where s.organization_id = o.id and s.deleted_at is null)`,
  ...recorded('organization_setting', 'organization_settings', {
    billingEmail: 'null',
    timezone: 'r.timezone',
    requiresSecondFactor: 'r.requires_second_factor',
    filesNeedVerdict: 'r.files_need_verdict',
    emailDomains: 'r.email_domains',
    admitsEmailDomains: 'r.admits_email_domains',
  }),
  `insert into user_settings (id, ${common}, user_id, locale, color_scheme)
    select ${idLike('u.id')}, ${now}, u.id, 'en', 'system' from users u where u.deleted_at is null`,
  ...recorded(
    'user_setting',
    'user_settings',
    { timezone: 'null', locale: 'r.locale', colorScheme: 'r.color_scheme' },
    'null::text',
  ),
  `insert into desired_tuples (object, relation, subject, organization_id, present, raises)
    select 'group:' || r.group_id, 'viewer', 'organization:' || r.organization_id || '#participant', r.organization_id, true, false
    from group_settings r where ${isNew}
    union all select 'group:' || r.group_id, 'member', 'user:' || r.user_id, r.organization_id, true, false
    from group_memberships r where ${isNew}
    union all select 'group_membership:' || r.id, 'subject', 'user:' || r.user_id, r.organization_id, true, false
    from group_memberships r where ${isNew}`,
  `do $raise$ begin
    perform raise_revisions(array(select distinct r.organization_id from group_memberships r where ${isNew}));
  end $raise$`,
];

/** Down, the groups stay: to the release before this one they are groups like others. */
const refuseArchived: Changes = [
  [
    `insert into record_kinds (id, kind, organization_id)`,
    `if doc ? 'changed_in' then
      select o.id into gone from organizations o
        where o.id in (select jsonb_array_elements_text(doc -> 'changed_in')) and o.is_archived limit 1;
      if gone is not null then
        raise exception 'The organization is archived, so nothing in it can be changed. Its managers can take that back (isArchived).' using errcode = 'CR409';
      end if;
    end if;
    insert into record_kinds (id, kind, organization_id)`,
  ],
];

export class Migration20261123064500OrganizationsAndPeople extends Migration {
  override up(): void | Promise<void> {
    this.#changeTables();
    this.addSql(changedFunction('write_records(jsonb)', refuseArchived));
    for (const statement of fill) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction('write_records(jsonb)', undone(refuseArchived)));
    this.addSql(`alter table "groups" drop column "managed_as";`);
    this.addSql(`alter table "organizations" drop column "is_archived";`);
    this.addSql(`alter table "organization_settings" drop column "email_domains", drop column "admits_email_domains";`);
    for (const table of ['user_settings', 'onboardings', 'organization_removals'])
      this.addSql(`drop table if exists "${table}" cascade;`);
  }

  #changeTables(): void {
    this.addSql(
      `create table "user_settings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "timezone" text null, "locale" text not null, "color_scheme" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "user_settings" is 'How a person wants to work; created together with the account. Name and picture are those of the user, and the organization in which sign-ins begin is set with PUT /v1/account/default-organization.';`,
    );
    this.addSql(
      `comment on column "user_settings"."timezone" is 'IANA time zone of the person, for example Europe/Berlin; null for that of the organization.';`,
    );
    this.addSql(
      `comment on column "user_settings"."locale" is 'Language, and region if it matters (BCP 47), for example en or pt-BR.';`,
    );
    this.addSql(`comment on column "user_settings"."color_scheme" is 'Colours of the user interface.';`);
    this.addSql(`create index "user_settings_user_id_index" on "user_settings" ("user_id");`);
    this.addSql(
      `create unique index "user_settings_user_id_key" on "user_settings" ("user_id") where deleted_at is null;`,
    );
    this.addSql(
      `alter table "user_settings" add constraint "user_settings_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(
      `alter table "user_settings" add constraint "user_settings_color_scheme_check" check (color_scheme in ('system', 'light', 'dark'));`,
    );
    this.addSql(`alter table "user_settings" enable row level security;`);
    this.addSql(
      `create policy "user_settings_app" on "user_settings" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "user_settings_system" on "user_settings" to "core_system" using (true) with check (true);`,
    );
    this.addSql(
      `create table "onboardings" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "user_id" text not null, "company_name" text not null, "domains" text[] not null, "company_details" jsonb null, "user_details" jsonb null, "compliance" jsonb null, "created_organization_id" text not null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "onboardings" is 'Answers of a person to the questions at the beginning. Giving them creates an organization, of which the person is the owner.';`,
    );
    this.addSql(
      `comment on column "onboardings"."company_name" is 'Name of the company, and of the organization unless the person has one of that name.';`,
    );
    this.addSql(
      `comment on column "onboardings"."domains" is 'E-mail domains of the company; they become those of the settings of the organization.';`,
    );
    this.addSql(
      `comment on column "onboardings"."company_details" is 'About the company, for example its size and sector.';`,
    );
    this.addSql(`comment on column "onboardings"."user_details" is 'About the person, for example their position.';`);
    this.addSql(
      `comment on column "onboardings"."compliance" is 'What the company wants to comply with, and how far it is.';`,
    );
    this.addSql(
      `comment on column "onboardings"."created_organization_id" is 'Id of the organization that was created.';`,
    );
    this.addSql(`create index "onboardings_user_id_index" on "onboardings" ("user_id");`);
    this.addSql(
      `alter table "onboardings" add constraint "onboardings_user_id_foreign" foreign key ("user_id") references "users" ("id") on update no action on delete restrict;`,
    );
    this.addSql(`alter table "onboardings" enable row level security;`);
    this.addSql(
      `create policy "onboardings_app" on "onboardings" to "core_app" using (user_id = current_setting('core.user_id', true)) with check (user_id = current_setting('core.user_id', true));`,
    );
    this.addSql(`create policy "onboardings_system" on "onboardings" to "core_system" using (true) with check (true);`);
    this.addSql(
      `create table "organization_removals" ("id" text not null, "created_at" timestamptz not null, "updated_at" timestamptz not null, "created_by" text not null, "updated_by" text not null, "record_version" integer not null, "deleted_at" timestamptz null, "deleted_by" text null, "organization_name" text not null, "removed_organization_id" text not null, "requester_id" text null, "status" text not null, "total_records" bigint null, "removed_records" bigint not null, "completed_at" timestamptz null, primary key ("id"));`,
    );
    this.addSql(
      `comment on table "organization_removals" is 'Removal of the contents of a deleted organization. Nobody reaches them from its deletion on; the server removes them afterwards.';`,
    );
    this.addSql(`comment on column "organization_removals"."organization_name" is 'Name that the organization had.';`);
    this.addSql(`comment on column "organization_removals"."removed_organization_id" is 'Id that it had.';`);
    this.addSql(
      `comment on column "organization_removals"."requester_id" is 'Id of the person who deleted it; null if the server did.';`,
    );
    this.addSql(`comment on column "organization_removals"."status" is 'How far the removal is.';`);
    this.addSql(
      `comment on column "organization_removals"."total_records" is 'Number of records to remove; null until the removal has begun.';`,
    );
    this.addSql(
      `comment on column "organization_removals"."removed_records" is 'Number of records that are removed.';`,
    );
    this.addSql(`comment on column "organization_removals"."completed_at" is 'When the last record was removed.';`);
    this.addSql(
      `create index "organization_removals_requester_id_index" on "organization_removals" ("requester_id") where deleted_at is null;`,
    );
    this.addSql(
      `create unique index "organization_removals_removed_organization_id_key" on "organization_removals" ("removed_organization_id") where deleted_at is null;`,
    );
    this.addSql(
      `alter table "organization_removals" add constraint "organization_removals_status_check" check (status in ('pending', 'running', 'completed'));`,
    );
    this.addSql(`alter table "organization_removals" enable row level security;`);
    this.addSql(
      `create policy "organization_removals_app" on "organization_removals" to "core_app" using (requester_id = current_setting('core.user_id', true)) with check (requester_id = current_setting('core.user_id', true));`,
    );
    this.addSql(
      `create policy "organization_removals_system" on "organization_removals" to "core_system" using (true) with check (true);`,
    );
    this.addSql(`alter table "groups" add "managed_as" text null;`);
    this.addSql(
      `comment on column "groups"."managed_as" is 'What the members of a managed group have in common: everybody with a role that manages the organization (admins), everybody with another role (viewers), or everybody (all_members). Its members follow their roles, and nobody changes or deletes it. Null for other groups.';`,
    );
    this.addSql(
      `alter table "groups" add constraint "groups_managed_as_check" check (managed_as in ('admins', 'viewers', 'all_members'));`,
    );
    this.addSql(
      `create unique index "groups_organization_id_managed_as_key" on "groups" ("organization_id", "managed_as") where deleted_at is null;`,
    );
    this.addSql(`alter table "organizations" add "is_archived" boolean not null default false;`);
    this.addSql(`alter table "organizations" alter column "is_archived" drop default;`);
    this.addSql(
      `comment on column "organizations"."is_archived" is 'Whether nothing in the organization can be changed until this is taken back. People can leave it, and what admits people or programs can be deleted.';`,
    );
    this.addSql(`alter table "organization_settings" add "email_domains" text[] not null default '{}';`);
    this.addSql(`alter table "organization_settings" alter column "email_domains" drop default;`);
    this.addSql(`alter table "organization_settings" add "admits_email_domains" boolean not null default false;`);
    this.addSql(`alter table "organization_settings" alter column "admits_email_domains" drop default;`);
    this.addSql(
      `comment on column "organization_settings"."email_domains" is 'Domains of e-mail addresses, in lower case, that belong to the organization. A domain counts while a DNS record proves it; POST /v1/email-domains/verify shows the record and looks for it.';`,
    );
    this.addSql(
      `comment on column "organization_settings"."admits_email_domains" is 'Whether people become members, with the role member, when they confirm an address of one of these domains. Nobody does who has been a member before, or while single sign-on is enforced.';`,
    );
  }
}
