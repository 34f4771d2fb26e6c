import { Migration } from '@mikro-orm/migrations';

/** Names of the text lists of all kinds, as history entries have them. Tables of kinds have versions of their rows. */
const lists = `select c.table_name, c.column_name,
    lower(left(c.column_name, 1)) || substr(replace(initcap(replace(c.column_name, '_', ' ')), ' ', ''), 2) as field
  from information_schema.columns c
  join information_schema.columns v on v.table_schema = c.table_schema and v.table_name = c.table_name and v.column_name = 'record_version'
  where c.table_schema = 'public' and c.udt_name = '_text'`;

/**
 * An item with the text "null", in any case, was stored as NULL. The history entry of the change has its letters; entries of later
 * changes have no item either.
 */
const repair = `do $repair$ declare list record; begin
  for list in ${lists} loop
    execute format($update$update %1$I r set %2$I = array(
        select coalesce(i.item, (select h.snapshot -> %3$L ->> (i.place - 1)::int from history h
          where h.entity_id = r.id and h.record_version <= r.record_version and h.snapshot -> %3$L ->> (i.place - 1)::int ilike 'null'
          order by h.record_version desc limit 1), 'null')
        from unnest(r.%2$I) with ordinality i (item, place) order by i.place)
      where array_position(r.%2$I, null) is not null$update$, list.table_name, list.column_name, list.field);
  end loop;
end $repair$`;

const repairHistory = `with lists as materialized (select array_agg(distinct field) as fields from (${lists}) each)
  update history h set snapshot = h.snapshot || (
      select jsonb_object_agg(field, (select jsonb_agg(case when item = 'null' then '"null"' else item end order by place)
        from jsonb_array_elements(h.snapshot -> field) with ordinality i (item, place)))
      from unnest(lists.fields) field
      where jsonb_typeof(h.snapshot -> field) = 'array' and h.snapshot -> field @> '[null]')
  from lists where exists (select 1 from unnest(lists.fields) field
    where jsonb_typeof(h.snapshot -> field) = 'array' and h.snapshot -> field @> '[null]')`;

/** Lists have the items that were sent: a text "null" among them was lost. */
export class Migration20261127141500WholeLists extends Migration {
  override up(): void {
    this.addSql(repair);
    this.addSql(repairHistory);
  }

  override down(): void {
    // Nothing has to be taken back.
  }
}
