-- Returns the LIKE pattern of texts that contain the last word of a search, for the search functions of kinds.
-- wanted: the search as typed; its last word may be incomplete. Null for a search without words. The pattern is for
-- matched forms.
-- It is used together with search_beginning, and both must split words alike.
create or replace function search_ending(wanted text)
returns text
language sql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
select search_pattern((select word from regexp_split_to_table(matched_form(wanted), '[^[:alnum:]]+') with ordinality as part (word, n) where word <> '' order by n desc limit 1))
$$;
