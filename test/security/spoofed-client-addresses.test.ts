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

/** The addresses at which failures of these requests are counted. */
async function countedAt(headers: readonly Readonly<Record<string, string>>[], from = address): Promise<unknown[]> {
  await asOwner(world, 'delete from sign_in_failures');
  const client = world.client();
  client.address = from;
  await client.get('/livez');
  for (const sent of headers)
    await client.post('/v1/login', { username: 'someone@example.com', password: 'x' }, { ...sent });
  const rows = await asOwner<{ key: string }>(
    world,
    `select key from sign_in_failures where key like 'address:%' order by key`,
  );
  return rows.map(({ key }) => key.slice('address:'.length));
}

test('T-27: ratelimit.headers names the headers that are believed, in their order', async () => {
  await world.reconfigure({ CORE_RATELIMIT_HEADERS: 'Cf-Connecting-Ip,X-Real-Ip,RemoteAddr' });
  expect(await countedAt([{ 'x-real-ip': '198.51.100.1', 'cf-connecting-ip': '198.51.100.2' }])).toEqual([
    '198.51.100.2',
  ]);
  expect(await countedAt([{ 'x-real-ip': '198.51.100.1' }])).toEqual(['198.51.100.1']);
  // What is no address is nobody's.
  for (const value of ['localhost', '1', "'; drop table users; --", '198.51.100.1, 127.0.0.1', ''])
    expect(await countedAt([{ 'x-real-ip': value }]), value).toEqual([address]);
  expect(await countedAt([{ 'x-forwarded-for': '198.51.100.1' }])).toEqual([address]);
  await world.reconfigure({ CORE_RATELIMIT_HEADERS: undefined });
});

test('T-27: forwardedindexfrombehind counts the addresses of X-Forwarded-For from the end', async () => {
  const forwarded = { 'x-forwarded-for': '198.51.100.1, 198.51.100.2,198.51.100.3' };
  for (const [index, expected] of ['198.51.100.3', '198.51.100.2', '198.51.100.1', '198.51.100.1'].entries()) {
    await world.reconfigure({
      CORE_RATELIMIT_HEADERS: 'X-Forwarded-For,RemoteAddr',
      CORE_RATELIMIT_FORWARDEDINDEXFROMBEHIND: String(index),
    });
    expect(await countedAt([forwarded]), String(index)).toEqual([expected]);
  }
  expect(await countedAt([{}])).toEqual([address]);
  await world.reconfigure({ CORE_RATELIMIT_HEADERS: undefined, CORE_RATELIMIT_FORWARDEDINDEXFROMBEHIND: undefined });
});

test('T-27: addresses of one IPv6 network count together, and an IPv4 address counts however it is written', async () => {
  const ipv6 = ['2001:db8:1:2::1', '2001:DB8:1:2:ffff:0:0:9', '2001:db8:1:3::1'];
  const seen = new Set<unknown>();
  for (const from of ipv6) for (const key of await countedAt([{}], from)) seen.add(key);
  expect([...seen]).toEqual(['2001:db8:1:2::/64', '2001:db8:1:3::/64']);
  expect(await countedAt([{}], '::ffff:203.0.113.7')).toEqual([address]);
});
