// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, inject, test } from 'vitest';
import { cacheConnection } from '#activities/clients/cache/redis-connection.ts';
import type { Config } from '#config/objects/root.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { OpenfgaProxy } from '../kit/fakes/openfga-proxy.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { startRedisServer, type RedisServer } from '../kit/servers/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../kit/servers/tcp-proxy.ts';
import { shows } from '../kit/shows.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../kit/world.ts';

let server: RedisServer | undefined;
let reason = '';
let cache: TcpProxy;
/** As the owner of the server sees it. */
let inside: Redis;
let fga: OpenfgaProxy;
let world: World;
let other: Instance;
let owner: Person;
let member: Person;
let ownerClient: TestClient;
/** The same person at two processes. */
let here: TestClient;
let there: TestClient;

beforeAll(async () => {
  const started = await startRedisServer();
  if (typeof started === 'string') {
    reason = started;
    return;
  }
  server = started;
  inside = new Redis(server.url.href);
  await inside.call('ACL', 'SETUSER', 'core', 'on', '>of-the-core', '~*', '+@all');
  cache = await startTcpProxy(server.url.host);
  fga = await OpenfgaProxy.start(inject('stack').openfgaUrl);
  world = await openWorld({ environment: { CORE_AUTHZ_HOSTURL: fga.url, ...cacheEnvironment() } });
  other = await world.openInstance();
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  ownerClient = await signedIn(world, owner);
  here = await signedIn(world, member);
  there = await at(other);
});
beforeEach((context) => {
  if (!server) context.skip(reason);
});
afterAll(async () => {
  if (!server) return;
  await world.close();
  await Promise.all([fga.close(), cache.close()]);
  inside.disconnect();
  await server.stop();
});

const cacheEnvironment = (): Record<string, string> => ({
  CORE_CACHE_ENABLED: 'true',
  CORE_CACHE_ADDRESS: cache.address,
  CORE_CACHE_PASSWORD: server?.url.password ?? '',
});

/** The member, signed in at another process. */
const at = (instance: Pick<Instance, 'client'>) => signedIn({ ...world, client: () => instance.client() }, member);

const checks = () => fga.requests.filter(({ path }) => path.endsWith('/check')).length;

/** A task that the member asked for, so that the store has to say what may be done with it. */
async function ownTask(): Promise<string> {
  const answer = await here.post('/v1/tasks', { title: 'remembered' });
  expect(answer.status).toBe(201);
  await world.runtime.tuples?.apply();
  fga.requests.length = 0;
  return answer.body.id;
}

const edit = async (client: TestClient, id: string) =>
  (await client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: newId() } })).status;

/** Connected, both processes use the cache; they do not wait for it. */
async function areConnected(...clients: TestClient[]): Promise<void> {
  for (const client of clients) {
    await eventually(async () => {
      const id = await ownTask();
      expect(await edit(client, id)).toBe(200);
      expect(await edit(client, id)).toBe(200);
      return checks() === 1;
    });
  }
}

test('cache.enabled: what one process was allowed, another one does not ask again', async () => {
  shows('cache.enabled');
  await areConnected(here, there);
  const id = await ownTask();
  expect(await edit(here, id)).toBe(200);
  expect(checks()).toBe(1);
  expect(await edit(there, id)).toBe(200);
  expect(await edit(here, id)).toBe(200);
  expect(checks()).toBe(1);
  const keys = await inside.keys(`${world.name}:allow:*`);
  expect(keys.length).toBeGreaterThan(0);
  expect(await inside.ttl(keys[0] ?? '')).toBeGreaterThan(0);

  const alone = await world.openInstance({ environment: { CORE_CACHE_ENABLED: 'false' } });
  const client = await at(alone);
  expect(await edit(client, id)).toBe(200);
  expect(await edit(client, id)).toBe(200);
  expect(checks()).toBe(2);
});

test('a revocation through one process is refused by the other at once', async () => {
  await areConnected(here, there);
  const made = await ownerClient.post('/v1/tasks', { title: 'given', assignee_id: member.user.id });
  const id: string = made.body.id;
  expect([await edit(here, id), await edit(there, id), await edit(there, id)]).toEqual([200, 200, 200]);
  for (let round = 0; round < 5; round++) {
    const assign = (assignee_id: string | null) =>
      ownerClient.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { assignee_id } });
    expect((await assign(null)).status).toBe(200);
    expect([await edit(there, id), await edit(here, id)]).toEqual([404, 404]);
    expect((await assign(member.user.id)).status).toBe(200);
    expect([await edit(there, id), await edit(here, id)]).toEqual([200, 200]);
  }
});

test('a cache that is away, or stands still, stops nothing, and is used again when it is back', async () => {
  await areConnected(here, there);
  for (const disturb of ['cut', 'stall'] as const) {
    cache[disturb]();
    const id = await ownTask();
    expect([await edit(here, id), await edit(there, id), await edit(here, id)]).toEqual([200, 200, 200]);
    expect((await here.get(`/v1/tasks/${id}`)).status).toBe(200);
    expect(checks()).toBe(3);
    cache.restore();
    await areConnected(here, there);
  }
});

test('address, username, password, db and name are how the server is reached', async () => {
  shows('cache.address', 'cache.name', 'cache.username', 'cache.password', 'cache.db');
  const named = await world.openInstance({
    environment: {
      CORE_CACHE_USERNAME: 'core',
      CORE_CACHE_PASSWORD: 'of-the-core',
      CORE_CACHE_DB: '7',
      CORE_CACHE_NAME: 'core-of-the-test',
    },
  });
  await areConnected(await at(named));
  const connections = String(await inside.client('LIST')).split('\n');
  expect(connections.find((line) => line.includes('name=core-of-the-test'))).toMatch(/ db=7 .* user=core /u);
  await inside.select(7);
  expect((await inside.keys(`${world.name}:allow:*`)).length).toBeGreaterThan(0);
  await inside.select(0);

  const wrongs: Record<string, string>[] = [{ CORE_CACHE_PASSWORD: 'wrong' }, { CORE_CACHE_ADDRESS: '127.0.0.1:1' }];
  for (const wrong of wrongs) {
    const client = await at(await world.openInstance({ environment: wrong }));
    const id = await ownTask();
    expect([await edit(client, id), await edit(client, id)]).toEqual([200, 200]);
    expect(checks()).toBe(2);
  }
});

test('cache.minidleconns, maxidleconns and maxactiveconns are how many connections there are', async () => {
  shows('cache.minidleconns', 'cache.maxidleconns', 'cache.maxactiveconns');
  let step = 0;
  for (const [name, environment, atOnce, expected] of [
    ['one-for-all', {}, 50, 1],
    ['one-is-enough', { CORE_CACHE_MAXACTIVECONNS: '3' }, 1, 1],
    ['as-many-as-may-be', { CORE_CACHE_MAXACTIVECONNS: '3' }, 50, 3],
    ['few-stay', { CORE_CACHE_MAXACTIVECONNS: '3', CORE_CACHE_MAXIDLECONNS: '1' }, 50, 1],
    ['some-wait', { CORE_CACHE_MAXACTIVECONNS: '4', CORE_CACHE_MINIDLECONNS: '2' }, 1, 2],
    ['no-more-than-may-be', { CORE_CACHE_MAXACTIVECONNS: '2', CORE_CACHE_MINIDLECONNS: '9' }, 1, 2],
  ] as const) {
    const { runtime } = await world.openInstance({ environment: { ...environment, CORE_CACHE_NAME: name } });
    const take = () => runtime.usedCodes.take(member.user.id, step++);
    const connections = async () =>
      String(await inside.client('LIST'))
        .split('\n')
        .filter((line) => line.includes(` name=${name} `))
        .map((line) => line.slice(0, line.indexOf(' ')));
    const burst = () => Promise.all(Array.from({ length: atOnce }, take));
    for (let round = 0; round < 5; round++) await burst();
    const settled = () =>
      eventually(async () => {
        const all = await connections();
        // Commands do not wait for a connection, so it takes some until all are there. Those that do not stay are closed after a burst.
        if (all.length < expected) await burst();
        return all.length === expected && all.toSorted();
      });
    const before = await settled();
    // The ones that stay are those that are there already.
    for (let round = 0; round < 5; round++) await burst();
    expect(await settled()).toEqual(before);
  }
});

/** A connection as the product opens it, with other settings. */
function connectionWith(settings: Partial<Config['cache']>): Redis {
  const config = { ...world.config.current.cache, name: '', username: '', ...settings };
  return cacheConnection(config, () => {});
}

/** Whether it is settled, without waiting for it. */
const isSettled = (promise: Promise<unknown>) =>
  Promise.race([
    promise.then(
      () => true,
      () => true,
    ),
    Promise.resolve(false),
  ]);

test('cache.readtimeout: ends a command that is not answered, and -1 does not', async () => {
  shows('auth.token.cache.config.readtimeout', 'cache.readtimeout');
  const limited = connectionWith({ readtimeout: 100, writetimeout: -1 });
  const patient = connectionWith({ readtimeout: -1, writetimeout: 100 });
  try {
    for (const connection of [limited, patient]) expect(await connection.ping()).toBe('PONG');
    cache.stall();
    const answer = patient.ping();
    await expect(limited.ping()).rejects.toThrow('Command timed out');
    expect(await isSettled(answer)).toBe(false);
    cache.restore();
    expect(await answer).toBe('PONG');
  } finally {
    cache.restore();
    for (const connection of [limited, patient]) connection.disconnect();
  }
});

test('cache.writetimeout: ends a connection whose other end reads nothing, and -1 does not', async () => {
  shows('auth.token.cache.config.writetimeout', 'cache.writetimeout');
  // It answers the first commands, which are small, and reads nothing of the next one.
  const answers = (bytes: Buffer) => '+OK\r\n'.repeat(String(bytes).match(/[*][0-9]+\r\n/g)?.length ?? 0);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (bytes) => (bytes.length > 1_000 ? socket.pause() : socket.write(answers(bytes))));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const settings = { address: `127.0.0.1:${port}`, password: '', readtimeout: -1, maxretries: 0, db: 0 };
  const limited = connectionWith({ ...settings, writetimeout: 200 });
  const patient = connectionWith({ ...settings, writetimeout: -1 });
  const large = Buffer.alloc(64 * 1_048_576);
  const waiting = patient.set('large', large);
  waiting.catch(() => {});
  try {
    await expect(limited.set('large', large)).rejects.toThrow(/max retries per request/);
    expect(await isSettled(waiting)).toBe(false);
  } finally {
    for (const connection of [limited, patient]) connection.disconnect();
    server.close();
  }
});

test('cache.maxretries: a command fails after so many lost connections', async () => {
  shows('auth.token.cache.config.maxretries', 'cache.maxretries');
  cache.cut();
  try {
    for (const maxretries of [0, 2]) {
      const connection = connectionWith({ maxretries });
      await expect(connection.ping()).rejects.toThrow(`max retries per request limit (which is ${maxretries})`);
      connection.disconnect();
    }
  } finally {
    cache.restore();
  }
});

test('cache.dialtimeout: ends an attempt to connect that nobody answers', async () => {
  shows('auth.token.cache.config.dialtimeout', 'cache.dialtimeout');
  // A program that is stopped accepts nothing, and its queue holds two connections; the system leaves further ones unanswered.
  const program = `const server = require('node:net').createServer();
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(server.address().port));`;
  const stopped = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(stopped.stdout, 'data')) as [Buffer];
  stopped.kill('SIGSTOP');
  const address = `127.0.0.1:${String(line).trim()}`;
  const fillers = Array.from({ length: 4 }, () => connect(Number(String(line)), '127.0.0.1').on('error', () => {}));
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')));
  const settings = { address, maxretries: 0, password: '' };
  const [limited, patient] = [
    connectionWith({ ...settings, dialtimeout: 100 }),
    connectionWith({ ...settings, dialtimeout: 300_000 }),
  ];
  try {
    const waiting = patient.ping();
    waiting.catch(() => {});
    await expect(limited.ping()).rejects.toThrow();
    expect(limited.status).not.toBe('connecting');
    expect(await isSettled(waiting)).toBe(false);
  } finally {
    for (const connection of [limited, patient]) connection.disconnect();
    for (const socket of fillers) socket.destroy();
    stopped.kill('SIGKILL');
  }
});
