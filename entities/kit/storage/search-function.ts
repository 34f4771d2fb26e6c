import { maxFound } from '../base/max-found.ts';
import type { EntityModule } from '../model/define.ts';
import { rlsUsingOf } from './orm-schema.ts';
import { searchedText, searchedWords } from './searched-text.ts';
import { snakeCase } from '../base/snake-case.ts';

export interface SqlFunction {
  readonly name: string;
  /** The statements that create it and give the right to call it. */
  readonly text: string;
}

/** Most records that are found by similar words, when nothing else is found. */
const maxSimilar = 200;

/**
 * How similar a part of a text has to be to what is searched: the share of its trigrams that occur there (pg_trgm). Two letters that
 * have changed places in a word of six leave this much.
 */
const minSimilarity = 0.4;

/**
 * The SQL function that searches a kind and returns ids, the best first; undefined for kinds without search. ILIKE and full-text search
 * are not leakproof, so under row-level security they cannot use an index and would read every row of the organization. The function is
 * SECURITY DEFINER and bypasses the policy; it contains the policy's own expression instead, which takes the organization from the
 * transaction's settings.
 */
export function searchFunctionOf(module: EntityModule): SqlFunction | undefined {
  const { search = [], table } = module;
  if (search.length === 0) return undefined;
  const rows = `from ${table} where (${rlsUsingOf(module)}) and deleted_at is null`;
  const [text, words] = [searchedText(search), searchedWords(search)];
  // In parentheses it is computed once, not for each row.
  const [form, pattern] = ['(select matched_form(wanted))', '(select search_pattern(wanted))'];
  // The indexed text is the concatenation of all fields, and a part of a text must lie within one of them.
  const within = search.map((name) => `matched_form(${snakeCase(name)}) like ${pattern}`).join(' or ');
  const names = module.fields['displayId'] ? 'id = upper(wanted) or display_id = upper(wanted)' : 'id = upper(wanted)';
  // The name or title has a higher rank.
  const title = `matched_form(coalesce(${search.slice(0, 1).map(snakeCase).join()}, ''))`;
  const wantedWords = `(select plainto_tsquery('english', matched_form(wanted)))`;
  const inTitle = `to_tsvector('english', ${title})`;
  // Fewer characters have no trigram, and would be looked for in all texts.
  const isLong = `(select length(matched_form(wanted)) > 2)`;
  const name = searchFunctionName(module);
  return {
    name,
    text: `create or replace function ${name}(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = ${minSimilarity} as $$
    with named as (
      select id, 9::real as rank ${rows} and (${names})
    ), worded as (
      select id, (1 + ts_rank(${words}, ${wantedWords}) + case when ${inTitle} @@ ${wantedWords} then 0.5 else 0 end)::real as rank
      ${rows} and ${isLong} and ${words} @@ ${wantedWords} limit ${maxFound}
    ), short as (
      select id, (1 + case when ${title} like ${pattern} then 0.5 else 0 end)::real as rank
      ${rows} and ${words} @@ (select search_shorts(wanted)) limit ${maxFound}
    ), begun as (
      select id, (0.5 + ts_rank(${words}, (select search_beginning(wanted))))::real as rank
      ${rows} and ${words} @@ (select search_beginning(wanted)) and ${text} like (select search_ending(wanted)) limit ${maxFound}
    ), partial as (
      select id, (strict_word_similarity(${form}, ${title}) + case when ${title} like ${pattern} then 0.5 else 0.1 end)::real as rank
      ${rows} and ${isLong} and ${text} like ${pattern} and (${within}) limit ${maxFound}
    ), similar_ones as (
      select id, word_similarity(${form}, ${text}) / 2 as rank
      ${rows} and ${isLong} and ${form} <% ${text}
        and not exists (select from named) and not exists (select from worded) and not exists (select from short)
        and not exists (select from begun) and not exists (select from partial)
      limit ${maxSimilar}
    )
    select id from (select * from named union all select * from worded union all select * from short union all select * from begun
      union all select * from partial union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  $$;
  revoke all on function ${name}(text) from public;
  grant execute on function ${name}(text) to core_app, core_system;
  `,
  };
}

export function searchFunctionName({ table }: EntityModule): string {
  return `search_${table}`;
}
