import { Migration } from '@mikro-orm/migrations';

export class Migration20261123000523Avatars extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "avatar" text null;`);
    this.addSql(`comment on column "users"."avatar" is 'Picture of the person.';`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "avatar";`);
  }
}
