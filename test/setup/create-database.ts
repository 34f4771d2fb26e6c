import { Client } from 'pg';

/** Creates a database, from a template when given; one that exists is replaced. */
export async function createDatabase(adminUrl: string, name: string, template?: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists "${name}" with (force)`);
    // Copying files takes less time than writing them through the log: nothing of a test has to survive a crash.
    await client.query(
      template ? `create database "${name}" template "${template}" strategy file_copy` : `create database "${name}"`,
    );
  } finally {
    await client.end();
  }
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  const client = new Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(`drop database if exists "${name}" with (force)`);
  } finally {
    await client.end();
  }
}
