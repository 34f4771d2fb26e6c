import { Client } from 'pg';
import { databaseError } from './database-error.ts';

/** Maximum time to connect and to read, in milliseconds. */
const timeoutMs = 5_000;

/**
 * Reads to which installation a database belongs, and whether it has tuples for the authorization store. It uses a connection of its
 * own: those who wait for the answer may hold all connections of the pool.
 * @throws AppError database_unavailable
 */
export async function readInstallation(url: string): Promise<{ readonly id: string; readonly hasTuples: boolean }> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
    application_name: 'core installation',
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ id: string; hasTuples: boolean }>(
      'select id, exists (select 1 from desired_tuples) as "hasTuples" from installation',
    );
    const [row] = rows;
    if (!row) throw new Error('the table "installation" has no row');
    return row;
  } catch (error) {
    throw databaseError(error);
  } finally {
    await client.end();
  }
}
