import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { idOfRow, insertRows, largeOrganization } from '../kit/records/bulk-fixtures.ts';
import { triedKinds } from '../kit/tried-kinds.ts';
import { openWorld, type World } from '../kit/world.ts';

type Row = Readonly<Record<string, unknown>>;
type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: Row[]; readonly rowCount: number }>;

/** Of the large organization, to which all rows with even numbers belong; the others belong to others. */
const person = idOfRow(8);
const foreignOrganization = idOfRow(1);

let world: World;
let client: Client;
/** Tables of the database that are no kind's. */
let machineTables: string[];

beforeAll(async () => {
  // The rows are nobody's: no history, no tuples, no parents.
  world = await openWorld({ skipVerify: true });
  client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  for (const module of registry.modules) await insertRows(client, module, 40);
  // As the schedule does every day, long after the migrations.
  await client.query(`select maintain_partitions(now() + interval '30 days', interval '1 day', interval '1 year')`);
  const found = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm')`,
  );
  const kinds = new Set(registry.modules.map(({ table }) => table));
  machineTables = found.rows.map(({ name }) => name).filter((name) => !kinds.has(name));
});
afterAll(async () => {
  await client.end();
  await world.close();
});

/** Work as the app role, with the settings of a transaction and without any of our conditions; it leaves nothing behind. */
async function asAppRole<T>(
  settings: Readonly<Record<string, string>>,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  await client.query('begin');
  try {
    await client.query('set local role core_app');
    for (const [name, value] of Object.entries(settings))
      await client.query('select set_config($1, $2, true)', [name, value]);
    return await work(async (text, values = []) => {
      const { rows, rowCount } = await client.query<Row>(text, [...values]);
      return { rows, rowCount: rowCount ?? 0 };
    });
  } finally {
    await client.query('rollback');
  }
}

const inOrganization = { 'core.organization_id': largeOrganization, 'core.user_id': person };
const refusal = { code: '42501' };

/** Rows have the numbers of their ids. */
const isForeign = ({ id }: Row) => Number(id) % 2 === 1;

describe.each(triedKinds(registry.modules).map((module) => [module.kind, module] as const))('%s', (_kind, module) => {
  const { table, tenancy } = module;

  test('a query without any filter shows no row of another organization', async () => {
    const { rows } = await asAppRole(inOrganization, (query) => query(`select * from ${table}`));
    expect(rows.filter(isForeign)).toEqual([]);
    if (tenancy !== 'organization') return;
    // What shows nothing at all would prove nothing.
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.filter((row) => row['organization_id'] !== largeOrganization)).toEqual([]);
  });

  test('rows of another organization are not updated, and no row is moved there', async () => {
    await asAppRole(inOrganization, async (query) => {
      const changed = await query(`update ${table} set updated_at = now() where id = $1`, [idOfRow(3)]);
      expect(changed.rowCount).toBe(0);
    });
    if (tenancy !== 'organization') return;
    const carried = asAppRole(inOrganization, (query) =>
      query(`update ${table} set organization_id = $1`, [foreignOrganization]),
    );
    await expect(carried).rejects.toMatchObject(refusal);
  });

  test('no row is inserted into another organization', async () => {
    await expect(asAppRole(inOrganization, (query) => insertCopy(query, module))).rejects.toMatchObject(refusal);
  });

  test('without the settings of a transaction nothing is visible, and nothing is inserted', async () => {
    expect(await asAppRole({}, (query) => query(`select * from ${table}`))).toMatchObject({ rows: [] });
    await expect(asAppRole({}, (query) => insertCopy(query, module))).rejects.toMatchObject(refusal);
  });

  test('no row can be deleted with DELETE', async () => {
    await expect(asAppRole(inOrganization, (query) => query(`delete from ${table}`))).rejects.toMatchObject(refusal);
  });
});

/** A row of another organization, or of another person, under an id of its own. */
async function insertCopy(query: Query, { table, tenancy }: EntityModule): Promise<void> {
  const owner = { organization: { organization_id: foreignOrganization }, user: { user_id: idOfRow(1) } };
  const changes = typeof tenancy === 'string' ? owner[tenancy] : {};
  // Read by the owner, to whom row-level security does not apply.
  await client.query('reset role');
  const { rows } = await client.query<{ row: object }>(`select to_jsonb(t) as row from ${table} as t where id = $1`, [
    idOfRow(1),
  ]);
  await client.query('set local role core_app');
  const row = { ...rows[0]?.row, id: idOfRow(99), ...changes };
  await query(`insert into ${table} select * from jsonb_populate_record(null::${table}, $1)`, [JSON.stringify(row)]);
}

test('tables that belong to no kind are not written by the app role, and show nothing of other organizations', async () => {
  expect(machineTables).toEqual(expect.arrayContaining(['history', 'events', 'event_deliveries', 'desired_tuples']));
  await client.query(
    `insert into history (id, recorded_at, entity_kind, entity_id, organization_id, operation, record_version, changed_fields,
       snapshot, actor, request_id)
     select 'h' || n, now(), kind, id, organization_id, 'created', 1, '{}', '{}', 'test', 'test'
     from (select 1 as n, 'task' as kind, $1 as id, $2 as organization_id union all select 2, 'task', $3, $4
       union all select 3, 'user', $3, null union all select 4, 'organization', $4, $4) as made`,
    [idOfRow(2), largeOrganization, idOfRow(3), foreignOrganization],
  );
  await client.query(
    `insert into stored_objects (id, organization_id, provider, bucket, key, state, name, content_type, size_bytes, sha256, version,
       owner_kind, owner_id, owner_field, created_at, owned_at)
     select 'o' || n, organization_id, 'disk', 'files', 'key' || n, state, 'a.txt', 'text/plain', 1, '', 'v', kind, 'r' || n, 'content', now(), now()
     from (select 1 as n, $1 as organization_id, 'owned' as state, 'file' as kind union all select 2, $2, 'owned', 'file'
       union all select 3, $1, 'released', 'file' union all select 4, null, 'owned', 'user' union all select 5, null, 'ready', null) as made`,
    [largeOrganization, foreignOrganization],
  );
  const reached: string[] = [];
  for (const table of machineTables) {
    const isRefused = (text: string) =>
      asAppRole(inOrganization, (query) => query(text)).then(
        () => false,
        (error: unknown) => (error as { code?: unknown }).code === refusal.code,
      );
    for (const change of [`insert into ${table} default values`, `delete from ${table}`, `truncate ${table}`])
      if (!(await isRefused(change))) reached.push(change);
    const isReadable = !(await isRefused(`select * from ${table}`));
    // Whose state has changed is told by a hash of the id alone, of any organization.
    if (!isReadable || table === 'caller_changes') continue;
    // Histories are for callers to read, within their organization, and so are objects that a record owns.
    const all = `select * from ${table}`;
    const { rows } = await asAppRole(inOrganization, (query) => query(all));
    if (table === 'stored_objects') expect(rows.map(({ id }) => id)).toEqual(['o1']);
    if (
      !['history', 'stored_objects'].includes(table) ||
      rows.some((row) => row['organization_id'] !== largeOrganization)
    )
      reached.push(all);
    expect(await asAppRole({}, (query) => query(all))).toMatchObject({ rows: [] });
  }
  expect(reached).toEqual([]);
});

test('every table of a kind has row-level security', async () => {
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class where relrowsecurity and relnamespace = 'public'::regnamespace`,
  );
  const walled = new Set(rows.map(({ name }) => name));
  expect(registry.modules.map(({ table }) => table).filter((table) => !walled.has(table))).toEqual([]);
});
