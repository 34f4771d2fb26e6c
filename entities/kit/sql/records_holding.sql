-- Returns ids of the records of one organization whose list contains a word, for `has` filters (read/where.ts).
-- wanted_table and wanted_column: names of the database. word: compared exactly.
-- Security definer: `@>` is not leakproof, so below row-level security no index would serve it. It therefore reads the
-- organization from core.organization_id, as the policy does, and returns ids only, to which the statement applies the
-- rules.
-- tenant_words(organization_id, …) must be the expression of the GIN indexes `<table>_<column>_words` (orm-schema.ts).
create or replace function records_holding(wanted_table text, wanted_column text, word text)
returns setof text
language plpgsql
stable security definer rows 100
set search_path to 'public', 'pg_temp'
as $$
begin
  return query execute format(
    'select t.id from %I as t where tenant_words(t.organization_id, t.%I) @> array[$1] and t.deleted_at is null',
    wanted_table, wanted_column)
    using current_setting('core.organization_id', true) || ' ' || word;
end
$$;
revoke all on function records_holding(text,text,text) from public;
grant execute on function records_holding(text,text,text) to core_app, core_system;
