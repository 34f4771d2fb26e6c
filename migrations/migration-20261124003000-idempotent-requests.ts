import { Migration } from '@mikro-orm/migrations';

/** Answers to requests with an `Idempotency-Key`, which a request that is sent again gets again. */
export class Migration20261124003000IdempotentRequests extends Migration {
  override up(): void {
    this.addSql(`create table idempotent_requests (
      key bytea primary key,
      answer text not null,
      expires_at timestamptz not null
    )`);
    this.addSql('create index idempotent_requests_expires on idempotent_requests (expires_at)');
    this.addSql('revoke all on idempotent_requests from core_app, core_system');
    this.addSql('grant select, insert, update, delete on idempotent_requests to core_system');
  }

  override down(): void {
    this.addSql('drop table idempotent_requests');
  }
}
