import { Client } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { createTriggers, dropTriggers, triggerDifference } from '#migrations/trigger-difference.ts';
import type { Execute } from '#migrations/functions.ts';
import { migrate, migrationState, schemaDrift } from '#migrations/migrator.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';

const admin = inject('stack').postgresUrl.replace('DATABASE', 'postgres');
const name = `caller_triggers_${process.pid}`;
const url = inject('stack').postgresUrl.replace('DATABASE', name);

let client: Client;
const execute: Execute = async (text) => (await client.query(text)).rows;
beforeAll(async () => {
  await createDatabase(admin, name, inject('stack').template);
  client = new Client({ connectionString: url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await dropDatabase(admin, name);
});

const held = () =>
  execute(
    `select pg_get_triggerdef(oid) as definition, tgenabled from pg_trigger
     where tgfoid = 'note_caller_change'::regproc order by 1`,
  );

test('tables of kinds that decide about callers note insertions, changes and deletions, and no other tables do', async () => {
  const tables = registry.modules.flatMap(({ table, decidesCallers }) => (decidesCallers ? table : []));
  expect(
    await execute(
      `select tgrelid::regclass::text as "table", array_agg(tgname::text order by tgname) as triggers from pg_trigger
       where tgfoid = 'note_caller_change'::regproc group by tgrelid order by 1`,
    ),
  ).toEqual(
    [...tables, 'desired_tuples']
      .toSorted()
      .map((table) => ({ table, triggers: ['note_delete', 'note_insert', 'note_update'] })),
  );
  expect(await triggerDifference(execute, registry.modules)).toEqual({ stale: [], dropped: [] });
});

test.each([
  ['is missing', 'drop trigger note_update on memberships'],
  ['is disabled', 'alter table memberships disable trigger note_update'],
  [
    'was replaced by hand',
    `create or replace trigger note_update after update on memberships for each row when (false) execute function note_caller_change('user_id');
     comment on trigger note_update on memberships is null`,
  ],
])('no process starts with a database in which a trigger %s, until it is migrated', async (_how, statement) => {
  const before = await held();
  const notedOfEverybody = () =>
    execute(`select xid::text from caller_changes where scope = hashtextextended('*', 0) order by xid`);
  const noted = await notedOfEverybody();
  await client.query(statement);
  expect(await migrationState(url)).toMatchObject({ pending: [], staleTriggers: ['memberships'] });
  expect((await schemaDrift(url)).join()).toContain('create trigger note_update after update on memberships');
  expect(await migrate(url)).toEqual(['triggers of memberships']);
  expect(await held()).toEqual(before);
  // Nobody knows what changed meanwhile.
  expect(await notedOfEverybody()).toHaveLength(noted.length + 1);
});

test('a trigger follows the fields that its kind names, and goes with them', async () => {
  const before = await held();
  const withFields = (by: readonly string[] | undefined) =>
    registry.modules.map((module) =>
      module.kind === 'tag' ? { ...module, ...(by && { decidesCallers: { of: 'organizationId', by } }) } : module,
    );
  const bring = async (by?: readonly string[]) => {
    const difference = await triggerDifference(execute, withFields(by));
    for (const statement of [...dropTriggers(difference.dropped), ...createTriggers(difference)])
      await client.query(statement);
    return JSON.stringify(await held());
  };
  expect(await bring(['name'])).toMatch(/note_update AFTER UPDATE ON public.tags.*old.name IS DISTINCT FROM new.name/);
  expect(await bring(['description'])).not.toContain('old.name IS DISTINCT FROM new.name');
  await bring();
  expect(await held()).toEqual(before);
});
