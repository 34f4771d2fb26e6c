import { Migration } from '@mikro-orm/migrations';

const flushed = [
  'alter function take_row_images() rename to collect_row_images',
  'revoke execute on function collect_row_images() from core_app, core_system',
  `create function take_row_images() returns table (gid text, images text)
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    return query select c.gid, c.images from collect_row_images() c;
    -- A server that crashes before it has written anything of a transaction to disk gives its id to another one. What is prepared in
    -- the second database under that id would then wait, and be in the way. PostgreSQL can write at this moment from version 17 on.
    if found and current_setting('server_version_num')::int >= 170000 then
      execute $flush$ select pg_logical_emit_message(false, 'core', '', true) $flush$;
    end if;
  end $$`,
  'revoke all on function take_row_images() from public',
  'grant execute on function take_row_images() to core_app, core_system',
];

const unflushed = [
  'drop function take_row_images()',
  'alter function collect_row_images() rename to take_row_images',
  'grant execute on function take_row_images() to core_app, core_system',
];

/** The ids of transactions that are prepared in a second database survive a crash of the primary one. */
export class Migration20261123151500DurableTransactionIds extends Migration {
  override up(): void {
    for (const statement of flushed) this.addSql(statement);
  }

  override down(): void {
    for (const statement of unflushed) this.addSql(statement);
  }
}
