import { Migration } from '@mikro-orm/migrations';
import { changedFunction, undone, type Changes } from './changed-function.ts';

interface Watched {
  /** Column with the id of whom a row concerns. */
  readonly scope: string;
  /** Columns that the state of a caller depends on. */
  readonly columns: readonly string[];
  /** Which rows concern callers; left out for all. @param row `old` or `new` */
  readonly condition?: (row: string) => string;
}

/** Relations that roles stand for: memberships tell them. */
const roles = "('owner', 'super_admin', 'admin', 'member', 'auditor')";

/** What `request_context`, `token_context`, `delegation_context` and the functions that they call read. */
const watched: Readonly<Record<string, Watched>> = {
  users: { scope: 'id', columns: ['id', 'status', 'deleted_at'] },
  sessions: {
    scope: 'id',
    columns: ['id', 'user_id', 'single_sign_on_id', 'single_sign_on_revision', 'deleted_at'],
  },
  memberships: {
    scope: 'user_id',
    columns: ['id', 'user_id', 'organization_id', 'role', 'created_at', 'deleted_at'],
  },
  group_memberships: { scope: 'user_id', columns: ['user_id', 'group_id', 'organization_id', 'deleted_at'] },
  desired_tuples: {
    scope: 'object',
    columns: ['object', 'relation', 'subject', 'present'],
    condition: (row) => `${row}.object like 'organization:%' and ${row}.relation not in ${roles}`,
  },
  organizations: { scope: 'id', columns: ['id', 'parent_id', 'deleted_at'] },
  organization_modules: { scope: 'organization_id', columns: ['organization_id', 'module', 'deleted_at'] },
  organization_settings: {
    scope: 'organization_id',
    columns: ['organization_id', 'requires_second_factor', 'deleted_at'],
  },
  identity_providers: {
    scope: 'organization_id',
    columns: ['organization_id', 'revision', 'is_enforced', 'deleted_at'],
  },
  second_factors: { scope: 'user_id', columns: ['user_id', 'confirmed_at', 'deleted_at'] },
  api_tokens: {
    scope: 'id',
    columns: ['id', 'organization_id', 'secret_hash', 'scopes', 'expires_at', 'deleted_at'],
  },
  personal_access_tokens: {
    scope: 'id',
    columns: [
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
  },
  delegations: {
    scope: 'id',
    columns: [
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
  },
  support_consents: { scope: 'organization_id', columns: ['id', 'organization_id', 'expires_at', 'deleted_at'] },
};

/** The hash of `*` concerns all callers. */
const everybody = `hashtextextended('*', 0)`;

const table = [
  'create table caller_changes (scope bigint not null, xid xid8 not null default pg_current_xact_id())',
  'create index caller_changes_scope_xid on caller_changes (scope, xid)',
  'revoke all on caller_changes from core_app, core_system',
  // Hashes of ids tell nobody anything; a function that hides them would cost more than the look-up.
  'grant select on caller_changes to core_app, core_system',
  `insert into caller_changes (scope) values (${everybody})`,
];

const functions = [
  // Notes whom a changed row concerned, and whom it concerns now. A transaction that concerns many notes that it concerns everybody.
  `create function note_caller_change() returns trigger
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    noted int := coalesce(nullif(current_setting('core.noted_callers', true), ''), '0')::int;
    before text; after text;
  begin
    if noted > 100 then return null; end if;
    before := to_jsonb(old) ->> tg_argv[0];
    after := to_jsonb(new) ->> tg_argv[0];
    insert into caller_changes (scope)
      select case when noted < 100 then hashtextextended(id, 0) else ${everybody} end
      from (select before union select after) as concerned (id) where id is not null;
    perform set_config('core.noted_callers', (noted + 1)::text, true);
    return null;
  end $$`,
  // What the state of a caller depends on (entities/kit/access/assumed-principal.ts): the given ids, what their rows name, the
  // organization and its parents; and what was visible to the statement that reads the state.
  `create function caller_basis(given text[], wanted_organization text) returns text
    language plpgsql stable security definer set search_path = public, pg_temp as $$
  declare ids text[] := given;
  begin
    ids := ids || array(select d.session_id from delegations d where d.id = any(given));
    ids := ids || array(select s.single_sign_on_id from sessions s where s.id = any(ids))
      || array(select unnest(t.single_sign_on_ids) from personal_access_tokens t where t.id = any(given))
      || array[wanted_organization, 'organization:' || wanted_organization, '*'];
    ids := ids || array(select unnest(array[o.id, o.parent_id]) from organizations o
      where o.id in (select c.id from organization_chain(wanted_organization) c));
    return json_build_object('snapshot', pg_current_snapshot()::text, 'server', pg_postmaster_start_time(), 'scopes',
      array(select distinct hashtextextended(id, 0)::text from unnest(ids) as id where id is not null))::text;
  end $$`,
  'revoke all on function note_caller_change(), caller_basis(text[], text) from public',
  'grant execute on function caller_basis(text[], text) to core_app, core_system',
];

const triggers = Object.entries(watched).flatMap(([name, { scope, columns, condition }]) => {
  const when = (row: string) => (condition ? `when (${condition(row)})` : '');
  const row = (side: string) => `(${columns.map((column) => `${side}.${column}`).join(', ')})`;
  const either = condition ? ` and (${condition('old')} or ${condition('new')})` : '';
  const run = `execute function note_caller_change('${scope}')`;
  return [
    `create trigger note_insert after insert on ${name} for each row ${when('new')} ${run}`,
    `create trigger note_update after update on ${name} for each row when (${row('old')} is distinct from ${row('new')}${either}) ${run}`,
    `create trigger note_delete after delete on ${name} for each row ${when('old')} ${run}`,
  ];
});

const counters = `delete from sign_in_failures where last_failed_at < at - interval '1 day';`;

/** What has been read before is asked anew, so what it would be compared with can go. */
const pruning: Changes = [
  [
    counters,
    `${counters}
    if exists (select 1 from caller_changes offset 1000) then
      delete from caller_changes;
      insert into caller_changes (scope) values (${everybody});
    end if;`,
  ],
];

const maintenance = 'maintain_partitions(timestamptz, interval, interval)';

/** Changes of what the states of callers depend on are noted, so that a state that was read before can be compared with one look-up. */
export class Migration20261123024500CallerChanges extends Migration {
  override up(): void | Promise<void> {
    for (const statement of [...table, ...functions, ...triggers]) this.addSql(statement);
    this.addSql(changedFunction(maintenance, pruning));
  }

  override down(): void | Promise<void> {
    this.addSql(changedFunction(maintenance, undone(pruning)));
    for (const name of Object.keys(watched))
      for (const event of ['insert', 'update', 'delete']) this.addSql(`drop trigger note_${event} on ${name}`);
    this.addSql('drop function note_caller_change(), caller_basis(text[], text)');
    this.addSql('drop table caller_changes');
  }
}
