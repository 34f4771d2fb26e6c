-- Returns the query for all words of a search but the last, which may be incomplete, for search functions of kinds.
-- wanted: the search as typed. Null for fewer than two words, and when the others are stop words only.
-- It and search_ending must split words alike. They replace a query with a prefix (`:*`), which would read words with
-- this prefix in all organizations first (entities/kit/storage/search-function.ts).
create or replace function search_beginning(wanted text)
returns tsquery
language sql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
select case when numnode(query) > 0 then query end
from (select plainto_tsquery('english', array_to_string(trim_array(words, 1), ' ')) as query
  from (select array(select word from regexp_split_to_table(matched_form(wanted), '[^[:alnum:]]+') with ordinality as part (word, n) where word <> '' order by n) as words) as parts where cardinality(words) > 1) as beginning
$$;
