import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Migration } from '@mikro-orm/migrations';

/** Files of `migrations/first` in their order. */
const parts = [
  'schema',
  'storage',
  'access',
  'objects',
  'outbox',
  'identity',
  'organizations',
  'groups',
  'work',
  'files',
  'notifications',
  'email',
  'integrations',
  'billing',
  'transfers',
  'between-tables',
  'rows',
];

/** Tables with their indexes, policies, triggers and privileges, and the rows that every installation has. */
export class Migration20261127120000First extends Migration {
  override up(): void {
    for (const statement of statements) this.addSql(statement);
  }

  override down(): void {
    const tables = statements.flatMap((statement) => /^create (?:unlogged )?table (\w+)/.exec(statement)?.[1] ?? []);
    this.addSql(`drop table ${tables.join(', ')}`);
    this.addSql('drop collation record_order');
    // Roles and extensions stay: they belong to the server, and other databases may use them.
    this.addSql(
      'alter default privileges in schema public revoke select, insert, update on tables from core_app, core_system',
    );
  }
}

const statements = parts.flatMap((part) =>
  readFileSync(join(import.meta.dirname, 'first', `${part}.sql`), 'utf8')
    .split(/;\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== ''),
);
