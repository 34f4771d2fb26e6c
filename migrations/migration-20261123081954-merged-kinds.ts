import { Migration } from '@mikro-orm/migrations';

export class Migration20261123081954MergedKinds extends Migration {
  override up(): void | Promise<void> {
    this
      .addSql(`create or replace function search_saved_views(wanted text) returns setof text language sql stable security definer
    set search_path = public, pg_temp set pg_trgm.word_similarity_threshold = 0.4 as \$\$
    with named as (
      select id, 9::real as rank from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
    ), worded as (
      select id, (1 + ts_rank(to_tsvector('english', (coalesce(name, ''))), search_query(wanted)) + case when to_tsvector('english', coalesce(name, '')) @@ search_query(wanted) then 0.5 else 0 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and to_tsvector('english', (coalesce(name, ''))) @@ search_query(wanted) limit 5000
    ), partial as (
      select id, (strict_word_similarity(wanted, coalesce(name, '')) + case when coalesce(name, '') ilike search_pattern(wanted) then 0.5 else 0.1 end)::real as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted)) limit 5000
    ), similar_ones as (
      select id, word_similarity(wanted, (coalesce(name, ''))) / 2 as rank
      from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and wanted <% (coalesce(name, ''))
        and not exists (select from named) and not exists (select from worded) and not exists (select from partial)
      limit 200
    )
    select id from (select * from named union all select * from worded union all select * from partial
      union all select * from similar_ones) as found
    group by id order by round(sum(rank)::numeric, 4) desc, id desc
  \$\$`);
    this.addSql(`revoke all on function search_saved_views(text) from public`);
    this.addSql(`grant execute on function search_saved_views(text) to core_app, core_system`);
    this.addSql(`drop index if exists "saved_views_search_index"`);
    this.addSql(
      `create index "saved_views_search_index" on "saved_views" using gin (organization_id, (coalesce(name, '')) gin_trgm_ops, to_tsvector('english', (coalesce(name, '')))) where deleted_at is null`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`CREATE OR REPLACE FUNCTION public.search_saved_views(wanted text)
 RETURNS SETOF text
 LANGUAGE sql
 STABLE SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS \$function\$
    select id from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (coalesce(name, '')) ilike search_pattern(wanted) and (name ilike search_pattern(wanted))
    union
    select id from saved_views where (organization_id = current_setting('core.organization_id', true)) and deleted_at is null and (id = upper(wanted))
  \$function\$
`);
    this.addSql(`drop index if exists "saved_views_search_index"`);
    this.addSql(
      `CREATE INDEX saved_views_search_index ON public.saved_views USING gin (COALESCE(name, ''::text) gin_trgm_ops) WHERE (deleted_at IS NULL)`,
    );
  }
}
