import { Migration } from '@mikro-orm/migrations';

/** What operators do to stored bytes is kept; the audit reads keys in the order of their bytes, as providers list them. */
export class Migration20261122233500FileOperations extends Migration {
  override up(): void {
    this.addSql(`create table file_operations (
      id text primary key,
      at timestamptz not null,
      operation text not null check (operation in ('restore', 'restore-missing', 'restore-all', 'purge')),
      -- Null for an operation on all files. The object may be gone by now.
      object_id text,
      organization_id text,
      operator text not null,
      reason text not null
    )`);
    this.addSql('revoke all on file_operations from core_app, core_system');
    this.addSql('grant select, insert on file_operations to core_system');
    this.addSql('create index file_operations_object on file_operations (object_id)');
    this.addSql('create index stored_objects_place on stored_objects (provider, bucket, key collate "C")');
    this.addSql('create index object_copies_place on object_copies (provider, bucket, key collate "C")');
  }

  override down(): void {
    this.addSql('drop index object_copies_place');
    this.addSql('drop index stored_objects_place');
    this.addSql('drop table file_operations');
  }
}
