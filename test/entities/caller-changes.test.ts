import { Client, Pool } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { AssumedPrincipal } from '#entities/kit/access/assumed-principal.ts';
import {
  snapshotStatement,
  type Principal,
  type PrincipalSnapshot,
  type PrincipalState,
} from '#entities/kit/access/principal-state.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { roles } from '#entities/kit/model/caller.ts';
import { CrashWatch } from '#entities/kit/storage/crash-watch.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
/** Reads states, and makes the rows; as the database's owner, since units of work are not what is tested here. */
let reader: Client;

const connected = async (): Promise<Client> => {
  const client = new Client({ connectionString: world.databaseUrl });
  await client.connect();
  return client;
};

beforeAll(async () => {
  // The rows are nobody's: no history, no tuples.
  world = await openWorld({ skipVerify: true });
  reader = await connected();
});
afterAll(async () => {
  await reader.end();
  await world.close();
});

const random = seeded('changes of callers');
const ids = (count: number) => Array.from({ length: count }, () => newId());
const organizations = ids(4);
const users = ids(4);
const sessions = ids(6);
const groups = ids(2);
const apiTokens = ids(2);
const personalTokens = ids(4);
const delegations = ids(3);
const consent = newId();
/** Of each user two. */
const memberships = ids(8);
const of = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const membershipOf = (index: number): string => memberships[(index % users.length) * 2] as string;

const never = [null, null, null, '2026-01-01T00:00:00Z'];
const endings = ['2030-01-01T00:00:00Z', '2031-01-01T00:00:00Z'];
const revisions = ['first', 'second'];
const unlessNone = <T>(values: readonly T[]): (T | null)[] => [null, ...values];

interface Rows {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** Values that changes give to columns. */
  readonly changes: Readonly<Record<string, readonly unknown[]>>;
}

/** Rows of every table that the functions read; a change of one column of one row is tried at a time. */
const tables: Readonly<Record<string, Rows>> = {
  organizations: {
    rows: organizations.map((id, index) => ({
      id,
      parent_id: index === 0 || index === 3 ? null : organizations[index - 1],
      founder_id: of(users, index),
    })),
    changes: { parent_id: unlessNone(organizations), founder_id: unlessNone(users), deleted_at: never },
  },
  users: {
    rows: users.map((id) => ({ id, email: `${id}@example.com`, status: 'active', email_confirmed_at: endings[0] })),
    changes: {
      status: ['active', 'active', 'inactive'],
      email: users.map((id) => `${id}@other.example`),
      email_confirmed_at: unlessNone(endings),
      deleted_at: never,
      last_seen_at: endings,
    },
  },
  sessions: {
    rows: sessions.map((id, index) => ({
      id,
      user_id: of(users, index),
      single_sign_on_membership_id: membershipOf(index),
    })),
    changes: {
      single_sign_on_id: [null, null, ...organizations],
      single_sign_on_revision: revisions,
      deleted_at: never,
      expires_at: endings,
    },
  },
  memberships: {
    rows: users.flatMap((userId, index) =>
      [0, 2].map((step) => ({
        id: memberships[index * 2 + step / 2],
        user_id: userId,
        organization_id: of(organizations, index + step),
        role: 'member',
      })),
    ),
    changes: { role: ['owner', 'admin', 'member', 'auditor'], organization_id: organizations, deleted_at: never },
  },
  group_memberships: {
    rows: users.map((userId, index) => ({
      id: newId(),
      user_id: userId,
      group_id: of(groups, index),
      organization_id: of(organizations, index),
      role: 'member',
    })),
    changes: { group_id: groups, organization_id: organizations, deleted_at: never },
  },
  desired_tuples: {
    rows: organizations.flatMap((id, index) => [
      { object: `organization:${id}`, relation: 'task_creator', subject: `user:${of(users, index)}`, present: true },
      {
        object: `organization:${id}`,
        relation: 'group_creator',
        subject: `group:${of(groups, index)}#member`,
        present: true,
      },
    ]),
    changes: { present: [true, false], relation: ['task_creator', 'group_creator', 'member'], applied_version: [0, 1] },
  },
  organization_modules: {
    rows: organizations.map((id) => ({ id: newId(), organization_id: id, module: 'registry', source: 'granted' })),
    changes: {
      module: ['registry', 'compliance'],
      source: ['granted', 'trial'],
      ends_at: unlessNone(endings),
      deleted_at: never,
    },
  },
  organization_billings: {
    rows: organizations
      .slice(0, 1)
      .map((id) => ({ id: newId(), organization_id: id, is_lapsed: false, has_payment_method: true })),
    changes: { is_lapsed: [true, false], has_payment_method: [true, false], applied_round: [1, 2], deleted_at: never },
  },
  organization_settings: {
    rows: organizations.map((id) => ({ id: newId(), organization_id: id, email_theme: 'modern' })),
    changes: { requires_second_factor: [true, false, false], deleted_at: never },
  },
  identity_providers: {
    rows: organizations.map((id) => ({ id: newId(), organization_id: id, revision: 'first' })),
    changes: { is_enforced: [true, false, false], revision: revisions, deleted_at: never },
  },
  second_factors: {
    rows: users.map((id) => ({ id: newId(), user_id: id })),
    changes: { confirmed_at: unlessNone(endings), deleted_at: never },
  },
  api_tokens: {
    rows: apiTokens.map((id, index) => ({ id, organization_id: of(organizations, index), secret_hash: id })),
    changes: { scopes: [['task:read'], []], expires_at: unlessNone(endings), deleted_at: never },
  },
  personal_access_tokens: {
    rows: personalTokens.map((id, index) => ({ id, user_id: of(users, index), secret_hash: id })),
    changes: {
      organization_ids: [[], [], organizations.slice(0, 2)],
      scopes: [['task:read'], []],
      single_sign_on_ids: [[], organizations.slice(0, 1), organizations.slice(1, 2)],
      single_sign_on_revisions: [['first'], ['second']],
      single_sign_on_membership_ids: [[], ...users.map((_, index) => [membershipOf(index)])],
      deleted_at: never,
    },
  },
  workflow_versions: {
    rows: organizations.map((id) => ({ id: newId(), organization_id: id, is_gate: true, timing: 'pre_commit' })),
    changes: { is_gate: [true, true, false], ended_at: never, deleted_at: never },
  },
  support_consents: {
    rows: [{ id: consent, organization_id: organizations[1] }],
    changes: { expires_at: endings, deleted_at: never },
  },
  delegations: {
    rows: delegations.map((id, index) => ({
      id,
      type: index === 0 ? 'support' : 'impersonation',
      organization_id: organizations[1],
      actor_id: of(users, index),
      subject_id: of(users, index + 1),
      actor_membership_id: membershipOf(index),
      subject_membership_id: membershipOf(index + 1),
      session_id: of(sessions, index),
      consent_id: consent,
    })),
    changes: { ended_at: never, deleted_at: never, expires_at: endings },
  },
};

const principals: readonly Principal[] = [
  ...sessions.flatMap((sessionId, index) =>
    [...organizations, null].map((organizationId) => ({ userId: of(users, index), sessionId, organizationId })),
  ),
  ...apiTokens.map((id) => ({ sort: 'api' as const, tokenId: id, secretHashes: [id], organizationId: null })),
  ...personalTokens.flatMap((id) =>
    [null, organizations[1] ?? null].map((organizationId) => ({
      sort: 'personal' as const,
      tokenId: id,
      secretHashes: [id],
      organizationId,
    })),
  ),
  ...delegations.map((delegationId) => ({ delegationId, organizationId: organizations[1] ?? '' })),
];

/** Values for the columns that must have one and whose value does not matter here. */
const filler = `select attname as name, case when format_type(atttypid, null) = 'text' then to_jsonb($2::text)
    when atttypid = 'boolean'::regtype then 'false' when atttypid = 'timestamptz'::regtype then '"2030-01-01T00:00:00Z"'
    when attndims > 0 or format_type(atttypid, null) like '%[]' then '[]' else '1' end as value
  from pg_attribute where attrelid = $1::regclass and attnum > 0 and attnotnull and not attisdropped`;

async function insertRow(client: Client, table: string, row: Readonly<Record<string, unknown>>): Promise<void> {
  await client.query(`insert into ${table} select (jsonb_populate_record(null::${table}, $1)).*`, [
    JSON.stringify(row),
  ]);
}

/** The current state, as text. */
async function stateOf(principal: Principal): Promise<string> {
  const { text, values } = snapshotStatement(principal);
  return String((await reader.query<{ result: string }>(text, values)).rows[0]?.result);
}

const snapshotOf = async (principal: Principal): Promise<PrincipalSnapshot> => {
  const text = await stateOf(principal);
  return { text, state: JSON.parse(text) as PrincipalState };
};

/** A database of which no connection ends. */
const steady = { generation: 0 };

/** Asks whether a state is still that of now. @returns the answer, and whether the changes alone told it */
function ask(principal: Principal, snapshot: PrincipalSnapshot, database = steady): Promise<Answer> {
  return answerOf(new AssumedPrincipal(principal, snapshot, database));
}

interface Answer {
  readonly isSame: boolean;
  readonly isQuick: boolean;
}

async function answerOf(assumed: AssumedPrincipal): Promise<Answer> {
  const { rows } = await reader.query<{ result: string }>(assumed.text, [...assumed.values]);
  const result = String(rows[0]?.result);
  try {
    assumed.check(result);
  } catch {
    // The outcome says so.
  }
  return { isSame: assumed.outcome === 'confirmed', isQuick: result === '' };
}

/** Rows that were deleted, perhaps by a transaction that was rolled back. */
const deleted: { readonly table: string; readonly row: Readonly<Record<string, unknown>> }[] = [];

/** Changes, deletes or brings back one row, or forgets what was noted. */
async function changeSomething(client: Client): Promise<void> {
  if (random.chance(0.02)) {
    await client.query('delete from caller_changes');
    await client.query(`insert into caller_changes (scope) values (hashtextextended('*', 0))`);
    return;
  }
  const back = deleted.at(-1);
  if (back && random.chance(0.3)) {
    await insertRow(client, back.table, back.row);
    return;
  }
  const table = random.pick(Object.keys(tables));
  const { rows, changes } = tables[table] as Rows;
  const row = random.pick(rows);
  const where = 'id' in row ? 'id = $1' : 'object = $1';
  const key = row['id'] ?? row['object'];
  if (random.chance(0.1)) {
    const gone = await client.query<{ row: Record<string, unknown> }>(
      `delete from ${table} where ${where} returning to_jsonb(${table}) as row`,
      [key],
    );
    for (const { row: held } of gone.rows) deleted.push({ table, row: held });
    return;
  }
  const column = random.pick(Object.keys(changes));
  await client.query(`update ${table} set ${column} = $2 where ${where}`, [key, random.pick(changes[column] ?? [])]);
}

/** What a person may do in an organization, by the function for those who sign in and by the one for requests, without a session. */
async function expectSameEntries(): Promise<void> {
  const { rows } = await reader.query(
    `select c.role, c.modules, c.lacks_second_factor, case when c.role is not null then single_sign_on_gap(u, o, b) end as gap,
      e.role as entry_role, e.modules as entry_modules, e.lacks_second_factor as entry_lacks_second_factor, e.gap as entry_gap
      from unnest($1::text[]) u, unnest($2::text[]) o, unnest(array_append($2::text[], '')) b,
        request_context(u, '*', o) c, organization_entry(u, o, b) e`,
    [users, organizations],
  );
  expect(rows).toHaveLength(users.length * organizations.length * (organizations.length + 1));
  for (const row of rows)
    for (const name of ['role', 'modules', 'lacks_second_factor', 'gap'])
      expect(row[`entry_${name}`]).toEqual(row[name]);
  for (const name of ['role', 'gap']) if (rows.some((row) => row[name] !== null)) entriesWith.add(name);
  if (rows.some((row) => row.modules.length > 0)) entriesWith.add('modules');
  if (rows.some((row) => row.lacks_second_factor)) entriesWith.add('lacks_second_factor');
}

const entriesWith = new Set<string>();

test('a state that no noted change concerns is that of now, in whatever order transactions begin, change and end', async () => {
  // Rows refer to some that are missing, which matters to no function.
  await reader.query('begin; set local session_replication_role = replica');
  for (const [table, { rows }] of Object.entries(tables))
    for (const row of rows) {
      const filling = await reader.query<{ name: string; value: unknown }>(filler, [table, row['id'] ?? '']);
      const whole = Object.fromEntries(filling.rows.map(({ name, value }) => [name, value]));
      await insertRow(reader, table, { ...whole, ...row });
    }
  await reader.query('commit');
  const kept = new Map<Principal, PrincipalSnapshot>();
  const writers = await Promise.all([1, 2, 3, 4].map(async () => ({ client: await connected(), isOpen: false })));
  for (const { client } of writers) await client.query(`set lock_timeout = '20ms'`);
  let asked = 0;
  let quick = 0;
  let changed = 0;
  const compareAll = async () => {
    for (const principal of principals) {
      const snapshot = kept.get(principal) ?? (await snapshotOf(principal));
      const { isSame, isQuick } = await ask(principal, snapshot);
      const now = await snapshotOf(principal);
      expect({ principal, isSame }).toEqual({ principal, isSame: now.text === snapshot.text });
      asked++;
      if (isQuick) quick++;
      if (!isSame) changed++;
      kept.set(principal, isSame ? snapshot : now);
    }
  };
  const steps = timesOf({ sample: 120, prove: 4_000 });
  const fewestChanged = 11;
  // Few seeds change hardly a state for long, because what all of them need is deleted.
  const isEnough = (step: number) => step >= steps && (changed >= fewestChanged || step >= 20 * steps);
  for (let step = 0; !isEnough(step); step++) {
    const writer = random.pick(writers);
    const { client } = writer;
    if (writer.isOpen && random.chance(0.25)) {
      await client.query(random.chance(0.8) ? 'commit' : 'rollback');
      writer.isOpen = false;
      await compareAll();
      await expectSameEntries();
      continue;
    }
    if (!writer.isOpen) await client.query('begin');
    writer.isOpen = true;
    await client.query('savepoint change');
    try {
      await changeSomething(client);
      if (random.chance(0.1)) await client.query('rollback to change');
    } catch {
      // A row that another one holds, or that must be unique.
      await client.query('rollback to change');
    }
  }
  for (const { client } of writers) await client.end();
  recordTried('states of callers compared', asked);
  expect(quick).toBeGreaterThan(asked / 4);
  expect(changed).toBeGreaterThanOrEqual(fewestChanged);
});

test('the functions have the roles of the program, in its order', async () => {
  const { rows } = await reader.query('select role_order() as held');
  expect(rows).toEqual([{ held: roles }]);
});

test('whoever signs in gets the state that their requests have', async () => {
  await reader.query('update organization_settings set requires_second_factor = true, deleted_at = null');
  await expectSameEntries();
  expect([...entriesWith].toSorted()).toEqual(['gap', 'lacks_second_factor', 'modules', 'role']);
});

/** Columns that keep their value. */
const unchanging = new Set(['id', 'created_at']);

test('whatever the functions read is noted when it changes', async () => {
  const { rows: functions } = await reader.query<{ name: string; body: string }>(
    `select proname as name, prosrc as body from pg_proc where pronamespace = 'public'::regnamespace`,
  );
  const bodies = new Map(functions.map(({ name, body }) => [name, body]));
  const read = new Set(['request_context', 'token_context', 'delegation_context', 'lacks_second_factor']);
  // Grows while it is walked.
  for (const name of read)
    for (const [, called = ''] of (bodies.get(name) ?? '').matchAll(/\b(\w+)\(/g))
      if (bodies.has(called)) read.add(called);
  const { rows: columns } = await reader.query<{ name: string; columns: string[]; triggers: string[] }>(
    `select c.relname as name,
      array(select attname::text from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
      array(select pg_get_triggerdef(oid) from pg_trigger
        where tgrelid = c.oid and tgfoid = 'note_caller_change'::regproc and tgenabled = 'O') as triggers
      from pg_class c where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`,
  );
  const missing: string[] = [];
  let found = 0;
  for (const body of [...read].map((name) => bodies.get(name) ?? ''))
    for (const { name, columns: own, triggers } of columns) {
      const named = [...body.matchAll(new RegExp(`\\b(?:from|join) ${name} (\\w+)\\b`, 'g'))].map(([, alias]) => alias);
      const held = [...body.matchAll(new RegExp(`\\b(\\w+) ${name}%rowtype`, 'g'))].map(([, variable]) => variable);
      if (new RegExp(`\\b(?:from|join) ${name}\\b`).test(body) && named.length === 0)
        missing.push(`an alias of ${name}`);
      if (named.length === 0) continue;
      found++;
      for (const event of ['INSERT', 'UPDATE', 'DELETE'])
        if (!triggers.some((trigger) => trigger.includes(`AFTER ${event} ON`))) missing.push(`${event} of ${name}`);
      const update = triggers.find((trigger) => trigger.includes('AFTER UPDATE ON')) ?? '';
      for (const column of own.filter((each) => !unchanging.has(each)))
        if ([...named, ...held].some((alias) => new RegExp(`\\b${alias}\\.${column}\\b`).test(body)))
          if (!new RegExp(`\\bold\\.${column}\\b`).test(update)) missing.push(`${name}.${column}`);
    }
  expect(missing).toEqual([]);
  expect(found).toBeGreaterThan(15);
});

test('a change of many people is noted as one of everybody, and what was noted is forgotten', async () => {
  const principal: Principal = { userId: newId(), sessionId: newId(), organizationId: null };
  const snapshot = await snapshotOf(principal);
  const others = ids(300);
  await reader.query(
    `insert into desired_tuples (object, relation, subject, present)
    select 'organization:' || id, 'task_creator', 'user:x', true from unnest($1::text[]) as id`,
    [others],
  );
  const noted = async () =>
    (await reader.query<{ scope: string }>('select scope from caller_changes order by xid')).rows;
  const before = await noted();
  expect(await ask(principal, snapshot)).toEqual({ isSame: true, isQuick: false });
  expect(await ask(principal, snapshot)).toEqual({ isSame: true, isQuick: true });
  await reader.query(`update desired_tuples set present = false where object = any($1)`, [
    others.map((id) => `organization:${id}`),
  ]);
  expect((await noted()).length - before.length).toBe(101);
  expect(await ask(principal, snapshot)).toEqual({ isSame: true, isQuick: false });
  await reader.query('insert into caller_changes (scope) select generate_series(1, 1000)');
  await reader.query(`select maintain_partitions(now(), interval '1 day', interval '1 year')`);
  expect(await noted()).toHaveLength(1);
  expect(await ask(principal, snapshot)).toEqual({ isSame: true, isQuick: false });
  expect(await ask(principal, snapshot)).toEqual({ isSame: true, isQuick: true });
});

const anybody: Principal = { userId: newId(), sessionId: newId(), organizationId: null };
const read = { isSame: true, isQuick: false };
const compared = { isSame: true, isQuick: true };

test('changes that a restored dump brought along from a server with higher ids of transactions are forgotten', async () => {
  const snapshot = await snapshotOf(anybody);
  await reader.query(
    `insert into caller_changes (scope, xid) select hashtextextended('*', 0), (pg_current_xact_id()::text::bigint + 1000000)::text::xid8`,
  );
  for (let time = 0; time < 2; time++) expect(await ask(anybody, snapshot)).toEqual(read);
  await reader.query(`select maintain_partitions(now(), interval '1 day', interval '1 year')`);
  expect(await ask(anybody, snapshot)).toEqual(read);
  expect(await ask(anybody, snapshot)).toEqual(compared);
  const { rows } = await reader.query('select * from caller_changes');
  await reader.query(`select maintain_partitions(now(), interval '1 day', interval '1 year')`);
  expect((await reader.query('select * from caller_changes')).rows).toEqual(rows);
});

/** Ends the server processes of a pool that has connections, as a crash does. */
async function endConnections({ runtime: { database } }: World): Promise<void> {
  const { generation } = database;
  await reader.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> all($2)`, [
    world.name,
    [await pidOf(reader)],
  ]);
  await eventually(() => database.generation > generation);
}

const pidOf = async (client: Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid ?? 0;

test('a state that was read before a connection ended with an error is read again', async () => {
  const { database } = world.runtime;
  await database.ping(Date.now() + 60_000);
  const snapshot = await snapshotOf(anybody);
  const isCompared = () => ask(anybody, snapshot, database).then(({ isQuick }) => isQuick);
  expect(await ask(anybody, snapshot, database)).toEqual(read);
  await eventually(isCompared);
  const early = new AssumedPrincipal(anybody, snapshot, database);
  await endConnections(world);
  // It was made before, and is answered by a connection that was opened after.
  expect(await answerOf(early)).toEqual({ isSame: false, isQuick: true });
  expect(await ask(anybody, snapshot, database)).toEqual(read);
  await database.ping(Date.now() + 60_000);
  await eventually(isCompared);
});

test('a state that was read before the pool was empty is read again', async () => {
  const pool = new Pool({ connectionString: world.databaseUrl, max: 2 });
  const crashes = new CrashWatch(pool);
  const [one, other] = [await pool.connect(), await pool.connect()];
  const { generation } = crashes;
  one.release(true);
  await eventually(() => pool.totalCount === 1);
  expect(crashes.generation).toBe(generation);
  other.release(true);
  await eventually(() => crashes.generation > generation);
  await pool.end();
});
