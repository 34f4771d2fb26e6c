import { Migration } from '@mikro-orm/migrations';

export class Migration20261127145858WhereSignInsBegin extends Migration {
  override up(): void | Promise<void> {
    this.addSql(`alter table "users" add "last_organization_id" text null;`);
    this.addSql(
      `comment on column "users"."last_organization_id" is 'Id of the organization in which the user acted last, where sign-ins begin: that of the last token of a session; at first, the one that invited the user.';`,
    );
    this.addSql(
      `comment on column "users"."default_organization_id" is 'Id of the organization in which sign-ins begin when the user cannot act in the last one; null for the one joined first.';`,
    );
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "users" drop column "last_organization_id";`);
    this.addSql(
      `comment on column "users"."default_organization_id" is 'Id of the organization in which sign-ins begin; null for the one joined first.';`,
    );
  }
}
