import { Migration } from '@mikro-orm/migrations';

/** People who operate the installation over REST, and when each of them got and lost that (`npm run operators`). */
export class Migration20261123205000Operators extends Migration {
  override up(): void {
    this.addSql(`create table operators (
      id text primary key,
      user_id text not null,
      granted_at timestamptz not null,
      granted_by text not null,
      grant_reason text not null,
      -- The three are null while it counts.
      revoked_at timestamptz,
      revoked_by text,
      revoke_reason text,
      check ((revoked_at is null) = (revoked_by is null) and (revoked_at is null) = (revoke_reason is null))
    )`);
    this.addSql('create unique index operators_now on operators (user_id) where revoked_at is null');
    this.addSql('revoke all on operators from core_app, core_system');
    this.addSql('grant select, insert, update (revoked_at, revoked_by, revoke_reason) on operators to core_system');
  }

  override down(): void {
    this.addSql('drop table operators');
  }
}
