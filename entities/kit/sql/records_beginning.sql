-- Returns ids of the records of one organization whose text begins with another text, for `startsWith` (read/where.ts).
-- wanted_table and wanted_column: names of the database. beginning: as given; the matched forms are compared.
-- Security definer: the comparison is not leakproof, so below row-level security no index would serve it. It therefore
-- reads the organization from core.organization_id, as the policy does, and returns ids only, to which the statement
-- applies the rules.
-- left(matched_form(…), 100) collate "C" must be the expression of the indexes `<table>_<column>_beginning`
-- (list-indexes.ts); the second condition compares what is beyond 100 characters.
create or replace function records_beginning(wanted_table text, wanted_column text, beginning text)
returns setof text
language plpgsql
stable security definer rows 100
set search_path to 'public', 'pg_temp'
as $$
begin
  return query execute format(
    'select t.id from %I as t where t.organization_id = $2 and t.deleted_at is null
       and starts_with(left(matched_form(t.%2$I), 100) collate "C", left($1, 100)) and starts_with(matched_form(t.%2$I), $1)',
    wanted_table, wanted_column)
    using matched_form(beginning), current_setting('core.organization_id', true);
end
$$;
revoke all on function records_beginning(text,text,text) from public;
grant execute on function records_beginning(text,text,text) to core_app, core_system;
