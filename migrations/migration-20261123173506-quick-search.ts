import { Migration } from '@mikro-orm/migrations';

/** The words of a search but the last one, and the pattern of texts that contain the last one, which may be incomplete. */
const split = `regexp_split_to_table(lower(wanted), '[^[:alnum:]]+') with ordinality as part (word, n) where word <> ''`;
const helpers = [
  `create function search_beginning(wanted text) returns tsquery language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select case when numnode(query) > 0 then query end
    from (select plainto_tsquery('english', array_to_string(trim_array(words, 1), ' ')) as query
      from (select array(select word from ${split} order by n) as words) as parts where cardinality(words) > 1) as beginning
  $$`,
  `create function search_ending(wanted text) returns text language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select search_pattern((select word from ${split} order by n desc limit 1))
  $$`,
];
const formerHelper = `create function search_query(wanted text) returns tsquery language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select plainto_tsquery('english', wanted) || (
      plainto_tsquery('english', array_to_string(words[:cardinality(words) - 1], ' ')) && to_tsquery('english', words[cardinality(words)] || ':*'))
    from (select array(select word from regexp_split_to_table(lower(wanted), '[^[:alnum:]]+') with ordinality as part (word, n)
      where word <> '' order by n) as words) as split
    where cardinality(words) > 0
  $$`;

/** A search reads the index of its organization only: a prefix of a word was looked for in all organizations first. */
export class Migration20261123173506QuickSearch extends Migration {
  override up(): void {
    for (const statement of helpers) this.addSql(statement);
    this
      .addSql(`create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(display_name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(display_name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(display_name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and (coalesce(display_name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(display_name, '')) + case when coalesce(display_name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(display_name, '')) ilike search_pattern(wanted) and (display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(display_name, ''))) / 2 as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and wanted <% (coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_users(text) from public`);
    this.addSql(`grant execute on function search_users(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_invites(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(recipient, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(recipient, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(recipient, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(recipient, ''))), (select search_beginning(wanted))))::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(recipient, ''))) @@ (select search_beginning(wanted)) and (coalesce(recipient, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(recipient, '')) + case when coalesce(recipient, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(recipient, '')) ilike search_pattern(wanted) and (recipient ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(recipient, ''))) / 2 as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(recipient, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_invites(text) from public`);
    this.addSql(`grant execute on function search_invites(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_organizations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_organizations(text) from public`);
    this.addSql(`grant execute on function search_organizations(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_subscribers(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(email, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(email, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(email, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(email, ''))), (select search_beginning(wanted))))::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(email, ''))) @@ (select search_beginning(wanted)) and (coalesce(email, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(email, '')) + case when coalesce(email, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(email, '')) ilike search_pattern(wanted) and (email ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(email, ''))) / 2 as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(email, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_subscribers(text) from public`);
    this.addSql(`grant execute on function search_subscribers(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_groups(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_groups(text) from public`);
    this.addSql(`grant execute on function search_groups(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_custom_enum_values(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_custom_enum_values(text) from public`);
    this.addSql(`grant execute on function search_custom_enum_values(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_entity_types(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_entity_types(text) from public`);
    this.addSql(`grant execute on function search_entity_types(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_notes(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(title, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))), (select search_beginning(wanted))))::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))) @@ (select search_beginning(wanted)) and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(title, '')) + case when coalesce(title, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or text ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(title, '') || ' ' || coalesce(text, ''))) / 2 as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(title, '') || ' ' || coalesce(text, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_notes(text) from public`);
    this.addSql(`grant execute on function search_notes(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_saved_views(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_saved_views(text) from public`);
    this.addSql(`grant execute on function search_saved_views(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_tags(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_tags(text) from public`);
    this.addSql(`grant execute on function search_tags(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_tasks(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(title, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))), (select search_beginning(wanted))))::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))) @@ (select search_beginning(wanted)) and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(title, '')) + case when coalesce(title, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or details ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(title, '') || ' ' || coalesce(details, ''))) / 2 as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(title, '') || ' ' || coalesce(details, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_tasks(text) from public`);
    this.addSql(`grant execute on function search_tasks(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_files(text) from public`);
    this.addSql(`grant execute on function search_files(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_integrations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_integrations(text) from public`);
    this.addSql(`grant execute on function search_integrations(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_secrets(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', wanted))) + case when to_tsvector('english', coalesce(name, '')) @@ (select plainto_tsquery('english', wanted)) then 0.5 else 0 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from begun)
        and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_secrets(text) from public`);
    this.addSql(`grant execute on function search_secrets(text) to core_app, core_system`);
    this.addSql(`drop function search_query(text)`);
  }

  override down(): void {
    this.addSql(formerHelper);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_users(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(display_name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(display_name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(display_name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(display_name, '')) + case when coalesce(display_name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(display_name, '')) ilike search_pattern(wanted) and (display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(display_name, ''))) / 2 as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and wanted <% (coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_invites(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(recipient, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(recipient, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(recipient, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(recipient, '')) + case when coalesce(recipient, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(recipient, '')) ilike search_pattern(wanted) and (recipient ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(recipient, ''))) / 2 as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(recipient, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_organizations(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_subscribers(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(email, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(email, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(email, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(email, '')) + case when coalesce(email, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(email, '')) ilike search_pattern(wanted) and (email ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(email, ''))) / 2 as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(email, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_groups(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_custom_enum_values(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_entity_types(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_notes(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(title, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(title, '')) + case when coalesce(title, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or text ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(title, '') || ' ' || coalesce(text, ''))) / 2 as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(title, '') || ' ' || coalesce(text, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_saved_views(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_tags(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_tasks(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(title, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(title, '')) + case when coalesce(title, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or details ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(title, '') || ' ' || coalesce(details, ''))) / 2 as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(title, '') || ' ' || coalesce(details, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_files(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_integrations(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_secrets(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
 SET "pg_trgm.word_similarity_threshold" TO '0.4'
AS \$function\$
    with named as (
      select id, 9::real as rank from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$function\$
`);
    this.addSql('drop function search_beginning(text)');
    this.addSql('drop function search_ending(text)');
  }
}
