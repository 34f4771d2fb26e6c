import { Pool, type QueryResultRow } from 'pg';
import type { World } from './world.ts';

/** Connections by URL of the database. A connection costs the server as much as ten statements, and some tests ask again and again. */
const pools = new Map<string, Pool>();

/** One statement as the database's owner, past roles, row-level security and units of work: for reading what was really stored. */
export async function asOwner<Row extends QueryResultRow>(
  { databaseUrl }: Pick<World, 'databaseUrl'>,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const pool = pools.get(databaseUrl) ?? openPool(databaseUrl);
  return (await pool.query<Row>(text, [...values])).rows;
}

function openPool(connectionString: string): Pool {
  // Enough for statements that wait for each other.
  const pool = new Pool({ connectionString, max: 60, idleTimeoutMillis: 2_000, allowExitOnIdle: true });
  // Idle connections end with their database.
  pool.on('error', () => {});
  pools.set(connectionString, pool);
  return pool;
}
