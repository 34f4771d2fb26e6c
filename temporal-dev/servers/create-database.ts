import { Client } from 'pg';

/**
 * Creates an empty database, or a copy of `template`, which must have no connections. `url` is any database of the same
 * server. Throws when a database with this name exists.
 */
export async function createDatabase(url: string, name: string, template?: string): Promise<void> {
  await withClient(url, async (client) => {
    // Copying the files is faster than writing every page to the log, except for very small templates.
    const copy = template === undefined ? '' : ` template ${client.escapeIdentifier(template)} strategy file_copy`;
    await client.query(`create database ${client.escapeIdentifier(name)}${copy}`);
  });
}

/** Creates an empty database unless one with this name exists. Resolves with true when it was created. */
export async function ensureDatabase(url: string, name: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
    return rowCount === 0;
  });
}

/** Drops a database and closes its connections. Does nothing when it does not exist. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  });
}

async function withClient<T>(url: string, action: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // When the server ends, the running query fails. Without a listener, the event would also end this process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await action(client);
  } finally {
    await client.end();
  }
}
