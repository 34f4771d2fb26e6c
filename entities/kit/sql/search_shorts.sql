-- Returns the query for a search of short or East Asian words only, for the search functions of kinds.
-- wanted: the search as typed, split at white space. A word of one or two characters is looked up as such; of a longer
-- one in Han, Kana or Hangul, all pairs of neighbours must occur. Null as soon as one word is neither, and without
-- words.
-- The lexemes are those of search_grams, which the index has through search_words; change them together.
create or replace function search_shorts(wanted text)
returns tsquery
language sql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
select string_agg('''' || replace(replace(gram, '\', '\\'), '''', '''''') || '''', ' & ')::tsquery
from regexp_split_to_table(matched_form(wanted), '\s+') as word,
  unnest(case when length(word) <= 2 then array['=' || word] else array(select pair from unnest(search_grams(word)) as pair where length(pair) = 3) end) as gram
where word <> ''
having bool_and(length(word) <= 2 or word ~ '^[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+$')
$$;
