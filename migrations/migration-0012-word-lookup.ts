import { Migration } from '@mikro-orm/migrations';

/** What the filter `has` of lists of words stands on (docs/decisions/indexes-below-the-wall.md). */
export class Migration0012WordLookup extends Migration {
  override up(): void {
    // The expression of the indexes: a word of one organization is not looked for among those of all.
    this.addSql(`create function tenant_words(organization_id text, words text[]) returns text[]
      language sql immutable parallel safe as $$ select array_agg(organization_id || ' ' || word) from unnest(words) as word $$`);
    // Looks past the wall, so it takes the organization from where the wall takes it, and says nothing of a row but its id.
    this.addSql(`create function records_holding(wanted_table text, wanted_column text, word text) returns setof text
      language plpgsql stable security definer rows 100 set search_path = public, pg_temp as $$
      begin
        return query execute format(
          'select t.id from %I as t where tenant_words(t.organization_id, t.%I) @> array[$1] and t.deleted_at is null',
          wanted_table, wanted_column)
          using current_setting('core.organization_id', true) || ' ' || word;
      end $$`);
    this.addSql('revoke all on function records_holding(text, text, text) from public');
    this.addSql('grant execute on function records_holding(text, text, text) to core_app, core_system');
  }

  override down(): void {
    this.addSql('drop function records_holding(text, text, text)');
    this.addSql('drop function tenant_words(text, text[])');
  }
}
