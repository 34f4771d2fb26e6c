-- Returns the primary key of a row as a JSON object, for capture_row_images and compareDatabases.
-- image: to_jsonb of the row. keys: columns of the primary key.
-- Granted to no role: its callers run with the rights of the owner.
create or replace function row_key(image jsonb, keys text[])
returns jsonb
language sql
immutable
as $$
select jsonb_object_agg(key, image -> key) from unnest(keys) as key
$$;
revoke all on function row_key(jsonb,text[]) from public;
