import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, testPassword } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-27: no header that a client makes up changes the address by which its attempts are counted.

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const address = '203.0.113.7';
const claims = [
  'X-Forwarded-For',
  'X-Real-Ip',
  'Forwarded',
  'Cf-Connecting-Ip',
  'True-Client-Ip',
  'X-Client-Ip',
  'X-Forwarded-Host',
  'Via',
];
const values = [
  '127.0.0.1',
  '::1',
  '198.51.100.1',
  '198.51.100.1, 127.0.0.1',
  '127.0.0.1, 198.51.100.1',
  'localhost',
  "'; drop table users; --",
];

test('T-27: all fifty attempts count for the real address, whatever the headers claim', async () => {
  const client = world.client();
  client.address = address;
  await client.get('/livez');
  for (let attempt = 0; attempt < 50; attempt++) {
    const header = claims[attempt % claims.length] ?? '';
    const value = values[attempt % values.length] ?? '';
    const answer = await client.post(
      '/v1/login',
      { username: `claim-${attempt}@example.com`, password: 'x' },
      { [header]: header === 'Forwarded' ? `for=${value}` : value },
    );
    expectProblem(answer, 'invalid_credentials', `${header}: ${value}`);
  }
  expect(await asOwner(world, `select key, failures from sign_in_failures where key like 'address:%'`)).toEqual([
    { key: `address:${address}`, failures: 50 },
  ]);

  const { user } = await buildPerson(world);
  const body = { username: user.email, password: testPassword };
  for (const header of claims)
    expectProblem(await client.post('/v1/login', body, { [header]: '127.0.0.1' }), 'too_many_requests', header);
});

test('T-27: 127.0.0.1 is limited like every other address', async () => {
  const client = world.client();
  await client.get('/livez');
  for (let attempt = 0; attempt < 50; attempt++)
    await client.post('/v1/login', { username: `local-${attempt}@example.com`, password: 'x' });
  expectProblem(await client.post('/v1/login', { username: 'x@example.com', password: 'x' }), 'too_many_requests');
});
