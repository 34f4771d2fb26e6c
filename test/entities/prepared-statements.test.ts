import { afterAll, beforeAll, expect, test } from 'vitest';
import { pipelinedRead } from '#entities/kit/storage/pipelined-query.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('failed reads leave no prepared statement', async () => {
  // One after the other they all get the same connection.
  const { pool } = world.runtime.database;
  const fail = () =>
    pipelinedRead(
      pool,
      { organizationId: null, userId: null, deadline: Date.now() + 10_000 },
      { text: 'select 1 / $1::integer', values: [0] },
    );
  const count = async () =>
    Number((await pool.query<{ count: string }>('select count(*) from pg_prepared_statements')).rows[0]?.count);
  await expect(fail()).rejects.toThrow();
  const before = await count();
  for (let times = 0; times < 20; times++) await expect(fail()).rejects.toThrow('division by zero');
  // The last two are closed with the statements that come next.
  expect(await count()).toBeLessThanOrEqual(before);
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
