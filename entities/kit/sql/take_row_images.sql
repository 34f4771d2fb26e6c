-- Takes what a transaction changed for the second database, as its last statement before COMMIT (Transaction.commit).
-- Returns the row of collect_row_images (gid, images); none when nothing was captured. Raises its CR503.
-- With PostgreSQL 17 or later it flushes the WAL: a server that crashes before anything of the transaction is on disk
-- would give its id to another one, and what is prepared in the second database under this id would wait and be in the
-- way. Older versions cannot do this (docs/decisions/two-databases.md).
-- Security definer: collect_row_images is granted to no role.
create or replace function take_row_images()
returns table(gid text, images text)
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return query select c.gid, c.images from collect_row_images() c;
-- A server that crashes before it has written anything of a transaction to disk gives its id to another one. The transaction prepared in
-- the second database under that id would then stay there and block others. PostgreSQL can write at this moment from version 17 on.
  if found and current_setting('server_version_num')::int >= 170000 then
    execute $flush$ select pg_logical_emit_message(false, 'core', '', true) $flush$;
  end if;
end
$$;
revoke all on function take_row_images() from public;
grant execute on function take_row_images() to core_app, core_system;
