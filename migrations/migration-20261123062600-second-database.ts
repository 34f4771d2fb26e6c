import { Migration } from '@mikro-orm/migrations';

const tables = [
  // Whether changes of this database are written to a second one (`off`, `copying` until the first copy is complete, `on`), or
  // whether it is such a second one. `epoch` is new with each first copy; a second database with another one is not up to date.
  `create table second_database (
    state text not null check (state in ('off', 'copying', 'on', 'second')),
    epoch text not null default '',
    only_row boolean primary key default true check (only_row)
  )`,
  `insert into second_database (state) values ('off')`,
  // What the statements of a transaction have changed. The rows are removed before it commits, so nobody else ever sees one.
  `create unlogged table row_images (
    xid xid8 not null default pg_current_xact_id(),
    position bigint generated always as identity,
    table_name text not null,
    removed jsonb not null,
    written jsonb not null
  )`,
  'create index row_images_xid on row_images (xid)',
  // Transactions that committed here and must therefore commit in the second database, until they have.
  'create table commit_decisions (xid xid8 primary key)',
  'revoke all on second_database, row_images, commit_decisions from core_app, core_system',
];

const functions = [
  `create function row_key(image jsonb, keys text[]) returns jsonb language sql immutable as $$
    select jsonb_object_agg(key, image -> key) from unnest(keys) as key
  $$`,
  // Trigger of every table while there is a second database; its arguments are the columns of the primary key.
  `create function capture_row_images() returns trigger
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    keys text[] := tg_argv[0:]; gone jsonb := '[]'; written jsonb := '[]';
  begin
    if tg_op <> 'DELETE' then
      select coalesce(jsonb_agg(to_jsonb(a)), '[]') into written from after_rows a;
    end if;
    if tg_op = 'DELETE' then
      select coalesce(jsonb_agg(row_key(to_jsonb(b), keys)), '[]') into gone from before_rows b;
    elsif tg_op = 'UPDATE' then
      select coalesce(jsonb_agg(key), '[]') into gone from (
        select row_key(to_jsonb(b), keys) as key from before_rows b
        except select row_key(to_jsonb(a), keys) from after_rows a) as changed;
    end if;
    if gone <> '[]' or written <> '[]' then
      insert into row_images (table_name, removed, written) values (tg_table_name, gone, written);
    end if;
    return null;
  end $$`,
  // At COMMIT: nothing is changed in this database alone.
  `create function require_commit_decision() returns trigger
    language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    if exists (select from row_images where xid = pg_current_xact_id())
      or not exists (select from commit_decisions where xid = pg_current_xact_id()) then
      raise exception 'Changes of this database are written to a second database as well, and this one was not.'
        using errcode = 'CR503', hint = 'Set db.multiwrite for this process, or start the API without it to end it everywhere.';
    end if;
    return null;
  end $$`,
  `create constraint trigger require_decision after insert on row_images deferrable initially deferred
    for each row execute function require_commit_decision()`,
  // The last statement of a transaction: what it changed, for the second database, and the decision that becomes true when it commits.
  `create function take_row_images() returns table (gid text, images text)
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare taken jsonb;
  begin
    if pg_current_xact_id_if_assigned() is null then return; end if;
    if not exists (select from second_database where state in ('copying', 'on')) then
      raise exception 'The changes of this database are no longer written to a second one.'
        using errcode = 'CR503', hint = 'Start this process again, or without db.multiwrite.';
    end if;
    with gone as (delete from row_images where xid = pg_current_xact_id() returning position, table_name, removed, written)
    select jsonb_agg(jsonb_build_object('table', table_name, 'removed', removed, 'written', written) order by position)
      into taken from gone;
    if taken is null then return; end if;
    insert into commit_decisions (xid) values (pg_current_xact_id());
    -- A decision that a crash of the server forgets would leave the second database ahead.
    perform set_config('synchronous_commit', 'on', true)
      where current_setting('synchronous_commit') = 'off';
    return query select format('core_%s_%s', i.id, pg_current_xact_id()), taken::text from installation i;
  end $$`,
  // In the second database: what a transaction changed, in its order.
  `create function apply_row_images(images text) returns void language plpgsql set search_path = public, pg_temp as $$
  declare
    image jsonb; target text; keys text; matches text; columns text; changes text;
  begin
    for image in select value from jsonb_array_elements(images::jsonb) with ordinality order by ordinality loop
      target := image ->> 'table';
      select string_agg(format('%I', a.attname), ', ' order by a.attnum) filter (where a.attnum = any(i.indkey)),
        string_agg(format('t.%1$I = k.%1$I', a.attname), ' and ') filter (where a.attnum = any(i.indkey)),
        string_agg(format('%I', a.attname), ', ' order by a.attnum) filter (where a.attgenerated = ''),
        string_agg(format('%1$I = excluded.%1$I', a.attname), ', ')
          filter (where a.attgenerated = '' and a.attnum <> all(i.indkey))
        into strict keys, matches, columns, changes
        from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum > 0 and not a.attisdropped
        where i.indrelid = format('public.%I', target)::regclass and i.indisprimary group by i.indexrelid;
      if image -> 'removed' <> '[]' then
        execute format('delete from %1$I t using jsonb_populate_recordset(null::%1$I, $1) k where %2$s', target, matches)
          using image -> 'removed';
      end if;
      if image -> 'written' <> '[]' then
        execute format('insert into %1$I (%2$s) overriding system value select %2$s from jsonb_populate_recordset(null::%1$I, $1)
          on conflict (%3$s) do %4$s', target, columns, keys, coalesce('update set ' || changes, 'nothing'))
          using image -> 'written';
      end if;
    end loop;
  end $$`,
  // What became of transactions whose changes are prepared in the second database. The second statement sees what was committed
  // while the first one ran.
  `create function commit_outcomes(wanted text[]) returns table (xid text, outcome text)
    language plpgsql security definer set search_path = public, pg_temp as $$
  declare state text;
  begin
    foreach xid in array wanted loop
      begin
        state := pg_xact_status(xid::xid8);
      exception when invalid_parameter_value then
        state := 'unknown';
      end;
      outcome := case
        when exists (select from commit_decisions d where d.xid = commit_outcomes.xid::xid8) then 'commit'
        when state = 'in progress' then 'wait'
        when state = 'unknown' then 'unknown'
        else 'rollback' end;
      return next;
    end loop;
  end $$`,
  `create function installation_id() returns text
    language sql stable security definer set search_path = public, pg_temp as $$ select id from installation $$`,
  `create function decided_commits() returns text[]
    language sql stable security definer set search_path = public, pg_temp as $$
    select coalesce(array_agg(xid::text), '{}') from commit_decisions
  $$`,
  `create function forget_commit_decisions(wanted text[]) returns void
    language sql security definer set search_path = public, pg_temp as $$
    delete from commit_decisions where xid = any(wanted::xid8[])
  $$`,
  `revoke all on function row_key(jsonb, text[]), capture_row_images(), require_commit_decision(), take_row_images(),
    apply_row_images(text), commit_outcomes(text[]), decided_commits(),
    forget_commit_decisions(text[]), installation_id() from public`,
  'grant execute on function take_row_images() to core_app, core_system',
  'grant execute on function commit_outcomes(text[]), decided_commits(), forget_commit_decisions(text[]), installation_id() to core_system',
];

/** Changes can be written to a second database as well (`db.multiwrite`). */
export class Migration20261123062600SecondDatabase extends Migration {
  override up(): void {
    for (const statement of [...tables, ...functions]) this.addSql(statement);
  }

  override down(): void {
    this.addSql('drop table second_database, row_images, commit_decisions');
    this
      .addSql(`drop function capture_row_images(), require_commit_decision(), take_row_images(), apply_row_images(text),
      commit_outcomes(text[]), decided_commits(), forget_commit_decisions(text[]), installation_id(), row_key(jsonb, text[]) cascade`);
  }
}
