-- Returns the form in which filters, searches and their indexes compare texts: no case, accents, invisible characters.
-- The SQL of entities/kit/storage (matched-form, searched-text, search-function, list-indexes) calls it. ASCII texts,
-- which most are, need lower() only.
-- One SQL expression without `set`, so that PostgreSQL inlines it; names are qualified because indexes are built with
-- an empty search path. PUBLIC may execute it, because writers compute index expressions with their own rights.
-- Indexes store its results: a change here or in matched_form_beyond_ascii requires all of them to be rebuilt.
create or replace function matched_form(given text)
returns text
language sql
immutable parallel safe
as $$
select case when octet_length(given) = length(given) then lower(given collate "C")
  else public.matched_form_beyond_ascii(given) collate "C" end
$$;
