import { readFile } from 'node:fs/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migrate, migrateDown, migrationState, schemaDrift } from '#migrations/migrator.ts';
import { migrations } from '#migrations/index.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/database.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
const name = `migrations_${process.pid}`;
const url = inject('stack').postgresUrl.replace('DATABASE', name);

beforeAll(() => createDatabase(admin, name));
afterAll(() => dropDatabase(admin, name));

test('migrations run up, down and up again, and leave the schema the entities describe', async () => {
  const names = migrations.map((migration) => migration.name);
  expect(await migrate(url)).toEqual(names);
  const schema = await tables();
  expect(await migrateDown(url, { to: 0 })).toEqual(names.toReversed());
  expect(await tables()).toEqual(['migrations']);
  expect(await migrate(url)).toEqual(names);
  expect(await tables()).toEqual(schema);
  expect(await schemaDrift(url)).toEqual([]);
});

test('asking for the state leaves nothing behind', async () => {
  expect(await migrateDown(url, { to: 0 })).toHaveLength(migrations.length);
  await inDatabase((client) => client.query('drop table migrations'));
  expect(await migrationState(url)).toEqual({
    executed: [],
    pending: migrations.map((migration) => migration.name),
    unknown: [],
  });
  expect(await tables()).toEqual([]);
  await migrate(url);
});

test.each([migrate, migrationState])('%o makes no database that does not exist', async (run) => {
  const typo = `${name}_typo`;
  await expect(run(url.replace(name, typo))).rejects.toMatchObject({
    code: 'database_unavailable',
    message: expect.stringContaining(`database "${typo}" does not exist`),
    // Waiting does not help.
    details: {},
  });
  expect(
    await inDatabase((client) => client.query('select 1 from pg_database where datname = $1', [typo])),
  ).toMatchObject({ rowCount: 0 });
});

test('a second run has nothing to do, and runs at the same time wait for each other', async () => {
  expect(await Promise.all([migrate(url), migrate(url), migrate(url)])).toEqual([[], [], []]);
  expect(await migrationState(url)).toMatchObject({ pending: [], unknown: [] });
});

test('a database with migrations this version does not know is refused, and says which', async () => {
  await inDatabase((client) => client.query(`insert into migrations (name) values ('9999-from-the-future')`));
  await expect(migrate(url)).rejects.toMatchObject({
    code: 'schema_too_new',
    message: expect.stringContaining('9999-from-the-future'),
  });
  await inDatabase((client) => client.query(`delete from migrations where name = '9999-from-the-future'`));
});

test('every migration stands in the index, and the index holds nothing else', async () => {
  const index = await readFile(new URL('../../migrations/index.ts', import.meta.url), 'utf8');
  for (const { name: migration } of migrations) expect(index).toContain(`./migration-${migration}.ts`);
});

function tables(): Promise<string[]> {
  return inDatabase(async (client) => {
    // Day partitions depend on the day.
    const { rows } = await client.query<{ name: string }>(
      `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relname !~ '_[0-9]{8}$' order by 1`,
    );
    return rows.map((row) => row.name);
  });
}

async function inDatabase<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
