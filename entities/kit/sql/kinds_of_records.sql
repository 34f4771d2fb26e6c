-- Returns the kinds of records by their ids, in the order of the ids, for Answers.nodes (look-ups by id alone).
-- A kind is its name in snake_case; null for an unknown id and for a record of another organization than
-- core.organization_id.
-- It gives no right: the records are then read under the rules of their kinds. Security definer: core_app cannot read
-- record_kinds, so the condition on the organization stands in the body.
create or replace function kinds_of_records(ids text[])
returns text[]
language plpgsql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return array(
    select r.kind from unnest(ids) with ordinality as given (id, position)
    left join record_kinds r on r.id = given.id
      and (r.organization_id is null or r.organization_id = current_setting('core.organization_id', true))
    order by given.position);
end
$$;
revoke all on function kinds_of_records(text[]) from public;
grant execute on function kinds_of_records(text[]) to core_app, core_system;
