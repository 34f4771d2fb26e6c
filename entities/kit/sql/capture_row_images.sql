-- Statement trigger that records in row_images which rows a statement changed, for the second database (db.multiwrite).
-- second/row-capture.ts installs it as second_insert, second_update and second_delete on every copied table, with
-- the transition tables after_rows and before_rows. Its arguments are the columns of the primary key.
-- written: whole rows afterwards. removed: primary keys of deleted rows, and former keys that an update changed.
-- TRUNCATE and statements that name a partition instead of its parent are not captured. Security definer: no role has
-- rights to row_images. collect_row_images takes the rows before COMMIT; require_commit_decision refuses it otherwise.
create or replace function capture_row_images()
returns trigger
language plpgsql
security definer
set search_path to 'public', 'pg_temp'
as $$
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
end
$$;
revoke all on function capture_row_images() from public;
