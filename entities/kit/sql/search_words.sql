-- Returns the lexemes under which a text is found: English word stems and those of search_grams, for search indexes.
-- form: the searched fields of a record, concatenated, in their matched form (searchedWords in searched-text.ts).
-- Indexes store the results and must be rebuilt after a change of them. The configuration is named, so that the result depends
-- on no setting. PUBLIC may execute it, because writers compute index expressions with their own rights.
create or replace function search_words(form text)
returns tsvector
language plpgsql
immutable parallel safe strict
set search_path to 'public', 'pg_temp'
as $$
begin return to_tsvector('pg_catalog.english', form) || array_to_tsvector(search_grams(form)); end
$$;
