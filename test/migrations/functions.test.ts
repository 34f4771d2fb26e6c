import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { registry } from '#entities/index.ts';
import type { SqlFunction } from '#entities/kit/storage/search-function.ts';
import {
  createFunctions,
  dropFunctions,
  functionDifference,
  functionsOf,
  type Execute,
} from '#migrations/functions.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
const name = `functions_${process.pid}`;

let client: Client;
const execute: Execute = async (text) => (await client.query(text)).rows;
beforeAll(async () => {
  await createDatabase(admin, name, inject('stack').template);
  client = new Client({ connectionString: inject('stack').postgresUrl.replace('DATABASE', name) });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await dropDatabase(admin, name);
});

const wanted = functionsOf(registry.modules);

/** Definitions and privileges of all functions but those of extensions. */
function held() {
  return execute<{ name: string; definition: string; privileges: string }>(
    `select proname as name, pg_get_functiondef(oid) as definition, proacl::text as privileges from pg_proc p
     where pronamespace = 'public'::regnamespace and not exists (select from pg_depend d where d.objid = p.oid and d.deptype = 'e')
     order by oid::regprocedure::text`,
  );
}

async function install(...functions: SqlFunction[]): Promise<void> {
  await client.query('begin');
  for (const statement of createFunctions(functions)) await client.query(statement);
  await client.query('commit');
}

test('the database holds the functions of the files and of the searches, and PostgreSQL understands all of their text', async () => {
  const before = await held();
  expect(before.map((made) => made.name)).toEqual(wanted.map((made) => made.name).toSorted());
  expect(await functionDifference(execute, wanted)).toEqual({ stale: [], dropped: [] });
  // Here PostgreSQL looks into the bodies.
  for (const { text } of wanted) await client.query(text);
  expect(await held()).toEqual(before);
});

test('a function is stale when its text changes, and is replaced', async () => {
  const made = { name: 'sample', text: 'create function sample(a int) returns int language sql as $$ select a $$' };
  await install(made);
  const changed = {
    name: 'sample',
    text: 'create or replace function sample(a int) returns int language sql as $$ select a + 1 $$',
  };
  expect(await functionDifference(execute, [...wanted, made])).toEqual({ stale: [], dropped: [] });
  expect(await functionDifference(execute, [...wanted, changed])).toEqual({ stale: [changed], dropped: [] });
  await install(changed);
  expect(await execute('select sample(1)')).toEqual([{ sample: 2 }]);
});

test.each([
  ['columns', 'create or replace function sample(a int) returns table (b int) language sql as $$ select a $$'],
  ['parameters', 'create or replace function sample(a text) returns text language sql as $$ select a $$'],
])('a function with other %s takes the place of the former one', async (_what, text) => {
  await install({ name: 'sample', text });
  expect((await held()).filter((made) => made.name === 'sample')).toHaveLength(1);
  expect(await execute(`select sample('1')`)).toHaveLength(1);
});

test('functions may call each other, whichever is created first', async () => {
  await install(
    {
      name: 'first_one',
      text: 'create or replace function first_one() returns int language sql as $$ select second_one() $$',
    },
    { name: 'second_one', text: 'create or replace function second_one() returns int language sql as $$ select 7 $$' },
  );
  expect(await execute('select first_one()')).toEqual([{ first_one: 7 }]);
});

test('a function that no file has any more is dropped', async () => {
  const { dropped } = await functionDifference(execute, wanted);
  expect(dropped.toSorted()).toEqual(['first_one', 'sample', 'second_one']);
  for (const statement of dropFunctions(dropped)) await client.query(statement);
  expect((await held()).map((made) => made.name)).toEqual(wanted.map((made) => made.name).toSorted());
  expect(await functionDifference(execute, wanted)).toEqual({ stale: [], dropped: [] });
});
