import { Migration } from '@mikro-orm/migrations';

/** Of tags of an organization whose names differ in the case of their letters alone, the oldest one keeps its name. */
const renameTwins = `update tags t set name = left(t.name, 37) || '-' || t.id
  where t.deleted_at is null and exists (
    select 1 from tags o where o.organization_id = t.organization_id and o.deleted_at is null and lower(o.name) = lower(t.name) and o.id < t.id)`;

/** Two tags of an organization cannot have names that differ only in the case of their letters. */
export class Migration20261124003100TagsOfAnyCase extends Migration {
  readonly locks = {
    tags: 'an organization has few tags, and their index is built in the transaction that renames twins',
  };

  override up(): void {
    this.addSql(renameTwins);
    this.addSql('drop index "tags_organization_id_name_key";');
    this.addSql(
      'create index "tags_organization_id_name_id_index" on "tags" ("organization_id", "name", "id") where deleted_at is null;',
    );
    this.addSql(
      'create unique index "tags_organization_id_lower_name_key" on "tags" ("organization_id", lower("name")) where deleted_at is null',
    );
  }

  override down(): void {
    this.addSql('drop index "tags_organization_id_lower_name_key";');
    this.addSql('drop index "tags_organization_id_name_id_index";');
    this.addSql(
      'create unique index "tags_organization_id_name_key" on "tags" ("organization_id", "name") where deleted_at is null;',
    );
  }
}
