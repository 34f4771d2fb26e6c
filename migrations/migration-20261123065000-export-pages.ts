import { Migration } from '@mikro-orm/migrations';

/** Pages of documents that exports write, until the whole document is stored. */
export class Migration20261123065000ExportPages extends Migration {
  override up(): void {
    this.addSql(`create table export_pages (
      run_id text not null,
      export_id text not null,
      number int not null,
      bytes bytea not null,
      row_count int not null,
      -- Cursor behind the last record of the page; null for the last page.
      next text,
      primary key (run_id, number)
    )`);
    this.addSql('revoke all on export_pages from core_app, core_system');
    this.addSql('grant select, insert, delete on export_pages to core_system');
  }

  override down(): void {
    this.addSql('drop table export_pages');
  }
}
