import type { PoolClient } from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { takeAttempt, takeAttemptApart } from '#entities/kit/access/sign-in-failures.ts';
import { runStatement } from '#entities/kit/storage/statement-batch.ts';
import { asOwner } from '../kit/as-owner.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

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

test('a statement that fails is told apart from those before and after it', () =>
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
      expect(after).toMatchObject({ reason: { code: '25P02', cause: { code: '22012' } } });
      await expect(runStatement(client, 'select $1::int as later', [1])).rejects.toMatchObject({ code: '25P02' });
      expect(await runStatement(client, 'rollback', [])).toMatchObject({ command: 'ROLLBACK' });
    }
    expect(await runStatement(client, 'select $1::int as usable', [1])).toMatchObject({ rows: [{ usable: 1 }] });
  }));

test('several commands in one text and values that cannot be stored are refused, and the connection stays usable', () =>
  connected(async (client) => {
    await expect(runStatement(client, 'select 1; select 2', [])).rejects.toMatchObject({ code: '42601' });
    await expect(runStatement(client, 'select $1::text as text', ['a\0b'])).rejects.toMatchObject({ code: '22021' });
    await expect(runStatement(client, 'select $1::text as text', [new Date(NaN)])).rejects.toThrow(RangeError);
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

test('an attempt that one counter refuses is counted at none, alone or within a transaction', async () => {
  const { database } = world.runtime;
  const apart = (keys: Parameters<typeof takeAttemptApart>[1]) =>
    takeAttemptApart(database, keys, 60_000, Date.now() + 10_000);
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
      takeAttemptApart(world.runtime.database, [{ key, limit: 10 }], 60_000, Date.now() + 30_000),
    ),
  );
  expect(taken.filter((freeAt) => freeAt === undefined)).toHaveLength(10);
});
