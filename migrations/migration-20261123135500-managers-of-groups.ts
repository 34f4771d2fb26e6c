import { Migration } from '@mikro-orm/migrations';

export class Migration20261123135500ManagersOfGroups extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "groups" add "manager_id" text null;`);
    this.addSql(
      `comment on column "groups"."manager_id" is 'Person who manages the group without being in it: whoever created it with a role of a parent organization. Null for other groups.';`,
    );
    this.addSql(`create index "groups_manager_id_index" on "groups" ("manager_id") where manager_id is not null;`);
    this.addSql(
      `alter table "groups" add constraint "groups_manager_id_foreign" foreign key ("manager_id") references "users" ("id") on update no action on delete restrict;`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "groups" drop column "manager_id";`);
  }
}
