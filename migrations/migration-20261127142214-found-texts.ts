import { Migration } from '@mikro-orm/migrations';

/** What the matched form of a text leaves out: see `hasNoMatchedForm`. */
const ignored = String.raw`[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff]`;

/** Han, Kana and Hangul characters: languages that are written without spaces, or whose words have endings of one character. */
const eastAsian = String.raw`[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]`;

/** Ends of words that are no punctuation within them, such as those of "C#" and "R&D". */
const separators = String.raw`[\s.,;:!?()\[\]{}<>"''/\\|]+`;

const matching = [
  // Its version is that of the ICU library with which the indexes are built (docs/limits.md).
  `create collation record_order (provider = icu, locale = 'und')`,
  // Indexes are built with an empty search path, so the collation is named with its schema. Letters that do not decompose are those of the
  // rules of the extension unaccent; its dictionary is a file of the server, which an index must not depend on.
  `create function matched_form_beyond_ascii(given text) returns text language plpgsql immutable strict parallel safe as $$
  declare form text := regexp_replace(normalize(given, NFKD), '${ignored}', '', 'g');
  begin
    -- Syllables of Hangul, and letters of other scripts with marks that distinguish them.
    if form ~ '[\\u0900-\\uffff]' then form := normalize(form, NFC); end if;
    form := lower(form collate public.record_order);
    if form ~ '[\\u00df-\\u0292\\u03c2]' then
      form := translate(form, 'ðøđħıĸłŋŧƀɓɖɗɛƒɨƙɲɔƴʋς', 'dodhiqlntbbddefiknoyvσ');
      form := replace(replace(replace(replace(form, 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th');
    end if;
    return form;
  end $$`,
  // Plain SQL of one expression, which PostgreSQL puts in place of the call. Most texts are in ASCII.
  `create function matched_form(given text) returns text language sql immutable parallel safe as $$
    select case when octet_length(given) = length(given) then lower(given collate "C")
      else public.matched_form_beyond_ascii(given) collate "C" end
  $$`,
  // Runs below the row-level security policy, so it reads the organization from the same setting as the policy, and returns ids only.
  `create function records_beginning(wanted_table text, wanted_column text, beginning text) returns setof text
    language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
      begin
        return query execute format(
          'select t.id from %I as t where t.organization_id = $2 and t.deleted_at is null
             and starts_with(left(matched_form(t.%2$I), 100) collate "C", left($1, 100)) and starts_with(matched_form(t.%2$I), $1)',
          wanted_table, wanted_column)
          using matched_form(beginning), current_setting('core.organization_id', true);
      end $$`,
  'revoke all on function records_beginning(text, text, text) from public',
  'grant execute on function records_beginning(text, text, text) to core_app, core_system',
  `create or replace function search_pattern(wanted text) returns text language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select '%' || replace(replace(replace(matched_form(wanted), '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'
  $$`,
  ...wordHelpers('matched_form'),
  // What a word of one or two characters is looked up by: itself, and in East Asian texts each character and pair of characters.
  `create function search_grams(form text) returns text[] language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select coalesce(array_agg(distinct '=' || gram), '{}') from (
      select word as gram from regexp_split_to_table(form, '${separators}') as word where length(word) between 1 and 2
      union all
      select word from regexp_split_to_table(form, '[^[:alnum:]]+') as word where length(word) between 1 and 2
      union all
      select gram from (
        select one, lead(one) over (order by place) as next
        from unnest(case when form ~ '${eastAsian}' then string_to_array(form, null) end) with ordinality as characters (one, place)
      ) as neighbours, unnest(array[
        case when one ~ '${eastAsian}' then one end,
        case when (one || next) ~ '${eastAsian}' and (one || next) !~ '\\s' then one || next end]) as gram
      where gram is not null
    ) as found
  $$`,
  `create function search_words(form text) returns tsvector language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select to_tsvector('pg_catalog.english', form) || array_to_tsvector(search_grams(form))
  $$`,
  // Null unless each word of the search is short or East Asian; of a long one, all pairs of characters have to be there.
  `create function search_shorts(wanted text) returns tsquery language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select string_agg('''' || replace(replace(gram, '\\', '\\\\'), '''', '''''') || '''', ' & ')::tsquery
    from regexp_split_to_table(matched_form(wanted), '\\s+') as word,
      unnest(case when length(word) <= 2 then array['=' || word] else array(select pair from unnest(search_grams(word)) as pair where length(pair) = 3) end) as gram
    where word <> ''
    having bool_and(length(word) <= 2 or word ~ '^${eastAsian}+$')
  $$`,
];

/** The words of a search but the last one, and the pattern of texts that contain the last one, which may be incomplete. */
function wordHelpers(form: string): string[] {
  const split = `regexp_split_to_table(${form}(wanted), '[^[:alnum:]]+') with ordinality as part (word, n) where word <> ''`;
  return [
    `create or replace function search_beginning(wanted text) returns tsquery language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select case when numnode(query) > 0 then query end
    from (select plainto_tsquery('english', array_to_string(trim_array(words, 1), ' ')) as query
      from (select array(select word from ${split} order by n) as words) as parts where cardinality(words) > 1) as beginning
  $$`,
    `create or replace function search_ending(wanted text) returns text language sql immutable strict parallel safe
    set search_path = public, pg_temp as $$
    select search_pattern((select word from ${split} order by n desc limit 1))
  $$`,
  ];
}

const formerHelpers = [
  `create or replace function search_pattern(wanted text) returns text language sql immutable strict parallel unsafe as $$
    select '%' || replace(replace(replace(wanted, '\\', '\\\\'), '%', '\\%'), '_', '\\_') || '%'
  $$`,
  'alter function search_pattern(text) reset all',
  ...wordHelpers('lower'),
  'drop function search_shorts(text)',
  'drop function search_words(text)',
  'drop function search_grams(text)',
  'drop function records_beginning(text, text, text)',
  'drop function matched_form(text)',
  'drop function matched_form_beyond_ascii(text)',
  'drop collation record_order',
];

/** Filters and searches ignore case and accents, orders of texts follow a language, and records without a value come last. */
export class Migration20261127142214FoundTexts extends Migration {
  /** Indexes of filters, orders and searches are built anew. */
  readonly locks = {
    api_tokens: 'indexes of its lists and searches',
    custom_enum_values: 'indexes of its lists and searches',
    delegations: 'indexes of its lists and searches',
    discussions: 'indexes of its lists and searches',
    email_suppressions: 'indexes of its lists and searches',
    emails: 'indexes of its lists and searches',
    entity_types: 'indexes of its lists and searches',
    exports: 'indexes of its lists and searches',
    file_verdicts: 'indexes of its lists and searches',
    files: 'indexes of its lists and searches',
    groups: 'indexes of its lists and searches',
    imports: 'indexes of its lists and searches',
    integration_webhooks: 'indexes of its lists and searches',
    integrations: 'indexes of its lists and searches',
    invites: 'indexes of its lists and searches',
    notes: 'indexes of its lists and searches',
    notification_preferences: 'indexes of its lists and searches',
    notification_templates: 'indexes of its lists and searches',
    notifications: 'indexes of its lists and searches',
    organizations: 'indexes of its lists and searches',
    saved_views: 'indexes of its lists and searches',
    secrets: 'indexes of its lists and searches',
    subscribers: 'indexes of its lists and searches',
    tags: 'indexes of its lists and searches',
    task_files: 'indexes of its lists and searches',
    tasks: 'indexes of its lists and searches',
    users: 'indexes of its lists and searches',
    webhook_endpoints: 'indexes of its lists and searches',
  };

  override up(): void {
    for (const statement of matching) this.addSql(statement);
    this.addSql(`drop index "notification_templates_organization_id_topic_id_index";`);
    this.addSql(
      `create index "notification_templates_organization_id_topic_order" on "notification_templates" (organization_id, topic collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "notification_templates_topic_beginning" on "notification_templates" (organization_id, (left(matched_form(topic), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "integrations_organization_id_name_order" on "integrations" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_display_id_beginning" on "integrations" (organization_id, (left(matched_form(display_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_name_beginning" on "integrations" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_definition_id_beginning" on "integrations" (organization_id, (left(matched_form(definition_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integrations_family_beginning" on "integrations" (organization_id, (left(matched_form(family), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "integration_webhooks_organization_id_name_id_index";`);
    this.addSql(
      `create index "integration_webhooks_organization_id_name_order" on "integration_webhooks" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_name_beginning" on "integration_webhooks" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "integration_webhooks_external_id_beginning" on "integration_webhooks" (organization_id, (left(matched_form(external_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "entity_types_organization_id_name_order" on "entity_types" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "entity_types_name_beginning" on "entity_types" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "email_suppressions_organization_id_email_id_index";`);
    this.addSql(
      `create index "email_suppressions_organization_id_email_order" on "email_suppressions" (organization_id, email collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "email_suppressions_email_beginning" on "email_suppressions" (organization_id, (left(matched_form(email), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "emails_organization_id_sent_at_descending" on "emails" (organization_id, sent_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_template_beginning" on "emails" (organization_id, (left(matched_form(template), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_recipient_id_beginning" on "emails" (organization_id, (left(matched_form(recipient_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_about_id_beginning" on "emails" (organization_id, (left(matched_form(about_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "emails_error_code_beginning" on "emails" (organization_id, (left(matched_form(error_code), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "delegations_subject_id_beginning" on "delegations" (organization_id, (left(matched_form(subject_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "custom_enum_values_organization_id_name_id_index";`);
    this.addSql(
      `create index "custom_enum_values_organization_id_name_order" on "custom_enum_values" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "custom_enum_values_name_beginning" on "custom_enum_values" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "api_tokens_organization_id_name_id_index";`);
    this.addSql(
      `create index "api_tokens_organization_id_name_order" on "api_tokens" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "api_tokens_name_beginning" on "api_tokens" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "secrets_organization_id_name_order" on "secrets" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_expires_at_descending" on "secrets" (organization_id, expires_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_organization_id_last_used_at_descending" on "secrets" (organization_id, last_used_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "secrets_name_beginning" on "secrets" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "tags_organization_id_name_id_index";`);
    this.addSql(
      `create index "tags_organization_id_name_order" on "tags" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "tags_name_beginning" on "tags" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "tasks_organization_id_title_id_index";`);
    this.addSql(
      `create index "tasks_organization_id_title_order" on "tasks" (organization_id, title collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_organization_id_due_at_descending" on "tasks" (organization_id, due_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_display_id_beginning" on "tasks" (organization_id, (left(matched_form(display_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_title_beginning" on "tasks" (organization_id, (left(matched_form(title), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "tasks_external_id_beginning" on "tasks" (organization_id, (left(matched_form(external_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "task_files_organization_id_name_id_index";`);
    this.addSql(
      `create index "task_files_organization_id_name_order" on "task_files" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_name_beginning" on "task_files" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_content_type_beginning" on "task_files" (organization_id, (left(matched_form(content_type), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "task_files_search_index" on "task_files" using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where deleted_at is null;`,
    );

    this.addSql(`drop index "subscribers_organization_id_email_id_index";`);
    this.addSql(
      `create index "subscribers_organization_id_email_order" on "subscribers" (organization_id, email collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_organization_id_expires_at_descending" on "subscribers" (organization_id, expires_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "subscribers_email_beginning" on "subscribers" (organization_id, (left(matched_form(email), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "saved_views_organization_id_name_id_index";`);
    this.addSql(
      `create index "saved_views_organization_id_name_order" on "saved_views" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_name_beginning" on "saved_views" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "saved_views_record_kind_beginning" on "saved_views" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "notification_preferences_topic_pattern_beginning" on "notification_preferences" (organization_id, (left(matched_form(topic_pattern), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "notifications_topic_beginning" on "notifications" (organization_id, (left(matched_form(topic), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "notifications_target_id_beginning" on "notifications" (organization_id, (left(matched_form(target_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "invites_organization_id_expires_at_descending" on "invites" (organization_id, expires_at desc nulls last, id desc) where deleted_at is null;`,
    );
    this.addSql(
      `create index "invites_recipient_beginning" on "invites" (organization_id, (left(matched_form(recipient), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "imports_record_kind_beginning" on "imports" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "groups_organization_id_name_order" on "groups" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "groups_display_id_beginning" on "groups" (organization_id, (left(matched_form(display_id), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "groups_name_beginning" on "groups" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(`drop index "files_organization_id_name_id_index";`);
    this.addSql(
      `create index "files_organization_id_name_order" on "files" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_name_beginning" on "files" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this.addSql(
      `create index "files_content_type_beginning" on "files" (organization_id, (left(matched_form(content_type), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "file_verdicts_object_id_beginning" on "file_verdicts" (organization_id, (left(matched_form(object_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "exports_record_kind_beginning" on "exports" (organization_id, (left(matched_form(record_kind), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "discussions_external_id_beginning" on "discussions" (organization_id, (left(matched_form(external_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "notes_display_id_beginning" on "notes" (organization_id, (left(matched_form(display_id), 100) collate "C")) where deleted_at is null;`,
    );

    this.addSql(
      `create index "webhook_endpoints_organization_id_name_order" on "webhook_endpoints" (organization_id, name collate record_order, id) where deleted_at is null;`,
    );
    this.addSql(
      `create index "webhook_endpoints_name_beginning" on "webhook_endpoints" (organization_id, (left(matched_form(name), 100) collate "C")) where deleted_at is null;`,
    );
    this
      .addSql(`create or replace function search_users(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(search_words(matched_form(coalesce(display_name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(display_name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(display_name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(display_name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and search_words(matched_form(coalesce(display_name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and search_words(matched_form(coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(display_name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(display_name, ''))) + case when matched_form(coalesce(display_name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(display_name, '')) like (select search_pattern(wanted)) and (matched_form(display_name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(display_name, ''))) / 2 as rank
      from users where (id = current_setting('core.user_id', true) or exists (select 1 from memberships m where m.user_id = users.id and m.organization_id = current_setting('core.organization_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(recipient, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(recipient, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(recipient, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(recipient, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(recipient, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(recipient, ''))), (select search_beginning(wanted))))::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(recipient, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(recipient, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(recipient, ''))) + case when matched_form(coalesce(recipient, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(recipient, '')) like (select search_pattern(wanted)) and (matched_form(recipient) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(recipient, ''))) / 2 as rank
      from invites where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(recipient, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(display_name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from organizations where (exists (select 1 from memberships m where m.organization_id = organizations.id and m.user_id = current_setting('core.user_id', true) and m.deleted_at is null)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(email, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(email, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(email, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(email, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(email, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(email, ''))), (select search_beginning(wanted))))::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(email, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(email, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(email, ''))) + case when matched_form(coalesce(email, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(email, '')) like (select search_pattern(wanted)) and (matched_form(email) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(email, ''))) / 2 as rank
      from subscribers where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(email, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))), (select search_beginning(wanted))))::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(display_name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))) / 2 as rank
      from groups where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(display_name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(description) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from custom_enum_values where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) / 2 as rank
      from entity_types where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(title, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(title, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))), (select search_beginning(wanted))))::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(title, '') || ' ' || coalesce(text, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(title, ''))) + case when matched_form(coalesce(title, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(title, '') || ' ' || coalesce(text, '')) like (select search_pattern(wanted)) and (matched_form(title) like (select search_pattern(wanted)) or matched_form(text) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))) / 2 as rank
      from notes where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(title, '') || ' ' || coalesce(text, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) / 2 as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(description) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from tags where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(title, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(title, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))), (select search_beginning(wanted))))::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(title, ''))) + case when matched_form(coalesce(title, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, '')) like (select search_pattern(wanted)) and (matched_form(title) like (select search_pattern(wanted)) or matched_form(details) like (select search_pattern(wanted)) or matched_form(external_id) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))) / 2 as rank
      from tasks where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_tasks(text) from public`);
    this.addSql(`grant execute on function search_tasks(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_task_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) / 2 as rank
      from task_files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_task_files(text) from public`);
    this.addSql(`grant execute on function search_task_files(text) to core_app, core_system`);
    this
      .addSql(`create or replace function search_files(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, ''))), (select search_beginning(wanted))))::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) / 2 as rank
      from files where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(description) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from integrations where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
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
      select id, (1 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select plainto_tsquery('english', matched_form(wanted)))) + case when to_tsvector('english', matched_form(coalesce(name, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) then 0.5 else 0 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select plainto_tsquery('english', matched_form(wanted))) limit 5000
    ), short as (
      select id, (1 + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_shorts(wanted)) limit 5000
    ), begun as (
      select id, (0.5 + ts_rank(search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))), (select search_beginning(wanted))))::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) @@ (select search_beginning(wanted)) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_ending(wanted)) limit 5000
    ), partial as (
      select id, (strict_word_similarity((select matched_form(wanted)), matched_form(coalesce(name, ''))) + case when matched_form(coalesce(name, '')) like (select search_pattern(wanted)) then 0.5 else 0.1 end)::real as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) like (select search_pattern(wanted)) and (matched_form(name) like (select search_pattern(wanted)) or matched_form(description) like (select search_pattern(wanted))) limit 5000
    ), similar_ones as (
      select id, word_similarity((select matched_form(wanted)), matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))) / 2 as rank
      from secrets where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (select length(matched_form(wanted)) > 2) and (select matched_form(wanted)) <% matched_form(coalesce(name, '') || ' ' || coalesce(description, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_secrets(text) from public`);
    this.addSql(`grant execute on function search_secrets(text) to core_app, core_system`);
    this.addSql(`drop index if exists "users_search_index"`);
    this.addSql(
      `create index "users_search_index" on "users" using gin (matched_form(coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(display_name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "invites_search_index"`);
    this.addSql(
      `create index "invites_search_index" on "invites" using gin (organization_id, matched_form(coalesce(recipient, '')) gin_trgm_ops, search_words(matched_form(coalesce(recipient, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "organizations_search_index"`);
    this.addSql(
      `create index "organizations_search_index" on "organizations" using gin (matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "subscribers_search_index"`);
    this.addSql(
      `create index "subscribers_search_index" on "subscribers" using gin (organization_id, matched_form(coalesce(email, '')) gin_trgm_ops, search_words(matched_form(coalesce(email, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "groups_search_index"`);
    this.addSql(
      `create index "groups_search_index" on "groups" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(display_name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "custom_enum_values_search_index"`);
    this.addSql(
      `create index "custom_enum_values_search_index" on "custom_enum_values" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "entity_types_search_index"`);
    this.addSql(
      `create index "entity_types_search_index" on "entity_types" using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "notes_search_index"`);
    this.addSql(
      `create index "notes_search_index" on "notes" using gin (organization_id, matched_form(coalesce(title, '') || ' ' || coalesce(text, '')) gin_trgm_ops, search_words(matched_form(coalesce(title, '') || ' ' || coalesce(text, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "saved_views_search_index"`);
    this.addSql(
      `create index "saved_views_search_index" on "saved_views" using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "tags_search_index"`);
    this.addSql(
      `create index "tags_search_index" on "tags" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "tasks_search_index"`);
    this.addSql(
      `create index "tasks_search_index" on "tasks" using gin (organization_id, matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, '')) gin_trgm_ops, search_words(matched_form(coalesce(title, '') || ' ' || coalesce(details, '') || ' ' || coalesce(external_id, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "files_search_index"`);
    this.addSql(
      `create index "files_search_index" on "files" using gin (organization_id, matched_form(coalesce(name, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "integrations_search_index"`);
    this.addSql(
      `create index "integrations_search_index" on "integrations" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
    );
    this.addSql(`drop index if exists "secrets_search_index"`);
    this.addSql(
      `create index "secrets_search_index" on "secrets" using gin (organization_id, matched_form(coalesce(name, '') || ' ' || coalesce(description, '')) gin_trgm_ops, search_words(matched_form(coalesce(name, '') || ' ' || coalesce(description, '')))) where deleted_at is null`,
    );
  }

  override down(): void {
    this.addSql(`drop index "api_tokens_organization_id_name_order";`);
    this.addSql(`drop index "api_tokens_name_beginning";`);
    this.addSql(
      `create index "api_tokens_organization_id_name_id_index" on "api_tokens" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "custom_enum_values_organization_id_name_order";`);
    this.addSql(`drop index "custom_enum_values_name_beginning";`);
    this.addSql(
      `create index "custom_enum_values_organization_id_name_id_index" on "custom_enum_values" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "delegations_subject_id_beginning";`);

    this.addSql(`drop index "discussions_external_id_beginning";`);

    this.addSql(`drop index "email_suppressions_organization_id_email_order";`);
    this.addSql(`drop index "email_suppressions_email_beginning";`);
    this.addSql(
      `create index "email_suppressions_organization_id_email_id_index" on "email_suppressions" ("organization_id", "email", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "emails_organization_id_sent_at_descending";`);
    this.addSql(`drop index "emails_template_beginning";`);
    this.addSql(`drop index "emails_recipient_id_beginning";`);
    this.addSql(`drop index "emails_about_id_beginning";`);
    this.addSql(`drop index "emails_error_code_beginning";`);

    this.addSql(`drop index "entity_types_organization_id_name_order";`);
    this.addSql(`drop index "entity_types_name_beginning";`);

    this.addSql(`drop index "exports_record_kind_beginning";`);

    this.addSql(`drop index "file_verdicts_object_id_beginning";`);

    this.addSql(`drop index "files_organization_id_name_order";`);
    this.addSql(`drop index "files_name_beginning";`);
    this.addSql(`drop index "files_content_type_beginning";`);
    this.addSql(
      `create index "files_organization_id_name_id_index" on "files" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "groups_organization_id_name_order";`);
    this.addSql(`drop index "groups_display_id_beginning";`);
    this.addSql(`drop index "groups_name_beginning";`);

    this.addSql(`drop index "imports_record_kind_beginning";`);

    this.addSql(`drop index "integration_webhooks_organization_id_name_order";`);
    this.addSql(`drop index "integration_webhooks_name_beginning";`);
    this.addSql(`drop index "integration_webhooks_external_id_beginning";`);
    this.addSql(
      `create index "integration_webhooks_organization_id_name_id_index" on "integration_webhooks" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "integrations_organization_id_name_order";`);
    this.addSql(`drop index "integrations_display_id_beginning";`);
    this.addSql(`drop index "integrations_name_beginning";`);
    this.addSql(`drop index "integrations_definition_id_beginning";`);
    this.addSql(`drop index "integrations_family_beginning";`);

    this.addSql(`drop index "invites_organization_id_expires_at_descending";`);
    this.addSql(`drop index "invites_recipient_beginning";`);

    this.addSql(`drop index "notes_display_id_beginning";`);

    this.addSql(`drop index "notification_preferences_topic_pattern_beginning";`);

    this.addSql(`drop index "notification_templates_organization_id_topic_order";`);
    this.addSql(`drop index "notification_templates_topic_beginning";`);
    this.addSql(
      `create index "notification_templates_organization_id_topic_id_index" on "notification_templates" ("organization_id", "topic", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "notifications_topic_beginning";`);
    this.addSql(`drop index "notifications_target_id_beginning";`);

    this.addSql(`drop index "saved_views_organization_id_name_order";`);
    this.addSql(`drop index "saved_views_name_beginning";`);
    this.addSql(`drop index "saved_views_record_kind_beginning";`);
    this.addSql(
      `create index "saved_views_organization_id_name_id_index" on "saved_views" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "secrets_organization_id_name_order";`);
    this.addSql(`drop index "secrets_organization_id_expires_at_descending";`);
    this.addSql(`drop index "secrets_organization_id_last_used_at_descending";`);
    this.addSql(`drop index "secrets_name_beginning";`);

    this.addSql(`drop index "subscribers_organization_id_email_order";`);
    this.addSql(`drop index "subscribers_organization_id_expires_at_descending";`);
    this.addSql(`drop index "subscribers_email_beginning";`);
    this.addSql(
      `create index "subscribers_organization_id_email_id_index" on "subscribers" ("organization_id", "email", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "tags_organization_id_name_order";`);
    this.addSql(`drop index "tags_name_beginning";`);
    this.addSql(
      `create index "tags_organization_id_name_id_index" on "tags" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "task_files_organization_id_name_order";`);
    this.addSql(`drop index "task_files_name_beginning";`);
    this.addSql(`drop index "task_files_content_type_beginning";`);
    this.addSql(`drop index "task_files_search_index";`);
    this.addSql(
      `create index "task_files_organization_id_name_id_index" on "task_files" ("organization_id", "name", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "tasks_organization_id_title_order";`);
    this.addSql(`drop index "tasks_organization_id_due_at_descending";`);
    this.addSql(`drop index "tasks_display_id_beginning";`);
    this.addSql(`drop index "tasks_title_beginning";`);
    this.addSql(`drop index "tasks_external_id_beginning";`);
    this.addSql(
      `create index "tasks_organization_id_title_id_index" on "tasks" ("organization_id", "title", "id") where deleted_at IS NULL;`,
    );

    this.addSql(`drop index "webhook_endpoints_organization_id_name_order";`);
    this.addSql(`drop index "webhook_endpoints_name_beginning";`);

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
  \$function\$
`);
    this.addSql(`drop function search_task_files(text)`);
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
  \$function\$
`);
    this.addSql(`drop index if exists "users_search_index"`);
    this.addSql(
      `CREATE INDEX users_search_index ON public.users USING gin (COALESCE(display_name, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(display_name, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "invites_search_index"`);
    this.addSql(
      `CREATE INDEX invites_search_index ON public.invites USING gin (organization_id, COALESCE(recipient, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(recipient, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "organizations_search_index"`);
    this.addSql(
      `CREATE INDEX organizations_search_index ON public.organizations USING gin ((((COALESCE(name, ''::text) || ' '::text) || COALESCE(display_name, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(display_name, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "subscribers_search_index"`);
    this.addSql(
      `CREATE INDEX subscribers_search_index ON public.subscribers USING gin (organization_id, COALESCE(email, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(email, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "groups_search_index"`);
    this.addSql(
      `CREATE INDEX groups_search_index ON public.groups USING gin (organization_id, (((COALESCE(name, ''::text) || ' '::text) || COALESCE(display_name, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(display_name, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "custom_enum_values_search_index"`);
    this.addSql(
      `CREATE INDEX custom_enum_values_search_index ON public.custom_enum_values USING gin (organization_id, (((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "entity_types_search_index"`);
    this.addSql(
      `CREATE INDEX entity_types_search_index ON public.entity_types USING gin (organization_id, COALESCE(name, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(name, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "notes_search_index"`);
    this.addSql(
      `CREATE INDEX notes_search_index ON public.notes USING gin (organization_id, (((COALESCE(title, ''::text) || ' '::text) || COALESCE(text, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(title, ''::text) || ' '::text) || COALESCE(text, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "saved_views_search_index"`);
    this.addSql(
      `CREATE INDEX saved_views_search_index ON public.saved_views USING gin (organization_id, COALESCE(name, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(name, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "tags_search_index"`);
    this.addSql(
      `CREATE INDEX tags_search_index ON public.tags USING gin (organization_id, (((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "tasks_search_index"`);
    this.addSql(
      `CREATE INDEX tasks_search_index ON public.tasks USING gin (organization_id, (((COALESCE(title, ''::text) || ' '::text) || COALESCE(details, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(title, ''::text) || ' '::text) || COALESCE(details, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "files_search_index"`);
    this.addSql(
      `CREATE INDEX files_search_index ON public.files USING gin (organization_id, COALESCE(name, ''::text) gin_trgm_ops, to_tsvector('english'::regconfig, COALESCE(name, ''::text))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "integrations_search_index"`);
    this.addSql(
      `CREATE INDEX integrations_search_index ON public.integrations USING gin (organization_id, (((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    this.addSql(`drop index if exists "secrets_search_index"`);
    this.addSql(
      `CREATE INDEX secrets_search_index ON public.secrets USING gin (organization_id, (((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text))) gin_trgm_ops, to_tsvector('english'::regconfig, ((COALESCE(name, ''::text) || ' '::text) || COALESCE(description, ''::text)))) WHERE (deleted_at IS NULL)`,
    );
    for (const statement of formerHelpers) this.addSql(statement);
  }
}
