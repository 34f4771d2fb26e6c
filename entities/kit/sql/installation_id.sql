-- Returns the id of the installation, for settlePrepared.
-- It is part of the names of prepared transactions (collect_row_images); settlePrepared ends only those with its own
-- id.
-- Security definer: core_system has no rights to the table installation.
create or replace function installation_id()
returns text
language sql
stable security definer
set search_path to 'public', 'pg_temp'
as $$
select id from installation
$$;
revoke all on function installation_id() from public;
grant execute on function installation_id() to core_system;
