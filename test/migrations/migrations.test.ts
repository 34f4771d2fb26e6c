import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { registry } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { choice, flag, integer, json, text, textList } from '#entities/kit/model/fields.ts';
import { withDefaults } from '#migrations/added-columns.ts';
import { createMigration, migrate, migrateDown, migrationState, schemaDrift } from '#migrations/migrator.ts';
import { callerTriggersOf } from '#entities/kit/storage/caller-triggers.ts';
import { functionsOf } from '#migrations/functions.ts';
import { migrations } from '#migrations/index.ts';
import { migrationClassName, migrationName, migrationNames } from '#migrations/migration-name.ts';
import { searchIndexDifference } from '#migrations/search-indexes.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
const name = `migrations_${process.pid}`;
const url = inject('stack').postgresUrl.replace('DATABASE', name);

beforeAll(() => createDatabase(admin, name));
afterAll(() => dropDatabase(admin, name));

const names = migrations.map((migration) => migration.name);
const functions = functionsOf(registry.modules).map((made) => made.name);
const triggers = [...new Set(callerTriggersOf(registry.modules).map(({ table }) => table))];
const ranTriggers = triggers.map((table) => `triggers of ${table}`);

test('migrations run up, down and up again, and leave the schema the entities describe', async () => {
  expect(await migrate(url)).toEqual([...names, ...functions.map((made) => `function ${made}`), ...ranTriggers]);
  const schema = await tables();
  expect(await migrateDown(url, { to: 0 })).toEqual(names.toReversed());
  expect(await tables()).toEqual(['migrations', 'sql_functions']);
  // Functions stay until their text changes.
  expect(await migrate(url)).toEqual([...names, ...ranTriggers]);
  expect(await tables()).toEqual(schema);
  expect(await schemaDrift(url)).toEqual([]);
});

test('asking for the state leaves nothing behind', async () => {
  expect(await migrateDown(url, { to: 0 })).toHaveLength(names.length);
  await inDatabase((client) => client.query('drop table migrations, sql_functions'));
  expect(await migrationState(url)).toEqual({
    executed: [],
    pending: names,
    staleFunctions: functions,
    staleTriggers: triggers,
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

test('of ten that start at once, one runs the migrations and the others wait for it', async () => {
  await migrateDown(url, { to: 0 });
  const ran = await Promise.all(Array.from({ length: 10 }, () => migrate(url)));
  expect(ran.filter((each) => each.length > 0)).toEqual([[...names, ...ranTriggers]]);
  expect(await migrationState(url)).toMatchObject({ pending: [], staleFunctions: [], staleTriggers: [], unknown: [] });
  expect(await schemaDrift(url)).toEqual([]);
});

test('a second run has nothing to do', async () => {
  expect(await migrate(url)).toEqual([]);
});

test('a database with migrations this version does not know is refused, and says which', async () => {
  await inDatabase((client) => client.query(`insert into migrations (name) values ('9999-from-the-future')`));
  await expect(migrate(url)).rejects.toMatchObject({
    code: 'schema_too_new',
    message: expect.stringContaining('9999-from-the-future'),
  });
  await inDatabase((client) => client.query(`delete from migrations where name = '9999-from-the-future'`));
});

test('a migration that fails says which one, and at which statement', async () => {
  await migrateDown(url, { to: 0 });
  await inDatabase((client) => client.query('create table tags (id text)'));
  await expect(migrate(url)).rejects.toMatchObject({
    code: 'migration_failed',
    message: expect.stringMatching(
      /^The migration \d{14}-[a-z-]+ failed: relation "tags" already exists, at: create table tags \(/,
    ),
  });
  await inDatabase((client) => client.query('drop table tags'));
  await migrate(url);
});

test('the index of a search follows what is searched, and comes back', async () => {
  const modules = registry.modules.map((module) => (module.kind === 'tag' ? { ...module, search: ['name'] } : module));
  const difference = (of: readonly EntityModule[]) =>
    inDatabase((client) => searchIndexDifference(async (text) => (await client.query(text)).rows, of));
  const index = () =>
    inDatabase(async (client) => {
      const { rows } = await client.query(`select indexdef from pg_indexes where indexname = 'tags_search_index'`);
      return rows;
    });
  const before = await index();
  const { up, down } = await difference(modules);
  for (const statement of up) await inDatabase((client) => client.query(statement));
  expect(await difference(modules)).toEqual({ up: [], down: [] });
  expect(JSON.stringify(await index())).not.toContain('description');
  expect((await schemaDrift(url)).join('\n')).toContain('index "tags_search_index"');
  for (const statement of down) await inDatabase((client) => client.query(statement));
  expect(await difference(registry.modules)).toEqual({ up: [], down: [] });
  expect(await index()).toEqual(before);
});

describe('a required column for rows that are there', () => {
  const tagWith = (fields: Record<string, Field>): EntityModule => ({ ...registry.byKind('tag'), fields });

  test('holds the default of its field, which the column does not keep', () => {
    const tag = tagWith({
      sort: choice('Sort.', ['a', 'b'], { default: 'b' }),
      remark: text('Remark.', { max: 9, default: "it's" }),
      weight: integer('Weight.', { min: 0, max: 9, default: 3 }),
      isOld: flag('Old.', { default: false }),
      others: textList('Others.', { max: 9, maxItems: 9 }),
      extra: json('Extra.', { maxBytes: 99, default: { a: 1 } }),
      more: text('More.', { max: 9, optional: true }),
    });
    const added = [
      'alter table "tags" add "sort" text not null, add "remark" text not null, add "weight" integer not null',
      'add "is_old" boolean not null, add "others" text[] not null, add "extra" jsonb not null, add "more" text null;',
    ].join(', ');
    const filled = [
      `alter table "tags" add "sort" text not null default 'b', add "remark" text not null default 'it''s'`,
      `add "weight" integer not null default '3', add "is_old" boolean not null default 'false'`,
      `add "others" text[] not null default '{}', add "extra" jsonb not null default '{"a":1}', add "more" text null;`,
    ].join(', ');
    expect(withDefaults(['select 2;', added], [tag])).toEqual([
      'select 2;',
      filled,
      ...['sort', 'remark', 'weight', 'is_old', 'others', 'extra'].map(
        (column) => `alter table "tags" alter column "${column}" drop default;`,
      ),
    ]);
  });

  test('is refused without one', () => {
    const tag = tagWith({ sort: text('Sort.', { max: 9 }) });
    expect(() => withDefaults(['alter table "tags" add "sort" text not null;'], [tag])).toThrow(
      'Records of "tag" that are there have no "sort", which is required: make it optional, or give it a default.',
    );
  });
});

test('a migration has a name in kebab-case', async () => {
  for (const wrong of ['Add-risks', 'add risks', 'add--risks', 'add_risks', '../risks', ''])
    await expect(createMigration(url, wrong)).rejects.toMatchObject({ code: 'invalid_input' });
});

test('a migration is written only against a database of this version', async () => {
  await inDatabase((client) => client.query(`insert into migrations (name) values ('9999-of-another-branch')`));
  await expect(createMigration(url, 'add-risks')).rejects.toMatchObject({
    code: 'schema_too_new',
    message: expect.stringContaining('9999-of-another-branch'),
  });
  await inDatabase((client) => client.query(`delete from migrations where name = '9999-of-another-branch'`));
});

test('files are named after the time of their writing and their class after the file', () => {
  expect(migrationName('migration-20261122031500-add-risks.ts')).toBe('20261122031500-add-risks');
  expect(migrationClassName('20261122031500-add-risks')).toBe('Migration20261122031500AddRisks');
  for (const other of ['migration-name.ts', 'migrator.ts']) expect(migrationName(other)).toBeUndefined();
  for (const misnamed of [
    'migration-0001-kinds.ts',
    'migration-202611220315-add-risks.ts',
    'migration-20261122031500-add_risks.ts',
  ])
    expect(() => migrationNames([misnamed])).toThrow(`migrations/${misnamed} would never run`);
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
