import { Client } from 'pg';

/**
 * Makes an empty database, or a copy of `template`, which nobody may be connected to. `url` is any database of the same
 * server. Throws when there is one of that name.
 */
export async function createDatabase(url: string, name: string, template?: string): Promise<void> {
  await withClient(url, async (client) => {
    // Copying files beats logging every page for anything but the smallest template.
    const copy = template === undefined ? '' : ` template ${client.escapeIdentifier(template)} strategy file_copy`;
    await client.query(`create database ${client.escapeIdentifier(name)}${copy}`);
  });
}

/** Makes an empty database unless there is one of that name. Resolves with true when it was made. */
export async function ensureDatabase(url: string, name: string): Promise<boolean> {
  return await withClient(url, async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
    return rowCount === 0;
  });
}

/** Removes a database with whoever is connected to it. Does nothing when there is none. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(`drop database if exists ${client.escapeIdentifier(name)} with (force)`);
  });
}

async function withClient<T>(url: string, action: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  // A server that goes away fails the query in hand; unheard, the event would end the process besides.
  client.on('error', () => {});
  await client.connect();
  try {
    return await action(client);
  } finally {
    await client.end();
  }
}
