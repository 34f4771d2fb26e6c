-- Takes what a transaction changed for the second database, as its last statement before COMMIT (Transaction.commit).
-- Returns the row of collect_row_images (gid, images); none when nothing was captured. Raises its CR503.
-- A server that crashes now could give the id of this transaction to another one, which the transaction prepared in the
-- second database under this id would block. Flushing the WAL prevents that (PostgreSQL 17 or later;
-- docs/decisions/two-databases.md).
-- Security definer: collect_row_images is granted to no role.
create or replace function take_row_images()
returns table(gid text, images text)
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
begin
  return query select c.gid, c.images from collect_row_images() c;
  if found and current_setting('server_version_num')::int >= 170000 then
    execute $flush$ select pg_logical_emit_message(false, 'core', '', true) $flush$;
  end if;
end
$$;
revoke all on function take_row_images() from public;
grant execute on function take_row_images() to core_app, core_system;
