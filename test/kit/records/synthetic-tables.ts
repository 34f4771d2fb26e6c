import { Client } from 'pg';
import type { Registry } from '#entities/kit/model/registry.ts';
import { schemaDrift } from '#migrations/migrator.ts';

/** Creates whatever tables, indexes, policies and search functions of these kinds a migrated database lacks. */
export async function createTables(databaseUrl: string, registry: Registry): Promise<void> {
  const statements = await schemaDrift(databaseUrl, registry);
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statements.map((statement) => statement.replace(/;?$/, ';')).join('\n'));
  } finally {
    await client.end();
  }
}
