import { Migration } from '@mikro-orm/migrations';

export class Migration0009PeopleMayBeMissing extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "tasks" alter column "assigner_id" drop not null;`);

    this.addSql(`alter table "notes" alter column "owner_id" drop not null;`);

    this.addSql(`alter table "files" alter column "owner_id" drop not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "files" alter column "owner_id" set not null;`);

    this.addSql(`alter table "notes" alter column "owner_id" set not null;`);

    this.addSql(`alter table "tasks" alter column "assigner_id" set not null;`);
  }
}
