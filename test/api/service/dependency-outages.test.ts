// Left to npm run prove; npm test has test/api/service/authorization-store-outage.test.ts.
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { join } from 'node:path';
import { defineRoute } from '#api/http/route.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { ProductProcess } from '../../kit/processes/spawned-process.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

// Processes take a while to start, the more so beside others.
vi.setConfig({ testTimeout: 120_000 });

/** Asks the database for as little as can be. */
const reading = defineRoute({
  method: 'GET',
  url: '/test/read',
  operationId: 'reading',
  tag: 'Test',
  summary: 'Read',
  description: 'Read.',
  access: 'public',
  answers: { 200: Type.Null() },
  errors: [],
  handle: async ({ unit }) => {
    await (await unit.readAs('app')).query('select 1');
    return { status: 200, body: null };
  },
});

const withOwn503 = defineRoute({
  ...reading,
  url: '/test/own-503',
  operationId: 'withOwn503',
  answers: {
    200: Type.Null(),
    503: Type.Object({ status: Type.String(), checks: Type.Record(Type.String(), Type.Null()) }),
  },
});

let world: World;
const proxies: TcpProxy[] = [];

beforeAll(async () => {
  world = await openWorld({ routes: [reading, withOwn503] });
});
afterAll(async () => {
  await world.close();
  await Promise.all(proxies.map((proxy) => proxy.close()));
});

async function proxyTo(target: string): Promise<TcpProxy> {
  const proxy = await startTcpProxy(target);
  proxies.push(proxy);
  return proxy;
}

/** Addresses of each part, through a proxy that can be cut. */
const parts = {
  job_queue: async () => {
    const { temporalAddress, namespace } = inject('stack');
    const proxy = await proxyTo(temporalAddress);
    return { proxy, environment: { CORE_JOBQUEUE_CONNECTIONURI: `temporal://${proxy.address}/${namespace}` } };
  },
  fga: async () => {
    const proxy = await proxyTo(new URL(inject('stack').openfgaUrl).host);
    return { proxy, environment: { CORE_AUTHZ_HOSTURL: `http://${proxy.address}` } };
  },
  db_primary: async () => {
    const url = new URL(world.databaseUrl);
    const proxy = await proxyTo(url.host);
    url.host = proxy.address;
    return { proxy, environment: { CORE_DB_PRIMARYDBSOURCE: url.href } };
  },
} as const;
type Part = keyof typeof parts;

const others = (part: Part) => (Object.keys(parts) as Part[]).filter((each) => each !== part);

/** What /readyz says while this part is away: it, and nothing else, is down. */
const without = (part: Part) => ({
  status: 'degraded',
  checks: {
    [part]: { status: 'down', reason: expect.any(String) },
    ...Object.fromEntries(others(part).map((each) => [each, { status: 'up' }])),
    object_storage_disk: { status: 'up' },
  },
});

const isReady = (client: TestClient) => eventually(async () => (await client.get('/readyz')).status === 200);

/** One instance in whose way to a part a proxy stands. */
async function instanceBehind(part: Part): Promise<{ proxy: TcpProxy; instance: Instance; client: TestClient }> {
  const { proxy, environment } = await parts[part]();
  const instance = await world.openInstance({ environment });
  return { proxy, instance, client: instance.client() };
}

test.each(['job_queue', 'fga'] as const)(
  'without %s the process starts, says what is missing, serves, and is ready when it comes',
  async (part) => {
    const { proxy, environment } = await parts[part]();
    proxy.cut();
    const api = new ProductProcess({
      program: 'api/api-main.ts',
      environment: { ...world.environment, STACK_STATE_DIR: join(world.mailFolder, '..'), ...environment },
    });
    await api.ready;
    // Its log travels by another way than its message.
    await eventually(() => api.url !== '');
    const readiness = await fetch(`${api.url}/readyz`);
    expect([readiness.status, await readiness.json()]).toEqual([503, without(part)]);
    expect((await fetch(`${api.url}/livez`)).status).toBe(200);
    proxy.restore();
    await eventually(async () => (await fetch(`${api.url}/readyz`)).status === 200);
    expect(await api.stop()).toEqual({ code: 0, signal: null });
  },
);

test.each(['job_queue', 'fga'] as const)('when %s goes away, requests are answered as before', async (part) => {
  const { proxy, client } = await instanceBehind(part);
  await isReady(client);
  proxy.cut();
  expect(await client.get('/readyz')).toMatchObject({ status: 503, body: without(part) });
  const email = `away-${newId().toLowerCase()}@example.com`;
  expect((await client.post('/v1/register', { email, password: 'correct horse battery' })).status).toBe(202);
  expect(await asOwner(world, 'select id from email_verifications where email = $1', [email])).toHaveLength(1);
  proxy.restore();
  await isReady(client);
});

test('when PostgreSQL goes away, what needs it gets 503, and all is well when it is back', async () => {
  const { proxy, client, instance } = await instanceBehind('db_primary');
  await isReady(client);
  proxy.cut();
  expect(await client.get('/readyz')).toMatchObject({ status: 503, body: without('db_primary') });
  const operations = [
    () => client.get('/test/read'),
    () => client.post('/v1/login', { username: 'nobody@example.com', password: 'wrong' }),
    () => client.post('/v1/register', { email: 'away@example.com', password: 'correct horse battery' }),
  ];
  for (const operation of operations) {
    const answer = await operation();
    expectProblem(answer, 'database_unavailable');
    expect(answer.headers['retry-after']).toBe('1');
  }
  expect((await client.get('/livez')).status).toBe(200);
  expect((await client.get('/docs')).status).toBe(200);
  proxy.restore();
  await isReady(client);
  expect((await client.get('/test/read')).status).toBe(200);
  expect(instance.runtime.database.activeUnits).toBe(0);
});

/** What is the same for everybody. */
const forNobody = [
  '/livez',
  '/.well-known/jwks.json',
  '/v1/verify',
  '/pages/page.js',
  '/pages/style.css',
  '/openapi.json',
  '/docs',
  '/docs/errors',
];

describe('whoever carries a session gets what needs no caller although PostgreSQL', () => {
  test.each(['is cut off', 'stands still'])('%s', async (how) => {
    const { proxy, client, instance } = await instanceBehind('db_primary');
    const session = await signedIn(world, await buildPerson(world));
    for (const [name, value] of session.cookies) client.cookies.set(name, value);
    const withBearer = instance.client();
    withBearer.bearer = session.cookies.get('access_token');
    await isReady(client);
    if (how === 'is cut off') proxy.cut();
    else proxy.stall();
    for (const caller of [client, withBearer]) {
      for (const url of forNobody) expect([url, (await caller.get(url)).status]).toEqual([url, 200]);
      expect((await caller.get('/')).status).toBe(302);
      for (const url of ['/readyz', '/ready'])
        expect(await caller.get(url)).toMatchObject({ status: 503, body: without('db_primary') });
    }
    proxy.restore();
    await isReady(client);
    // The token of the CSRF check still belongs to the session.
    expect((await client.post('/v1/logout')).status).toBe(200);
  });
});

test('a problem of a route that answers the same status with a schema of its own is a problem document', async () => {
  const { proxy, client } = await instanceBehind('db_primary');
  await isReady(client);
  proxy.cut();
  expectProblem(await client.get('/test/own-503'), 'database_unavailable');
});

test('a PostgreSQL that stands still is told from one that answers', async () => {
  const { proxy, client, instance } = await instanceBehind('db_primary');
  await isReady(client);
  proxy.stall();
  const checks = await client.get('/readyz');
  expect(checks).toMatchObject({
    status: 503,
    body: { checks: { db_primary: { status: 'down', reason: 'no answer within 2000 ms' } } },
  });
  // The check is over, and keeps no connection.
  const { pool } = instance.runtime.database;
  await eventually(() => pool.waitingCount === 0 && pool.idleCount === pool.totalCount);
  proxy.restore();
  await isReady(client);
});

test('credentials that PostgreSQL refuses are an outage for those who ask, not their mistake', async () => {
  const url = new URL(world.databaseUrl);
  url.password = 'changed-meanwhile';
  const instance = await world.openInstance({ environment: { CORE_DB_PRIMARYDBSOURCE: url.href } });
  const answer = await instance.client().get('/test/read');
  expectProblem(answer, 'database_unavailable');
  expect(JSON.stringify(answer.body)).not.toContain('password');
});
