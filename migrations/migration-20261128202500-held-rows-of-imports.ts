import { Migration } from '@mikro-orm/migrations';

const problems = 'Problems of the document: up to 100 messages with line and column, in the order of the lines.';

export class Migration20261128202500HeldRowsOfImports extends Migration {
  override up(): void {
    this.addSql('alter table "imports" add column "held_rows" bigint null;');
    this.addSql(
      `comment on column "imports"."held_rows" is 'Number of records of which a change is held until people approve it; null until the import has completed.';`,
    );
    this.addSql(
      `comment on column "imports"."problems" is '${problems} Of a completed import, what is held until people approve it.';`,
    );
  }

  override down(): void {
    this.addSql(`comment on column "imports"."problems" is '${problems}';`);
    this.addSql('alter table "imports" drop column "held_rows";');
  }
}
