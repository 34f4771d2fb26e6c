import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { takeAttempt, takeAttemptApart } from '#entities/kit/access/sign-in-failures.ts';
import { runStatement, runStatementApart } from '#entities/kit/storage/statement-batch.ts';
import { Transaction, type StatementReport } from '#entities/kit/storage/transaction.ts';
import type { Precondition } from '#entities/kit/model/work-context.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { noteCommits } from '../kit/records/noted-commits.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const forSeconds = (seconds: number) => ({ deadline: Date.now() + seconds * 1_000, traceparent: 'span' });

/** Runs work with a connection of its own, and counts messages of PostgreSQL by their name. */
async function connected<T>(work: (client: PoolClient, counts: Record<string, number>) => Promise<T>): Promise<T> {
  const client = await world.runtime.database.pool.connect();
  const counts: Record<string, number> = { readyForQuery: 0, rowDescription: 0 };
  const { connection } = client as unknown as { readonly connection: NodeJS.EventEmitter };
  for (const name of Object.keys(counts)) connection.on(name, () => counts[name]!++);
  try {
    return await work(client, counts);
  } finally {
    client.release(true);
  }
}

test('statements of one tick are answered together', () =>
  connected(async (client, counts) => {
    const answers = await Promise.all([
      runStatement(client, 'begin', []),
      runStatement(client, 'select $1::int as one, $2::text as none', [1, null]),
      runStatement(client, 'select generate_series(1, $1::int) as number', [3]),
      runStatement(client, 'commit', []),
    ]);
    expect(counts['readyForQuery']).toBe(1);
    expect(answers.map(({ command, rowCount }) => [command, rowCount])).toEqual([
      ['BEGIN', null],
      ['SELECT', 1],
      ['SELECT', 3],
      ['COMMIT', null],
    ]);
    expect(answers.map(({ rows }) => rows)).toEqual([
      [],
      [{ one: 1, none: null }],
      [{ number: 1 }, { number: 2 }, { number: 3 }],
      [],
    ]);
  }));

test('columns are described until a statement is prepared, and not again', () =>
  connected(async (client, counts) => {
    for (let number = 0; number < 10; number++) {
      const { rows } = await runStatement(client, 'select $1::int as described, now() as at', [number]);
      expect(rows).toEqual([{ described: number, at: expect.any(Date) }]);
    }
    expect(counts['rowDescription']).toBe(3);
  }));

test('values arrive as they were', () =>
  connected(async (client) => {
    const at = new Date('2026-11-27T01:02:03.456Z');
    const texts = ['a"b\\c', '', 'null', null, '{x,y}', 'ä\n'];
    const bytes = Buffer.from([0, 1, 0xff]);
    for (let times = 0; times < 4; times++) {
      const { rows } = await runStatement(
        client,
        `select $1::timestamptz as at, $2::text[] as texts, $3::bytea as bytes, $4::bigint::text as large, $5::jsonb as document,
          $6::boolean as truth, $7::bytea[] as several, $8::float8 as part`,
        [at, texts, bytes, 2n ** 60n, { a: ["'"] }, false, [bytes], -0.25],
      );
      const document = { a: ["'"] };
      const large = String(2n ** 60n);
      expect(rows).toEqual([{ at, texts, bytes, large, document, truth: false, several: [bytes], part: -0.25 }]);
    }
  }));

test('a statement that fails is told apart from those before it, and those after it have its error', () =>
  connected(async (client) => {
    for (let times = 0; times < 4; times++) {
      const [begun, before, failed, after] = await Promise.allSettled([
        runStatement(client, 'begin', []),
        runStatement(client, 'select $1::int as before', [1]),
        runStatement(client, 'select 1 / $1::int as failed', [0]),
        runStatement(client, 'select $1::int as after', [1]),
      ]);
      expect([begun.status, before]).toMatchObject(['fulfilled', { value: { rows: [{ before: 1 }] } }]);
      expect(failed).toMatchObject({ reason: { code: '22012' } });
      expect(after).toMatchObject({ reason: { code: '22012' } });
      await expect(runStatement(client, 'select $1::int as later', [1])).rejects.toMatchObject({ code: '25P02' });
      expect(await runStatement(client, 'rollback', [])).toMatchObject({ command: 'ROLLBACK' });
    }
    expect(await runStatement(client, 'select $1::int as usable', [1])).toMatchObject({ rows: [{ usable: 1 }] });
  }));

test('a statement apart is not skipped when one of its tick fails', () =>
  connected(async (client) => {
    await runStatement(client, 'begin', []);
    const [failed, ended] = await Promise.allSettled([
      runStatement(client, 'select 1 / $1::int as failed', [0]),
      runStatementApart(client, 'rollback', []),
    ]);
    expect(failed).toMatchObject({ reason: { code: '22012' } });
    expect(ended).toMatchObject({ value: { command: 'ROLLBACK' } });
    expect(await runStatement(client, 'select $1::int as usable', [1])).toMatchObject({ rows: [{ usable: 1 }] });
  }));

test('several commands in one text and values that cannot be stored are refused, and the connection stays usable', () =>
  connected(async (client) => {
    await expect(runStatement(client, 'select 1; select 2', [])).rejects.toMatchObject({ code: '42601' });
    await expect(runStatement(client, 'select $1::text as text', ['a\0b'])).rejects.toMatchObject({ code: '22021' });
    await expect(runStatement(client, 'select $1::text as text', [new Date(NaN)])).rejects.toThrow(RangeError);
    for (const value of [[['a']], new Uint8Array(1), [new Uint8Array(1)]])
      await expect(runStatement(client, 'select $1 as value', [value])).rejects.toThrow(TypeError);
    expect(await runStatement(client, 'select $1::text as text', ['a'])).toMatchObject({ rows: [{ text: 'a' }] });
  }));

test('all statements of a connection that is lost are rejected', () =>
  connected(async (client) => {
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows;
    const lost = Promise.allSettled([
      runStatement(client, 'select pg_sleep($1)', [30]),
      runStatement(client, 'select $1::int as never', [1]),
    ]);
    await new Promise((resolve) => setImmediate(resolve));
    await asOwner(world, 'select pg_terminate_backend($1)', [pid]);
    for (const { status } of await lost) expect(status).toBe('rejected');
    await expect(runStatement(client, 'select $1::int as later', [1])).rejects.toThrow();
  }));

/** A transaction of a caller with an organization. */
async function begun(precondition?: Precondition): Promise<Transaction> {
  const { connections } = world.runtime.database;
  const settings = { role: 'app', organizationId: newId(), userId: newId(), readOnly: false } as const;
  return Transaction.begin(connections, { ...settings, deadline: Date.now() + 30_000, precondition });
}

/** Ends the connection that sleeps. */
async function terminateSleeping(): Promise<void> {
  await eventually(async () => {
    const rows = await asOwner(
      world,
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like '%pg_sleep(30)%' and pid <> pg_backend_pid()`,
      [world.name],
    );
    return rows.length > 0;
  });
}

test('each statement of a connection that is lost with BEGIN says that the database is unavailable', async () => {
  const sleeping: Precondition = { text: 'select pg_sleep(30)::text as result', values: [], check: () => {} };
  for (const precondition of [undefined, sleeping]) {
    const transaction = await begun(precondition);
    const statements = Promise.allSettled([
      transaction.query('system', 'select pg_sleep(30)'),
      transaction.query('app', 'select 1'),
      transaction.query('system', 'select 2'),
    ]);
    await terminateSleeping();
    for (const ended of await statements) expect(ended).toMatchObject({ reason: { code: 'database_unavailable' } });
    await expect(transaction.rollback()).rejects.toMatchObject({ code: 'database_unavailable' });
  }
});

test('whatever of several statements waits shortest for a conflict reports the conflict', async () => {
  const key = `conflict:${newId()}`;
  await takeAttemptApart(world.runtime.database, [{ key, limit: 5 }], 60_000, forSeconds(10));
  const text = 'select 1 from sign_in_failures where key = $1 for update nowait';
  const holder = await begun();
  await holder.query('system', text, [key]);
  const other = await begun();
  const deep = async () => {
    const locked = other.query('system', text, [key]);
    for (let step = 0; step < 5; step++) await locked.finally(() => {});
  };
  await expect(Promise.all([deep(), other.query('system', 'select 1')])).rejects.toMatchObject({
    code: 'deadline_exceeded',
  });
  await other.rollback();
  await holder.rollback();
});

test('a transaction without a statement costs none, and one that begins under another role takes no message to switch', async () => {
  const none = await begun();
  await none.commit();
  expect(none.statements).toBe(0);
  const one = await begun();
  const { rows } = await one.query<{ role: string; organization: string }>(
    'system',
    `select current_user as role, current_setting('core.organization_id') as organization`,
  );
  expect(rows).toEqual([{ role: 'core_system', organization: '' }]);
  await one.rollback();
  expect(one.statements).toBe(3);
});

test('an attempt that is counted alone is observed', async () => {
  const observed: StatementReport[] = [];
  const { connections, options } = world.runtime.database;
  const database = {
    connections,
    options: { ...options, observer: { statement: (report: StatementReport) => void observed.push(report) } },
  };
  const key = `observed:${newId()}`;
  await takeAttemptApart(database, [{ key, limit: 5 }], 60_000, forSeconds(10));
  await expect(takeAttemptApart(database, [{ key, limit: 2 ** 40 }], 60_000, forSeconds(10))).rejects.toThrow();
  expect(observed).toMatchObject([
    { text: expect.stringContaining('take_attempt'), traceparent: 'span', isFailed: false },
    { isFailed: true },
  ]);
});

test('an attempt that one counter refuses is counted at none, alone or within a transaction', async () => {
  const { database } = world.runtime;
  const apart = (keys: Parameters<typeof takeAttemptApart>[1]) =>
    takeAttemptApart(database, keys, 60_000, forSeconds(10));
  const within = (keys: Parameters<typeof takeAttempt>[1]) =>
    database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) => takeAttempt(unit, keys, 60_000));
  for (const take of [apart, within]) {
    const [full, other] = [`full:${newId()}`, `other:${newId()}`];
    const keys = [
      { key: other, limit: 5 },
      { key: full, limit: 1 },
    ];
    expect(await take(keys)).toBeUndefined();
    expect(await take(keys)).toBeInstanceOf(Date);
    const text = 'select failures from sign_in_failures where key = any($1)';
    expect(await asOwner(world, text, [[full, other]])).toEqual([{ failures: 1 }, { failures: 1 }]);
  }
});

test('of fifty attempts at once, as many are allowed as the limit says', async () => {
  const key = `race:${newId()}`;
  const taken = await Promise.all(
    Array.from({ length: 50 }, () =>
      takeAttemptApart(world.runtime.database, [{ key, limit: 10 }], 60_000, forSeconds(30)),
    ),
  );
  expect(taken.filter((freeAt) => freeAt === undefined)).toHaveLength(10);
});

test('an attempt that is counted alone does not wait for the disk, and one within a transaction does', async () => {
  // Servers of tests wait for nothing; this is what PostgreSQL does unless it is told otherwise.
  await asOwner(world, `alter database ${world.name} set synchronous_commit = on`);
  const noted = await noteCommits(world);
  const { database } = (await world.openInstance()).runtime;
  const [alone, within] = [noted.newKey(), noted.newKey()];
  await takeAttemptApart(database, [{ key: alone, limit: 5 }], 60_000, forSeconds(10));
  await database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    takeAttempt(unit, [{ key: within, limit: 5 }], 60_000),
  );
  expect([await noted.settingOf(alone), await noted.settingOf(within)]).toEqual(['off', 'on']);
  await noted.forget();
});
