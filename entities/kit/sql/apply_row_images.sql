-- Applies the changes of one primary transaction to the second database, for SecondDatabase.prepare (db.multiwrite).
-- images: JSON of take_row_images, [{table, removed: [primary keys], written: [whole rows]}], applied in this order.
-- Written rows are upserted by primary key; generated columns are left out, identity columns keep their value.
-- A table without a primary key raises P0002 (into strict).
-- The connection of SecondDatabase sets session_replication_role = replica: the effects of triggers are among the
-- images, and a row can refer to one that is not visible there yet. Not security definer, granted to no role: the owner
-- of the second database runs it, in the transaction that is then prepared.
create or replace function apply_row_images(images text)
returns void
language plpgsql
set search_path to 'public', 'pg_temp'
as $$
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
end
$$;
revoke all on function apply_row_images(text) from public;
