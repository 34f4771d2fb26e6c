import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

const signOnCurrent = 'is_sign_on_current(text, text)';

/** Of all memberships that give a person a role in an organization, the one with the strongest. */
const decidingMembership = [
  `create function deciding_membership(wanted_user text, wanted_organization text) returns text
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare chain_ids text[];
  begin
    chain_ids := array(select c.id from organization_chain(wanted_organization) c);
    return (select m.id from memberships m
      where m.user_id = wanted_user and m.deleted_at is null and m.organization_id = any(chain_ids)
      order by array_position(array['owner', 'super_admin', 'admin', 'member', 'auditor'], m.role),
        array_position(chain_ids, m.organization_id), m.id limit 1);
  end $$`,
  'revoke all on function deciding_membership(text, text) from public',
  'grant execute on function deciding_membership(text, text) to core_app, core_system',
];

/** A session of single sign-on is valid while the provider that began it and the membership that let the person in are there. */
const withMembership = [
  `drop function ${signOnCurrent}`,
  `create function is_sign_on_current(wanted_organization text, wanted_revision text, wanted_membership text) returns boolean
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return exists (select 1 from identity_providers p where p.organization_id = wanted_organization
        and p.revision = wanted_revision and p.deleted_at is null)
      and exists (select 1 from memberships m where m.id = wanted_membership and m.deleted_at is null);
  end $$`,
  'revoke all on function is_sign_on_current(text, text, text) from public',
  'grant execute on function is_sign_on_current(text, text, text) to core_app, core_system',
];

const withoutMembership = [
  'drop function is_sign_on_current(text, text, text)',
  `create function is_sign_on_current(wanted_organization text, wanted_revision text) returns boolean
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  begin
    return exists (select 1 from identity_providers p where p.organization_id = wanted_organization
      and p.revision = wanted_revision and p.deleted_at is null);
  end $$`,
  `revoke all on function ${signOnCurrent} from public`,
  `grant execute on function ${signOnCurrent} to core_app, core_system`,
];

/** By function. */
const changed: Readonly<Record<string, Changes>> = {
  'request_context(text, text, text)': [
    ['begun_with text; begun_revision text;', 'begun_with text; begun_revision text; begun_membership text;'],
    [
      'select s.single_sign_on_id, s.single_sign_on_revision into begun_with, begun_revision from',
      'select s.single_sign_on_id, s.single_sign_on_revision, s.single_sign_on_membership_id into begun_with, begun_revision, begun_membership from',
    ],
    [
      'is_sign_on_current(begun_with, begun_revision)',
      'is_sign_on_current(begun_with, begun_revision, begun_membership)',
    ],
  ],
  'token_context(text, text, text, text)': [
    ['found_revisions text[];', 'found_revisions text[]; found_memberships text[];'],
    [
      't.single_sign_on_ids, t.single_sign_on_revisions',
      't.single_sign_on_ids, t.single_sign_on_revisions, t.single_sign_on_membership_ids',
    ],
    ['found_authorized, found_revisions from', 'found_authorized, found_revisions, found_memberships from'],
    [
      'unnest(found_authorized, found_revisions) as a (id, revision)',
      'unnest(found_authorized, found_revisions, found_memberships) as a (id, revision, membership)',
    ],
    ['is_sign_on_current(a.id, a.revision)', 'is_sign_on_current(a.id, a.revision, a.membership)'],
  ],
  'delegation_context(text)': [
    [
      'coalesce(a.is_active and s.is_active and',
      `coalesce(a.is_active and s.is_active
          and exists (select 1 from memberships m where m.id = held.actor_membership_id and m.deleted_at is null)
          and exists (select 1 from memberships m where m.id = held.subject_membership_id and m.deleted_at is null) and`,
    ],
  ],
};

/** What is there goes on with the memberships of today. */
const filled = [
  `update sessions set single_sign_on_membership_id = deciding_membership(user_id, single_sign_on_id)
    where single_sign_on_id is not null and deleted_at is null`,
  `update personal_access_tokens as t set single_sign_on_membership_ids = array(
      select coalesce(deciding_membership(t.user_id, held.id), '') from unnest(t.single_sign_on_ids) with ordinality as held (id, place)
      order by held.place)
    where t.single_sign_on_ids <> '{}' and t.deleted_at is null`,
  `update delegations set actor_membership_id = deciding_membership(actor_id, organization_id),
      subject_membership_id = deciding_membership(subject_id, organization_id)
    where type = 'impersonation' and ended_at is null and expires_at > now()`,
];

/** Columns on which the state of a caller depends, by table: those of before, and those that name memberships. */
const watched = {
  sessions: [
    ['id', 'user_id', 'single_sign_on_id', 'single_sign_on_revision', 'deleted_at'],
    ['single_sign_on_membership_id'],
  ],
  personal_access_tokens: [
    [
      'id',
      'user_id',
      'organization_ids',
      'secret_hash',
      'scopes',
      'expires_at',
      'single_sign_on_ids',
      'single_sign_on_revisions',
      'deleted_at',
    ],
    ['single_sign_on_membership_ids'],
  ],
  delegations: [
    [
      'id',
      'organization_id',
      'type',
      'actor_id',
      'actor_name',
      'subject_id',
      'session_id',
      'consent_id',
      'expires_at',
      'ended_at',
      'deleted_at',
    ],
    ['actor_membership_id', 'subject_membership_id'],
  ],
} as const;

/** The triggers that note a change of one of the columns. */
function noteChanges(columnsOf: (columns: readonly (readonly string[])[]) => readonly string[]): string[] {
  return Object.entries(watched).flatMap(([table, columns]) => {
    const row = (side: string) =>
      `(${columnsOf(columns)
        .map((column) => `${side}.${column}`)
        .join(', ')})`;
    return [
      `drop trigger note_update on ${table}`,
      `create trigger note_update after update on ${table} for each row
        when (${row('old')} is distinct from ${row('new')}) execute function note_caller_change('id')`,
    ];
  });
}

/** What hangs on a membership names it: a person who is removed and admitted again begins anew. */
export class Migration20261127143120MembershipsEndWhatHangsOnThem extends Migration {
  override up(): void | Promise<void> {
    this.addSql(
      `alter table "delegations" add "actor_membership_id" text null, add "subject_membership_id" text null;`,
    );
    this.addSql(
      `comment on column "delegations"."actor_membership_id" is 'Id of the membership that gives the person who acts the role for it: the access ends with it; null for support.';`,
    );
    this.addSql(
      `comment on column "delegations"."subject_membership_id" is 'The same of the member as whom the person acts.';`,
    );

    this.addSql(`alter table "sessions" add "single_sign_on_membership_id" text null;`);
    this.addSql(
      `comment on column "sessions"."single_sign_on_membership_id" is 'Id of the membership with which the single sign-on let the person in: the session ends with it; null for other ways to sign in.';`,
    );

    this.addSql(
      `alter table "personal_access_tokens" add "single_sign_on_membership_ids" text[] not null default '{}';`,
    );
    this.addSql(`alter table "personal_access_tokens" alter column "single_sign_on_membership_ids" drop default;`);
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_membership_ids" is 'Id of the membership with which the owner was there at that time, of each.';`,
    );
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token counts although single sign-on is enforced: its owner has authorized it in a session of their single sign-on. Each is valid until the provider of the organization changes, or the membership of the owner ends.';`,
    );
    for (const statement of [...decidingMembership, ...withMembership]) this.addSql(statement);
    for (const [signature, changes] of Object.entries(changed)) this.addSql(changedFunction(signature, changes));
    for (const statement of [...filled, ...noteChanges((columns) => columns.flat())]) this.addSql(statement);
  }

  override down(): void | Promise<void> {
    for (const [signature, changes] of Object.entries(changed))
      this.addSql(changedFunction(signature, undone(changes)));
    for (const statement of [...noteChanges(([before = []]) => before), ...withoutMembership]) this.addSql(statement);
    this.addSql('drop function deciding_membership(text, text)');
    this.addSql(`alter table "delegations" drop column "actor_membership_id", drop column "subject_membership_id";`);

    this.addSql(`alter table "personal_access_tokens" drop column "single_sign_on_membership_ids";`);
    this.addSql(
      `comment on column "personal_access_tokens"."single_sign_on_ids" is 'Ids of the organizations in which, and in whose parts, the token counts although single sign-on is enforced: its owner has authorized it in a session of their single sign-on. Each counts until the provider of the organization changes.';`,
    );

    this.addSql(`alter table "sessions" drop column "single_sign_on_membership_id";`);
  }
}
