-- Returns the words of a list, each as `<organization id> <word>`, for GIN indexes of text lists and records_holding.
-- A look-up thus reads words of one organization only (docs/decisions/indexes-below-row-level-security.md). Null for an
-- empty list.
-- Indexes store the results (wordIndexes in orm-schema.ts): they must be rebuilt after a change. PUBLIC may execute it,
-- because writers compute index expressions with their own rights.
create or replace function tenant_words(organization_id text, words text[])
returns text[]
language sql
immutable parallel safe
as $$
select array_agg(organization_id || ' ' || word) from unnest(words) as word
$$;
