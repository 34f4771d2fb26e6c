import { Client, type QueryResultRow } from 'pg';
import type { World } from './world.ts';

/** One statement as the database's owner, past roles, row-level security and units of work: for reading what was really stored. */
export async function asOwner<Row extends QueryResultRow>(
  world: Pick<World, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}
