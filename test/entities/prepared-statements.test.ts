import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipelinedRead } from '#entities/kit/storage/one-round-trip.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** A read of this process. One after the other they all get the same connection. */
function read(text: string) {
  return pipelinedRead(
    world.runtime.database,
    { role: 'app', organizationId: null, userId: null, deadline: Date.now() + 10_000 },
    [{ text, values: [0] }],
  );
}

async function prepared(): Promise<{ readonly count: number; readonly length: number }> {
  const text = `select count(*)::int as count, coalesce(sum(length(statement)), 0)::int as length from pg_prepared_statements where statement like '%probe%'`;
  const [row = { count: 0, length: 0 }] = (await world.runtime.database.pool.query(text)).rows;
  return row;
}

test('failed reads leave no prepared statement', async () => {
  const fail = () => read('select 1 / $1::integer as probe');
  await expect(fail()).rejects.toThrow();
  for (let times = 0; times < 20; times++) await expect(fail()).rejects.toThrow('division by zero');
  // The last two are closed with the statements that come next.
  expect((await prepared()).count).toBeLessThanOrEqual(2);
});

test('only reads that recur are prepared', async () => {
  await read('select $1::integer as other');
  const before = await prepared();
  for (let number = 0; number < 30; number++) await read(`select $1::integer as probe_${number}`);
  await read('select $1::integer as probe_0');
  expect((await prepared()).count).toBe(before.count);
  for (let times = 0; times < 3; times++) await read('select $1::integer as probe_0');
  expect((await prepared()).count).toBe(before.count + 1);
});

test('the prepared statements of a connection have a maximum length together, and connections a maximum of uses', async () => {
  for (let number = 0; number < 20; number++)
    for (let times = 0; times < 3; times++)
      await read(`select $1::integer as probe_${number} /* ${'x'.repeat(20_000)} */`);
  // What was dropped is closed with the next read.
  await read('select $1::integer as other');
  const { count, length } = await prepared();
  expect(count).toBeGreaterThan(5);
  expect(length).toBeLessThanOrEqual(250_000);
  expect(world.runtime.database.pool.options.maxUses).toBe(10_000);
});

test.each([9_007_199_254_740_991, 2_147_483_648, -2_147_483_649, 0.5])(
  'a cursor with %d for a whole number is none',
  async (priority) => {
    const client = await signedIn(world, await buildPerson(world));
    await client.post('/v1/tasks', { title: 'a' });
    const page = await client.get('/v1/tasks?order_by=priority&first=1');
    const [mark] = JSON.parse(Buffer.from(page.body.page_info.end_cursor, 'base64url').toString());
    const cursor = Buffer.from(JSON.stringify([mark, priority, 'x'])).toString('base64url');
    const refused = await client.get(`/v1/tasks?order_by=priority&first=1&after=${cursor}`);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_cursor']);
  },
);
