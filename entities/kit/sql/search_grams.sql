-- Returns the lexemes of short words and East Asian characters in a text, for search_words and search_shorts. form: a
-- text in its matched form. Each lexeme begins with `=`, which distinguishes it from word stems: words of one or two
-- characters, also with signs as in `c#`; each Han, Kana or Hangul character; each pair of neighbours with at least one
-- and no space. The English dictionary drops stop words (`it`), its parser drops signs (`c#`) and takes Han text
-- without spaces for one word; trigrams need three characters. Indexes store the results through search_words: they
-- must be rebuilt after a change of them. The set of East Asian characters must be that of search_shorts.
-- In plpgsql, which keeps its plan: one in SQL would be planned anew for each row when search_words calls it.
create or replace function search_grams(form text)
returns text[]
language plpgsql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
begin return (
select coalesce(array_agg(distinct '=' || gram), '{}') from (
  select word as gram from regexp_split_to_table(form, '[\s.,;:!?()\[\]{}<>"''/\\|]+') as word where length(word) between 1 and 2
  union all
  select word from regexp_split_to_table(form, '[^[:alnum:]]+') as word where length(word) between 1 and 2
  union all
  select gram from (
    select one, lead(one) over (order by place) as next
    from unnest(case when form ~ '[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then string_to_array(form, null) end) with ordinality as characters (one, place)
  ) as neighbours, unnest(array[
    case when one ~ '[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' then one end,
    case when (one || next) ~ '[\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303b\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]' and (one || next) !~ '\s' then one || next end]) as gram
  where gram is not null
) as found
); end
$$;
