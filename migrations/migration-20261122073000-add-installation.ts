import { Migration } from '@mikro-orm/migrations';

/** The id of the installation that a database belongs to. Its authorization store carries the same id. */
export class Migration20261122073000AddInstallation extends Migration {
  override up(): void {
    this.addSql(`create table installation (
      id text not null,
      only_row boolean primary key default true check (only_row)
    )`);
    // Privileges that new tables get by default are for records.
    this.addSql('revoke all on installation from core_app, core_system');
    this.addSql(`insert into installation (id) values (replace(gen_random_uuid()::text, '-', ''))`);
  }

  override down(): void {
    this.addSql('drop table installation');
  }
}
