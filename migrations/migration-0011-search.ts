import { Migration } from '@mikro-orm/migrations';

/** Search: trigrams of what is searched, and the functions through which callers reach them (entities/kit/storage/search-function.ts). */
export class Migration0011Search extends Migration {
  override up(): void {
    this.addSql('create extension if not exists pg_trgm');
    for (const statement of [...indexes, pattern, ...functions, ...names.flatMap(privileges)]) this.addSql(statement);
  }

  override down(): void {
    for (const name of names) this.addSql(`drop function search_${name}(text)`);
    this.addSql('drop function search_pattern(text)');
    for (const name of names) this.addSql(`drop index "${name}_search_index"`);
    // The extension stays: others may have asked for it as well.
  }
}

const names = ['users', 'organizations', 'invites', 'groups', 'tasks', 'notes', 'tags', 'files'];

const indexes = [
  `create index "organizations_search_index" on "organizations" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "invites_search_index" on "invites" using gin ((coalesce(recipient, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "groups_search_index" on "groups" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "tags_search_index" on "tags" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "users_search_index" on "users" using gin ((coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "tasks_search_index" on "tasks" using gin ((coalesce(title, '') || ' ' || coalesce(details, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "notes_search_index" on "notes" using gin ((coalesce(title, '') || ' ' || coalesce(text, '')) gin_trgm_ops) where deleted_at is null`,
  `create index "files_search_index" on "files" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null`,
];

/** What ILIKE reads as signs stands for itself. */
const pattern = `create function search_pattern(wanted text) returns text language sql immutable strict as $$
    select '%' || replace(replace(replace(wanted, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'
  $$`;

const functions = [
  `create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(display_name, '')) ilike search_pattern(wanted) and (display_name ilike search_pattern(wanted))
    union
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `create or replace function search_organizations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `create or replace function search_invites(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(recipient, '')) ilike search_pattern(wanted) and (recipient ilike search_pattern(wanted))
    union
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `create or replace function search_groups(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `create or replace function search_tasks(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or details ilike search_pattern(wanted))
    union
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `create or replace function search_notes(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or text ilike search_pattern(wanted))
    union
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `create or replace function search_tags(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
];

function privileges(name: string): string[] {
  return [
    `revoke all on function search_${name}(text) from public`,
    `grant execute on function search_${name}(text) to core_app, core_system`,
  ];
}
