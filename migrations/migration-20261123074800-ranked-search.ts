import { Migration } from '@mikro-orm/migrations';

const shared = [
  // Lets an index of words begin with the organization.
  'create extension if not exists btree_gin',
  // The words of a search in their ground forms; the last one may be incomplete.
  `create function search_query(wanted text) returns tsquery language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select plainto_tsquery('english', wanted) || (
      plainto_tsquery('english', array_to_string(words[:cardinality(words) - 1], ' ')) && to_tsquery('english', words[cardinality(words)] || ':*'))
    from (select array(select word from regexp_split_to_table(lower(wanted), '[^[:alnum:]]+') with ordinality as part (word, n)
      where word <> '' order by n) as words) as split
    where cardinality(words) > 0
  $$`,
];

const up = [
  `create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "users_search_index"`,
  `create index "users_search_index" on "users" using gin ((coalesce(display_name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(display_name, '')))) where deleted_at is null`,
  `create or replace function search_invites(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "invites_search_index"`,
  `create index "invites_search_index" on "invites" using gin (organization_id, (coalesce(recipient, '')) gin_trgm_ops, to_tsvector('english', (coalesce(recipient, '')))) where deleted_at is null`,
  `create or replace function search_organizations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "organizations_search_index"`,
  `create index "organizations_search_index" on "organizations" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, '')))) where deleted_at is null`,
  `create or replace function search_groups(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "groups_search_index"`,
  `create index "groups_search_index" on "groups" using gin (organization_id, (coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(display_name, '')))) where deleted_at is null`,
  `create or replace function search_custom_enum_values(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "custom_enum_values_search_index"`,
  `create index "custom_enum_values_search_index" on "custom_enum_values" using gin (organization_id, (coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
  `create or replace function search_entity_types(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "entity_types_search_index"`,
  `create index "entity_types_search_index" on "entity_types" using gin (organization_id, (coalesce(name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '')))) where deleted_at is null`,
  `create or replace function search_notes(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "notes_search_index"`,
  `create index "notes_search_index" on "notes" using gin (organization_id, (coalesce(title, '') || ' ' || coalesce(text, '')) gin_trgm_ops, to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(text, '')))) where deleted_at is null`,
  `create or replace function search_tags(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "tags_search_index"`,
  `create index "tags_search_index" on "tags" using gin (organization_id, (coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
  `create or replace function search_tasks(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "tasks_search_index"`,
  `create index "tasks_search_index" on "tasks" using gin (organization_id, (coalesce(title, '') || ' ' || coalesce(details, '')) gin_trgm_ops, to_tsvector('english', (coalesce(title, '') || ' ' || coalesce(details, '')))) where deleted_at is null`,
  `create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "files_search_index"`,
  `create index "files_search_index" on "files" using gin (organization_id, (coalesce(name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '')))) where deleted_at is null`,
  `create or replace function search_integrations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "integrations_search_index"`,
  `create index "integrations_search_index" on "integrations" using gin (organization_id, (coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
  `create or replace function search_secrets(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as $$
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
  $$`,
  `drop index "secrets_search_index"`,
  `create index "secrets_search_index" on "secrets" using gin (organization_id, (coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
];

const down = [
  `create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(display_name, '')) ilike search_pattern(wanted) and (display_name ilike search_pattern(wanted))
    union
    select id from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "users_search_index"`,
  `create index "users_search_index" on "users" using gin ((coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_invites(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(recipient, '')) ilike search_pattern(wanted) and (recipient ilike search_pattern(wanted))
    union
    select id from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "invites_search_index"`,
  `create index "invites_search_index" on "invites" using gin ((coalesce(recipient, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_organizations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "organizations_search_index"`,
  `create index "organizations_search_index" on "organizations" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_groups(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(display_name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or display_name ilike search_pattern(wanted))
    union
    select id from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `drop index "groups_search_index"`,
  `create index "groups_search_index" on "groups" using gin ((coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_custom_enum_values(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "custom_enum_values_search_index"`,
  `create index "custom_enum_values_search_index" on "custom_enum_values" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_entity_types(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "entity_types_search_index"`,
  `create index "entity_types_search_index" on "entity_types" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_notes(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(text, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or text ilike search_pattern(wanted))
    union
    select id from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `drop index "notes_search_index"`,
  `create index "notes_search_index" on "notes" using gin ((coalesce(title, '') || ' ' || coalesce(text, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_tags(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "tags_search_index"`,
  `create index "tags_search_index" on "tags" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_tasks(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(title, '') || ' ' || coalesce(details, '')) ilike search_pattern(wanted) and (title ilike search_pattern(wanted) or details ilike search_pattern(wanted))
    union
    select id from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `drop index "tasks_search_index"`,
  `create index "tasks_search_index" on "tasks" using gin ((coalesce(title, '') || ' ' || coalesce(details, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "files_search_index"`,
  `create index "files_search_index" on "files" using gin ((coalesce(name, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_integrations(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted) or display_id = upper(wanted))
  $$`,
  `drop index "integrations_search_index"`,
  `create index "integrations_search_index" on "integrations" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
  `create or replace function search_secrets(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp as $$
    select id from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '') || ' ' || coalesce(description, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted) or description ilike search_pattern(wanted))
    union
    select id from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  $$`,
  `drop index "secrets_search_index"`,
  `create index "secrets_search_index" on "secrets" using gin ((coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops) where deleted_at is null`,
];

/** Searches rank what they find, know word forms and forgive typing mistakes; their indexes begin with the organization. */
export class Migration20261123074800RankedSearch extends Migration {
  /** Each index is built anew, for its new columns. */
  readonly locks = {
    users: 'index of the search',
    invites: 'index of the search',
    organizations: 'index of the search',
    groups: 'index of the search',
    custom_enum_values: 'index of the search',
    entity_types: 'index of the search',
    notes: 'index of the search',
    tags: 'index of the search',
    tasks: 'index of the search',
    files: 'index of the search',
    integrations: 'index of the search',
    secrets: 'index of the search',
  };

  override up(): void {
    for (const statement of [...shared, ...up]) this.addSql(statement);
  }

  override down(): void {
    for (const statement of down) this.addSql(statement);
    this.addSql('drop function search_query(text)');
    this.addSql('drop extension btree_gin');
  }
}
