import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { idPattern } from '#entities/kit/base/ids.ts';
import { nameForm } from '#entities/kit/base/name-form.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { Field } from '#entities/kit/model/declared-field.ts';
import { choice, flag, integer, json, text, textList } from '#entities/kit/model/fields.ts';
import { withDefaults } from '#migrations/added-columns.ts';
import { createMigration, migrate, migrateDown, migrationState, schemaDrift } from '#migrations/migrator.ts';
import { migrations } from '#migrations/index.ts';
import { migrationClassName, migrationName, migrationNames } from '#migrations/migration-name.ts';
import { searchDifference } from '#migrations/search-difference.ts';
import { createDatabase, dropDatabase } from '#temporal-dev/servers/create-database.ts';

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

test('an identity that several organizations know belongs to the first account where realms are taken away', async () => {
  const before = migrations[migrations.findIndex(({ name }) => name.includes('confined-sessions')) - 1]?.name ?? '';
  const values = (id: string, day: number, realm: string) =>
    `('${id}', '2026-01-0${day}', '2026-01-0${day}', 'system:test', 'system:test', 1, 'user-${id}', 'single_sign_on', '${realm}', 'https://provider.example', 'subject', 'a@example.com')`;
  await inDatabase(async (client) => {
    // The people do not matter here.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into external_identities (id, created_at, updated_at, created_by, updated_by, record_version, user_id, provider, realm, issuer, subject, email)
        values ${values('a', 2, 'first')}, ${values('b', 1, 'second')}, ${values('c', 3, 'third')}`,
    );
  });
  await migrateDown(url, { to: before });
  const { rows } = await inDatabase((client) =>
    client.query('select id, deleted_at is null as is_live from external_identities order by id'),
  );
  expect(rows).toEqual([
    { id: 'a', is_live: false },
    { id: 'b', is_live: true },
    { id: 'c', is_live: false },
  ]);
  await inDatabase((client) => client.query('delete from external_identities'));
  await migrate(url);
  expect(await schemaDrift(url)).toEqual([]);
});

test('files of tasks become records of their own, without their shares, and come back', async () => {
  const before = migrations[migrations.findIndex(({ name }) => name.includes('task-files')) - 1]?.name ?? '';
  await migrateDown(url, { to: before });
  const id = (digit: number) => `01K${String(digit).padStart(23, '0')}`;
  const common = `'2026-01-01', '2026-01-01', 'user:a', 'user:a', 1`;
  await inDatabase(async (client) => {
    // Tasks, groups and organizations do not matter here.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into organizations (id, created_at, updated_at, created_by, updated_by, record_version, name, is_personal) values ('o', ${common}, 'o', false)`,
    );
    await client.query(
      `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id, title, status, priority, tags)
        values ('t', ${common}, 'o', 'TSK-1', 't', 'open', 0, '{}')`,
    );
    await client.query(
      `insert into files (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, name, content_type, size_bytes, owner_id, task_id)
        values ('${id(1)}', ${common}, 'o', 'of a task', 'text/plain', 7, 'u', 't'), ('${id(2)}', ${common}, 'o', 'of nobody else', 'text/plain', 7, 'u', null)`,
    );
    await client.query(
      `insert into file_shares (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, file_id, group_id, relation)
        values ('${id(3)}', ${common}, 'o', '${id(1)}', 'g', 'viewer'), ('${id(4)}', ${common}, 'o', '${id(2)}', 'g', 'viewer')`,
    );
    await client.query(
      `insert into desired_tuples (object, relation, subject, organization_id, present)
        select 'file:' || f.id, 'owner', 'user:u', 'o', true from files f`,
    );
    await client.query(`insert into record_kinds select id, 'file', 'o' from files`);
  });
  await migrate(url);
  await inDatabase(async (client) => {
    const { rows } = await client.query(
      `select t.id, t.task_id, t.name, t.size_bytes, t.content, k.kind, h.operation, h.record_version, e.topic from task_files t
        join record_kinds k on k.id = t.id join history h on h.entity_id = t.id and h.entity_kind = k.kind
        join events e on e.entity_id = t.id and e.occurred_at = h.recorded_at`,
    );
    expect(rows).toEqual([
      {
        id: expect.stringMatching(idPattern),
        task_id: 't',
        name: 'of a task',
        size_bytes: '7',
        content: null,
        kind: 'task_file',
        operation: 'created',
        record_version: 1,
        topic: 'task_file.created',
      },
    ]);
    const left = await client.query(
      `select id, record_version, deleted_at is null as is_live from (select id, record_version, deleted_at from files
        union all select id, record_version, deleted_at from file_shares) as r order by id`,
    );
    expect(left.rows.map((row) => Object.values(row as object))).toEqual([
      [id(1), 2, false],
      [id(2), 1, true],
      [id(3), 2, false],
      [id(4), 1, true],
    ]);
    const ended = await client.query(
      `select entity_kind, topic from events where topic like '%.deleted' order by topic`,
    );
    expect(ended.rows.map(({ topic }) => topic as string)).toEqual(['file.deleted', 'file_share.deleted']);
    const tuples = await client.query(
      "select object, present, version from desired_tuples where object like 'file:%' order by object",
    );
    expect(tuples.rows).toMatchObject([
      { object: `file:${id(1)}`, present: false, version: '2' },
      { object: `file:${id(2)}`, present: true, version: '1' },
    ]);
    expect((await client.query('select scope from authorization_revisions')).rows).toEqual([{ scope: 'o' }]);
  });
  // Going back would forget which bytes are whose.
  await inDatabase((client) => client.query(`update files set content = 'object' where id = '${id(2)}'`));
  await expect(migrateDown(url, { to: before })).rejects.toThrow('Files have content');
  await inDatabase((client) => client.query('update files set content = null'));
  await migrateDown(url, { to: before });
  await inDatabase(async (client) => {
    const { rows } = await client.query('select name, task_id from files where deleted_at is null order by name');
    expect(rows).toEqual([
      { name: 'of a task', task_id: 't' },
      { name: 'of nobody else', task_id: null },
    ]);
    await client.query(
      'truncate files, file_shares, history, events, desired_tuples, record_kinds, authorization_revisions, tasks, organizations cascade',
    );
  });
  await migrate(url);
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

test('of ten that start at once, one runs the migrations and the others wait for it', async () => {
  await migrateDown(url, { to: 0 });
  const ran = await Promise.all(Array.from({ length: 10 }, () => migrate(url)));
  expect(ran.filter((names) => names.length > 0)).toEqual([migrations.map((migration) => migration.name)]);
  expect(await migrationState(url)).toMatchObject({ pending: [], unknown: [] });
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
      /^The migration \d{14}-[a-z-]+ failed: relation "tags" already exists, at: create table "tags" .*\)$/,
    ),
  });
  await inDatabase((client) => client.query('drop table tags'));
  await migrate(url);
});

describe('what is searched', () => {
  const modules = registry.modules.map((module) => (module.kind === 'tag' ? { ...module, search: ['name'] } : module));
  const difference = (of: readonly EntityModule[]) =>
    inDatabase((client) => searchDifference(async (text) => (await client.query(text)).rows, of));
  const index = () =>
    inDatabase(async (client) => {
      const { rows } = await client.query(`select indexdef from pg_indexes where indexname = 'tags_search_index'`);
      return rows;
    });

  test('can be less or more: function and index follow, and come back', async () => {
    const before = await index();
    const { up, down } = await difference(modules);
    for (const statement of up) await inDatabase((client) => client.query(statement));
    expect(await difference(modules)).toEqual({ up: [], down: [] });
    expect(JSON.stringify(await index())).not.toContain('description');
    expect((await schemaDrift(url)).join('\n')).toMatch(/function search_tags[^]*index "tags_search_index"/);
    for (const statement of down) await inDatabase((client) => client.query(statement));
    expect(await difference(registry.modules)).toEqual({ up: [], down: [] });
    expect(await index()).toEqual(before);
  });
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

test('items of lists that were lost come back, with the letters that the history has', async () => {
  const before = migrations[migrations.findIndex(({ name }) => name.includes('whole-lists')) - 1]?.name ?? '';
  await migrateDown(url, { to: before });
  const common = `'2026-01-01', '2026-01-01', 'user:a', 'user:a'`;
  const entry = (version: number, tags: string) =>
    `('h${version}', '2026-01-01', 'task', 't1', 'o', 'updated', ${version}, '{}', '{"title": "t", "tags": ${tags}, "links": null}', 'user:a', 'r')`;
  await inDatabase(async (client) => {
    // Organizations do not matter here.
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into tasks (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id, title, status, priority, external_urls, tags)
        values ('t1', ${common}, 2, 'o', 'TSK-1', 't', 'open', 0, '{}', '{a,NULL,NULL}'), ('t2', ${common}, 1, 'o', 'TSK-2', 't', 'open', 0, '{}', '{NULL}'),
          ('t3', ${common}, 1, 'o', 'TSK-3', 't', 'open', 0, '{}', '{"null",b}')`,
    );
    await client.query(
      `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields, snapshot, actor, request_id)
        values ${entry(1, '["a", "NULL", "null"]')}, ${entry(2, '["a", null, null]')}`,
    );
  });
  await migrate(url);
  await inDatabase(async (client) => {
    const tasks = await client.query('select tags from tasks order by id');
    expect(tasks.rows).toEqual([{ tags: ['a', 'NULL', 'null'] }, { tags: ['null'] }, { tags: ['null', 'b'] }]);
    const entries = await client.query(`select snapshot from history where entity_id = 't1' order by record_version`);
    expect(entries.rows).toEqual([
      { snapshot: { title: 't', tags: ['a', 'NULL', 'null'], links: null } },
      { snapshot: { title: 't', tags: ['a', 'null', 'null'], links: null } },
    ]);
    await client.query(`delete from tasks where id in ('t1', 't2', 't3')`);
    await client.query(`delete from history where entity_id = 't1'`);
  });
});

test('of names that look the same, the oldest stays, and each has the form that the product gives it', async () => {
  const before = migrations[migrations.findIndex(({ name }) => name.includes('name-forms')) - 1]?.name ?? '';
  await migrateDown(url, { to: before });
  const id = (digit: number) => `01K${String(digit).padStart(23, '0')}`;
  const names = [
    'Straße',
    ' STRASSE ',
    'ılık',
    'ilik',
    'Cafe\u0301 ⚠️',
    'CAFÉ\u00a0\u00a0⚠',
    'ΟΔΟΣ',
    'a\u200bb',
    '\u1e9e',
  ];
  await inDatabase(async (client) => {
    await client.query('set session_replication_role = replica');
    await client.query(
      `insert into groups (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, display_id, name)
        select '01K' || lpad(place::text, 23, '0'), '2026-01-01', '2026-01-01', 'user:a', 'user:a', 1, 'o', 'GRP-' || place, name
        from unnest($1::text[]) with ordinality n (name, place)`,
      [names],
    );
    await client.query(
      `insert into organizations (id, created_at, updated_at, created_by, updated_by, record_version, name, is_personal, is_archived)
        values ('o', '2026-01-01', '2026-01-01', 'system:a', 'system:a', 1, 'same', false, false),
          ('p', '2026-01-01', '2026-01-01', 'system:a', 'system:a', 1, 'same', false, false)`,
    );
  });
  await migrate(url);
  await inDatabase(async (client) => {
    const { rows } = await client.query<{ name: string; form: string }>(
      'select name, name_form as form from groups order by id',
    );
    const twins = new Set([1, 5]);
    const kept = names.map((name, place) => (twins.has(place) ? `${name}-${id(place + 1)}` : name));
    expect(rows).toEqual(kept.map((name) => ({ name, form: nameForm(name) })));
    // Those that the server has created are nobody's, and share a name.
    expect((await client.query('select name from organizations')).rows).toEqual([{ name: 'same' }, { name: 'same' }]);
    await client.query('delete from groups');
    await client.query('delete from organizations');
  });
  expect(await schemaDrift(url)).toEqual([]);
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
