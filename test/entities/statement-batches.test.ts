import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { takeAttempt, takeAttemptApart } from '#entities/kit/access/sign-in-failures.ts';
import { bind } from '#entities/kit/storage/bound-text.ts';
import { sendTogether } from '#entities/kit/storage/send-together.ts';
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

const statement = (text: string, values: readonly unknown[] = []) => bind({ text, values });

/** Sends one statement. @throws its error */
async function send(client: PoolClient, ...sent: Parameters<typeof statement>) {
  const { answers, error } = await sendTogether(client, [statement(...sent)]);
  if (error) throw error;
  return answers[0]!;
}

test('statements that are sent together are answered together', () =>
  connected(async (client, counts) => {
    const { answers, error } = await sendTogether(client, [
      statement('begin'),
      statement('select $1::int as one, $2::text as none', [1, null]),
      statement('select generate_series(1, $1::int) as number', [3]),
      statement('commit'),
    ]);
    expect(error).toBeUndefined();
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
    expect(answers.map(({ texts }) => texts)).toEqual([[], [['1', null]], [['1'], ['2'], ['3']], []]);
  }));

test('a statement that waits for a lock holds up those behind it, and none of those before it', () =>
  connected(async (holder) => {
    await send(holder, 'begin');
    await send(holder, `select pg_advisory_xact_lock(4711)`);
    await connected(async (client) => {
      const before = send(client, 'select $1::int as before', [1]);
      let isLocked = false;
      const waiting = send(client, 'select pg_advisory_xact_lock(4711)').finally(() => {
        isLocked = true;
      });
      expect(await before).toMatchObject({ rows: [{ before: 1 }] });
      expect(isLocked).toBe(false);
      await send(holder, 'rollback');
      await waiting;
    });
  }));

test('columns are described until a statement is prepared, and not again', () =>
  connected(async (client, counts) => {
    for (let number = 0; number < 10; number++) {
      const { rows } = await send(client, 'select $1::int as described, now() as at', [number]);
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
      const { rows } = await send(
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

test('those before a statement that fails have answers, and those after it are skipped', () =>
  connected(async (client) => {
    for (let times = 0; times < 4; times++) {
      const { answers, error } = await sendTogether(client, [
        statement('begin'),
        statement('select $1::int as before', [1]),
        statement('select 1 / $1::int as failed', [0]),
        statement('select $1::int as after', [1]),
      ]);
      expect(answers.map(({ rows }) => rows)).toEqual([[], [{ before: 1 }]]);
      expect(error).toMatchObject({ code: '22012' });
      await expect(send(client, 'select $1::int as later', [1])).rejects.toMatchObject({ code: '25P02' });
      expect(await send(client, 'rollback')).toMatchObject({ command: 'ROLLBACK' });
    }
    expect(await send(client, 'select $1::int as usable', [1])).toMatchObject({ rows: [{ usable: 1 }] });
  }));

test('when the commit at the end of statements without a transaction fails, none of them has an answer', () =>
  connected(async (client) => {
    await send(client, 'create temp table late (id int unique deferrable initially deferred)');
    const { answers, error } = await sendTogether(client, [
      statement('insert into late select $1::int from generate_series(1, 2)', [1]),
      statement('select $1::int as answered', [1]),
    ]);
    expect([answers, error]).toMatchObject([[], { code: '23505' }]);
    expect(await send(client, 'select 1 from late')).toMatchObject({ rows: [] });
  }));

test('the end of a transaction is not skipped when a statement before it fails', () =>
  connected(async (client) => {
    await send(client, 'begin');
    const [failed, ended] = await Promise.allSettled([
      send(client, 'select 1 / $1::int as failed', [0]),
      send(client, 'rollback'),
    ]);
    expect(failed).toMatchObject({ reason: { code: '22012' } });
    expect(ended).toMatchObject({ value: { command: 'ROLLBACK' } });
    expect(await send(client, 'select $1::int as usable', [1])).toMatchObject({ rows: [{ usable: 1 }] });
  }));

test('several commands in one text and values that cannot be stored are refused, and the connection stays usable', () =>
  connected(async (client) => {
    await expect(send(client, 'select 1; select 2')).rejects.toMatchObject({ code: '42601' });
    await expect(send(client, 'select $1::text as text', ['a\0b'])).rejects.toMatchObject({ code: '22021' });
    await expect(send(client, 'select $1::text as text', [new Date(NaN)])).rejects.toThrow(RangeError);
    for (const value of [[['a']], new Uint8Array(1), [new Uint8Array(1)]])
      await expect(send(client, 'select $1 as value', [value])).rejects.toThrow(TypeError);
    expect(await send(client, 'select $1::text as text', ['a'])).toMatchObject({ rows: [{ text: 'a' }] });
  }));

test('all statements of a connection that is lost fail', () =>
  connected(async (client) => {
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows;
    const lost = Promise.allSettled([
      send(client, 'select pg_sleep($1)', [30]),
      send(client, 'select $1::int as never', [1]),
    ]);
    await new Promise((resolve) => setImmediate(resolve));
    await asOwner(world, 'select pg_terminate_backend($1)', [pid]);
    for (const { status } of await lost) expect(status).toBe('rejected');
    await expect(send(client, 'select $1::int as later', [1])).rejects.toThrow();
  }));

/** A transaction of a caller with an organization. */
async function begun(precondition?: Precondition): Promise<Transaction> {
  const { database } = world.runtime;
  const settings = { role: 'app', organizationId: newId(), userId: newId(), readOnly: false } as const;
  return Transaction.begin(database, { ...settings, deadline: Date.now() + 30_000, precondition });
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

const whoReads = `select current_user as role, current_setting('core.organization_id') as organization,
  pg_current_xact_id_if_assigned() is not null as "isChanging"`;

test('a statement whose values cannot be bound changes neither the beginning nor the role of those after it', async () => {
  const transaction = await begun();
  const refused = (role: 'app' | 'system') => transaction.query(role, 'select $1 as value', [[['a']]]);
  await expect(refused('system')).rejects.toThrow(TypeError);
  expect(transaction.statements).toBe(0);
  await transaction.query('app', 'select pg_current_xact_id()');
  await expect(refused('system')).rejects.toThrow(TypeError);
  const { rows } = await transaction.query('app', whoReads);
  expect(rows).toEqual([{ role: 'core_app', organization: expect.stringMatching(/./), isChanging: true }]);
  await transaction.rollback();
});

test('a precondition that does not hold is reported before what fails with it, and refuses everything after it', async () => {
  const refusal = new Error('the rights have changed');
  const transaction = await begun({
    text: `select 'changed'::text as result`,
    values: [],
    check: (result) => {
      if (result === 'changed') throw refusal;
    },
  });
  await expect(transaction.query('app', 'select 1 / 0')).rejects.toBe(refusal);
  await expect(transaction.query('app', 'select 1')).rejects.toBe(refusal);
  await expect(transaction.commit()).rejects.toBe(refusal);
  await transaction.rollback();
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
