import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { mirrorEndedSessionContract } from '#workflows/identity/mirror-ended-session.contract.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { startRedisServer, type RedisServer } from '../../kit/servers/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const refreshDurationMs = 7_200_000;

let server: RedisServer | undefined;
let reason = '';
let cache: TcpProxy;
/** As the owner of the server, and as other services see it. */
let inside: Redis;
let world: World;
let person: Person;

beforeAll(async () => {
  const started = await startRedisServer();
  if (typeof started === 'string') {
    reason = started;
    return;
  }
  server = started;
  inside = new Redis(`${server.url.href.replace(/\/$/, '')}/5`);
  await inside.call('ACL', 'SETUSER', 'mirror', 'on', '>of-the-mirror', '~ended:*', '+@all');
  cache = await startTcpProxy(server.url.host);
  world = await openWorld({
    worker: true,
    environment: {
      CORE_AUTH_TOKEN_CACHE_ENABLED: 'true',
      CORE_AUTH_TOKEN_CACHE_BLACKLISTPREFIX: 'ended:',
      CORE_AUTH_TOKEN_CACHE_CONFIG_ENABLED: 'true',
      CORE_AUTH_TOKEN_CACHE_CONFIG_ADDRESS: cache.address,
      CORE_AUTH_TOKEN_CACHE_CONFIG_NAME: 'core-mirror',
      CORE_AUTH_TOKEN_CACHE_CONFIG_USERNAME: 'mirror',
      CORE_AUTH_TOKEN_CACHE_CONFIG_PASSWORD: 'of-the-mirror',
      CORE_AUTH_TOKEN_CACHE_CONFIG_DB: '5',
      CORE_AUTH_TOKEN_CACHE_CONFIG_MAXRETRIES: '0',
      CORE_AUTH_TOKEN_REFRESHDURATION: String(refreshDurationMs),
    },
  });
  person = await buildPerson(world);
});
beforeEach((context) => {
  if (!server) context.skip(reason);
});
afterAll(async () => {
  if (!server) return;
  await world.close();
  await cache.close();
  inside.disconnect();
  await server.stop();
});

/** Signs in and out again. */
async function endedSession(instance: Pick<Instance, 'client'> = world): Promise<{ id: string; client: TestClient }> {
  const client = await signedIn(instance, person);
  const [{ id }] = (await client.get('/v1/sessions?order_by=-created_at&first=1')).body.data as [{ id: string }];
  const token = client.cookies.get('access_token');
  expect((await client.post('/v1/logout')).status).toBe(200);
  client.bearer = token;
  return { id, client };
}

const isMirrored = (id: string) => eventually(async () => (await inside.get(`ended:${id}`)) === '1');

test('T-02: an ended session is written under the prefix until its tokens have expired, and nothing else is', async () => {
  shows(
    'auth.token.cache.blacklistprefix',
    'auth.token.cache.config.address',
    'auth.token.cache.config.name',
    'auth.token.cache.config.username',
    'auth.token.cache.config.password',
    'auth.token.cache.config.db',
  );
  const { id } = await endedSession();
  await isMirrored(id);
  const remainingMs = await inside.pttl(`ended:${id}`);
  expect(remainingMs).toBeGreaterThan(0);
  expect(remainingMs).toBeLessThanOrEqual(refreshDurationMs);
  expect(await inside.keys('*')).toEqual([`ended:${id}`]);
  const connections = String(await inside.client('LIST')).split('\n');
  expect(connections.find((line) => line.includes('name=core-mirror'))).toMatch(/ db=5 .* user=mirror /u);
});

test('while the cache is away every answer is the same; what ended meanwhile is written later', async () => {
  cache.cut();
  const { id, client } = await endedSession();
  expectProblem(await client.get('/v1/sessions'), 'unauthenticated');
  expect((await (await signedIn(world, person)).get('/v1/sessions')).status).toBe(200);
  cache.restore();
  await isMirrored(id);
});

test('enabled: off, nothing is written', async () => {
  shows('auth.token.cache.enabled');
  const off = await world.openInstance({ environment: { CORE_AUTH_TOKEN_CACHE_ENABLED: 'false' } });
  const unmirrored = await endedSession(off);
  const { id } = await endedSession();
  await isMirrored(id);
  expect(await inside.exists(`ended:${unmirrored.id}`)).toBe(0);
});

test('config.enabled: off, the connection of the server is used', async () => {
  shows('auth.token.cache.config.enabled');
  const instance = await world.openInstance({
    environment: {
      CORE_AUTH_TOKEN_CACHE_CONFIG_ENABLED: 'false',
      CORE_CACHE_ENABLED: 'true',
      CORE_CACHE_ADDRESS: cache.address,
      CORE_CACHE_USERNAME: 'mirror',
      CORE_CACHE_PASSWORD: 'of-the-mirror',
      CORE_CACHE_DB: '6',
    },
  });
  const id = newId();
  await instance.runtime.endedSessions?.add(id, 60_000);
  expect(await inside.exists(`ended:${id}`)).toBe(0);
  await inside.select(6);
  expect(await inside.exists(`ended:${id}`)).toBe(1);
  await inside.select(5);
});

test('config.minidleconns, maxidleconns and maxactiveconns are how many connections there are', async () => {
  shows(
    'auth.token.cache.config.minidleconns',
    'auth.token.cache.config.maxidleconns',
    'auth.token.cache.config.maxactiveconns',
  );
  const prefix = 'CORE_AUTH_TOKEN_CACHE_CONFIG_';
  for (const [name, settings, atOnce, expected] of [
    ['mirror-one-for-all', {}, 50, 1],
    ['mirror-many', { MAXACTIVECONNS: '3' }, 50, 3],
    ['mirror-few-stay', { MAXACTIVECONNS: '3', MAXIDLECONNS: '1' }, 50, 1],
    ['mirror-some-wait', { MAXACTIVECONNS: '4', MINIDLECONNS: '2' }, 1, 2],
  ] as const) {
    const variables = Object.entries({ ...settings, NAME: name }).map(([field, value]) => [prefix + field, value]);
    const { runtime } = await world.openInstance({ environment: Object.fromEntries(variables) });
    const add = async () => runtime.endedSessions?.add(newId(), 60_000);
    await Promise.all(Array.from({ length: atOnce }, add));
    await eventually(async () => {
      const lines = String(await inside.client('LIST')).split('\n');
      return lines.filter((line) => line.includes(` name=${name} `)).length === expected;
    });
  }
});

test('what has expired while the cache was away is not written', async () => {
  const { temporal } = world.runtime;
  const sessionId = newId();
  const endedAt = new Date(world.clock.now().getTime() - refreshDurationMs).toISOString();
  const input = { queue: temporal.activityQueue('maintenance'), sessionId, endedAt };
  const run = await temporal.client.workflow.start(mirrorEndedSessionContract.name, {
    taskQueue: temporal.taskQueue('workflows'),
    workflowId: `${world.name}/expired`,
    args: [input],
  });
  expect(await run.result()).toBe('expired');
  expect(await inside.exists(`ended:${sessionId}`)).toBe(0);
});
