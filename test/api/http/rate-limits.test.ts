import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { routesOf } from '#api/rest/routes.ts';
import { limitClassOf } from '#api/http/limits/rate-limits.ts';
import { maxHeldCounters } from '#activities/clients/cache/rate-counters.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { registry } from '#entities/index.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { isScimPath } from '../../kit/http/is-scim-path.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
/** Variables that a test has set. */
let variables: string[] = [];
let addresses = 0;

beforeAll(async () => {
  world = await openWorld();
});
afterEach(async () => {
  await world.reconfigure(Object.fromEntries(variables.map((name) => [name, undefined])));
  variables = [];
});
afterAll(() => world.close());

/** Nobody has sent a request from its address before. */
function newClient(): TestClient {
  const client = world.client();
  addresses++;
  client.address = `10.1.${addresses >> 8}.${addresses & 255}`;
  return client;
}

/** Failed sign-ins of one account are limited as well. */
const newEmail = () => `nobody-${newId()}@example.com`;

/** Moves the clock to the start of a window. */
function startWindow(windowMs: number): void {
  world.clock.advance(windowMs - (world.clock.now().getTime() % windowMs));
}

async function statuses(count: number, send: () => Promise<TestAnswer>): Promise<number[]> {
  const answers: number[] = [];
  while (answers.length < count) answers.push((await send()).status);
  return answers;
}

/** Sends requests until one is refused. @returns how many passed */
async function passing(send: () => Promise<TestAnswer>, refusedAs = 429): Promise<number> {
  for (let count = 0; count < 1_000; count++) if ((await send()).status === refusedAs) return count;
  throw new Error('1000 requests passed');
}

async function metric(name: string): Promise<string[]> {
  const text = await world.api.services.metrics.registry.metrics();
  return text.split('\n').filter((line) => line.startsWith(name));
}

/** Requests that reach a route, which then refuses them for another reason, and such that reach none. */
const limiters = {
  ratelimit: { paths: ['/v1/tasks', '/v1/groups'], passed: 401 },
  ratelimitunmatched: { paths: ['/nothing', '/nowhere'], passed: 404 },
} as const;

for (const name of ['ratelimit', 'ratelimitunmatched'] as const)
  describe(name, () => {
    const { paths, passed } = limiters[name];
    const [path, otherPath] = paths;
    const get = (client: TestClient, headers: Record<string, string> = {}) => client.get(path, headers);
    const set = async (settings: Readonly<Record<string, unknown>>) => {
      const changes = Object.entries(settings).map(([leaf, value]) => {
        const text = Array.isArray(value) ? JSON.stringify(value) : String(value);
        return [`CORE_${name}_${leaf}`.toUpperCase(), text] as const;
      });
      variables.push(...changes.map(([variable]) => variable));
      const report = await world.reconfigure(Object.fromEntries(changes));
      expect(report.outcome, JSON.stringify(report)).not.toBe('refused');
    };
    const limited = (settings: Readonly<Record<string, unknown>> = {}) =>
      set({ enabled: true, options: [{ requests: 3, window: 60_000 }], ...settings });

    test('enabled: off, nothing is counted; on, the requests of each client are', async () => {
      shows(`${name}.enabled`);
      const client = newClient();
      await set({ options: [{ requests: 3, window: 60_000 }] });
      expect(new Set(await statuses(20, () => get(client)))).toEqual(new Set([passed]));
      expect((await get(client)).headers).not.toHaveProperty('ratelimit');
      await set({ enabled: true });
      startWindow(60_000);
      expect(await statuses(5, () => get(client))).toEqual([passed, passed, passed, 429, 429]);
      expect((await get(newClient())).status).toBe(passed);
      const other = limiters[name === 'ratelimit' ? 'ratelimitunmatched' : 'ratelimit'];
      expect((await client.get(other.paths[0])).status).toBe(other.passed);
      const line = `core_rate_limited_requests_total{limiter="${name}",outcome="refused"}`;
      expect(Number((await metric(line))[0]?.split(' ').at(-1))).toBeGreaterThanOrEqual(2);
    });

    test('the refusal is a problem document, before anybody is looked up, and readable for pages of other origins', async () => {
      await limited();
      const client = newClient();
      expect(await passing(() => get(client))).toBe(3);
      const refusal = await get(client, { authorization: 'Bearer nonsense' });
      expectProblem(refusal, 'rate_limit_exceeded');
      variables.push('CORE_SERVER_CORS_ALLOWORIGINS');
      await world.reconfigure({ CORE_SERVER_CORS_ALLOWORIGINS: 'https://console.example' });
      const { headers, status } = await get(client, { origin: 'https://console.example' });
      expect({ status, headers }).toMatchObject({
        status: 429,
        headers: {
          'access-control-allow-origin': 'https://console.example',
          'access-control-expose-headers': expect.stringMatching(/RateLimit, RateLimit-Policy.*Retry-After/),
        },
      });
    });

    test('options: a request must stay within each window; without any, ten requests a second are allowed', async () => {
      shows(`${name}.options[].requests`);
      const client = newClient();
      await limited({
        options: [
          { requests: 3, window: 1_000 },
          { requests: 5, window: 60_000 },
        ],
      });
      startWindow(60_000);
      expect(await passing(() => get(client))).toBe(3);
      world.clock.advance(2_000);
      // Those that were refused did not count.
      expect(await passing(() => get(client))).toBe(2);
      world.clock.advance(2_000);
      expect(await passing(() => get(client))).toBe(0);
      await set({ options: [] });
      startWindow(1_000);
      const another = newClient();
      expect(await passing(() => get(another))).toBe(10);
      world.clock.advance(2_000);
      expect(await passing(() => get(another))).toBe(10);
    });

    test('options: requests of the window before count for the part of it that still slides', async () => {
      shows(`${name}.options[].window`);
      const client = newClient();
      await limited({ options: [{ requests: 10, window: 10_000 }] });
      startWindow(10_000);
      expect(await passing(() => get(client))).toBe(10);
      world.clock.advance(14_000);
      expect(await passing(() => get(client))).toBe(4);
      // Of two limits with one window, the stricter one applies.
      await set({
        options: [
          { requests: 10, window: 10_000 },
          { requests: 2, window: 10_000 },
        ],
      });
      const another = newClient();
      expect(await passing(() => get(another))).toBe(2);
    });

    test('options: after expiration without requests, a counter is forgotten', async () => {
      shows(`${name}.options[].expiration`);
      for (const [expiration, again] of [
        [60_000, 4],
        [0, 0],
      ]) {
        await limited({ options: [{ requests: 4, window: 60_000, expiration }] });
        const client = newClient();
        startWindow(60_000);
        expect(await passing(() => get(client))).toBe(4);
        world.clock.advance(60_000);
        expect(await passing(() => get(client)), String(expiration)).toBe(again);
      }
    });

    test('options: expired counters leave the memory every flushinterval', async () => {
      shows(`${name}.options[].flushinterval`);
      const held = async () => Number((await metric('core_rate_limit_counters'))[0]?.split(' ').at(-1));
      await limited({ options: [{ requests: 3, window: 100, flushinterval: 3_600_000 }] });
      // Forgets what other tests have left.
      world.clock.advance(200_000_000);
      await get(newClient());
      expect(await held()).toBe(1);
      for (let count = 0; count < 5; count++) await get(newClient());
      world.clock.advance(60_000);
      await get(newClient());
      expect(await held()).toBe(7);
      await set({ options: [{ requests: 3, window: 100, flushinterval: 60_000 }] });
      await get(newClient());
      expect(await held()).toBe(2);
    });

    test('T-27: headers name where the address of the client is', async () => {
      shows(`${name}.headers`);
      const client = newClient();
      await limited({ headers: 'X-Real-Ip,RemoteAddr' });
      const from = (address: string) => () => get(client, { 'x-real-ip': address });
      expect(await passing(from('192.0.2.1'))).toBe(3);
      expect(await passing(from('192.0.2.2'))).toBe(3);
      await set({ headers: 'RemoteAddr' });
      expect(await passing(from('192.0.2.3'))).toBe(3);
      expect(await passing(from('192.0.2.4'))).toBe(0);
    });

    test('T-27: forwardedindexfrombehind counts the addresses of X-Forwarded-For from the end', async () => {
      shows(`${name}.forwardedindexfrombehind`);
      const client = newClient();
      await limited({ headers: 'X-Forwarded-For', forwardedindexfrombehind: 1 });
      let claimed = 0;
      const from = (address: string) => () =>
        get(client, { 'x-forwarded-for': `198.51.100.${claimed++}, ${address}, 10.0.0.1` });
      expect(await passing(from('192.0.2.11'))).toBe(3);
      expect(await passing(from('192.0.2.12'))).toBe(3);
      await set({ forwardedindexfrombehind: 0 });
      expect(await passing(from('192.0.2.13'))).toBe(3);
      expect(await passing(from('192.0.2.14'))).toBe(0);
    });

    test('includepath counts each path separately', async () => {
      shows(`${name}.includepath`);
      const client = newClient();
      await limited({ includepath: true });
      for (const each of [path, otherPath]) expect(await passing(() => client.get(each))).toBe(3);
      await set({ includepath: false });
      const another = newClient();
      expect(await passing(() => another.get(path))).toBe(3);
      expect(await passing(() => another.get(otherPath))).toBe(0);
    });

    test('includemethod counts each method separately', async () => {
      shows(`${name}.includemethod`);
      const client = newClient();
      await limited({ includemethod: true });
      const post = (from: TestClient) => () => from.request({ method: 'POST', url: path });
      expect(await passing(() => get(client))).toBe(3);
      expect(await passing(post(client))).toBe(3);
      await set({ includemethod: false });
      const another = newClient();
      expect(await passing(() => get(another))).toBe(3);
      expect(await passing(post(another))).toBe(0);
    });

    test('keyprefix scopes the counters', async () => {
      shows(`${name}.keyprefix`);
      const client = newClient();
      await limited({ keyprefix: 'first' });
      expect(await passing(() => get(client))).toBe(3);
      await set({ keyprefix: 'second' });
      expect(await passing(() => get(client))).toBe(3);
      await set({ keyprefix: 'first' });
      expect(await passing(() => get(client))).toBe(0);
    });

    test('denystatus is the status of the refusal; 0 is 429', async () => {
      shows(`${name}.denystatus`);
      const client = newClient();
      await limited({ denystatus: 503 });
      const before = world.logs.length;
      expect(await passing(() => get(client), 503)).toBe(3);
      expect((await get(client)).body).toMatchObject({ status: 503, code: 'rate_limit_exceeded' });
      // It is no failure of the server.
      expect(world.logs.slice(before).filter(({ level }) => level === 'error')).toEqual([]);
      await set({ denystatus: 0 });
      expect((await get(client)).status).toBe(429);
    });

    test('denymessage is what the refusal says; without one, it is "Too many requests"', async () => {
      shows(`${name}.denymessage`);
      const client = newClient();
      await limited({ denymessage: 'Slow down, please.' });
      expect(await passing(() => get(client))).toBe(3);
      expect((await get(client)).body.detail).toBe('Slow down, please.');
      await set({ denymessage: '  ' });
      expect((await get(client)).body.detail).toBe('Too many requests');
    });

    test('sendretryafterheader: the next request passes when its seconds have passed, and no earlier', async () => {
      shows(`${name}.sendretryafterheader`);
      const client = newClient();
      await limited({ options: [{ requests: 3, window: 10_000 }] });
      startWindow(10_000);
      world.clock.advance(2_500);
      expect(await passing(() => get(client))).toBe(3);
      // 7,500 until the window ends; then a third of the next one, until one of three has left.
      const { headers } = await get(client);
      expect(headers['retry-after']).toBe('11');
      expect(headers['ratelimit']).toBe('"10s";r=0;t=11');
      world.clock.advance(10_800);
      expect((await get(client)).status).toBe(429);
      world.clock.advance(200);
      expect((await get(client)).status).toBe(passed);
      await set({ sendretryafterheader: false });
      expect(await passing(() => get(client))).toBe(0);
      expect((await get(client)).headers).not.toHaveProperty('retry-after');
    });

    test('dryrun counts and logs, and refuses nothing, whether enabled is on or off', async () => {
      shows(`${name}.dryrun`);
      for (const enabled of [true, false]) {
        const client = newClient();
        await limited({ enabled, dryrun: true });
        const before = world.logs.length;
        const line = `core_rate_limited_requests_total{limiter="${name}",outcome="dry_run"}`;
        const counted = async () => Number((await metric(line))[0]?.split(' ').at(-1) ?? 0);
        const countedBefore = await counted();
        expect(await statuses(5, () => get(client))).toEqual(Array.from({ length: 5 }, () => passed));
        expect((await get(client)).headers).not.toHaveProperty('ratelimit');
        const said = world.logs.slice(before).filter(({ msg }) => String(msg).includes('(dry run)'));
        expect(said).toHaveLength(3);
        expect(said[0]).toMatchObject({ limiter: name, client: client.address, exhausted: ['60s'] });
        expect((await counted()) - countedBefore).toBe(3);
        // They all counted.
        await set({ enabled: true, dryrun: false });
        expect(await passing(() => get(client))).toBe(0);
      }
    });

    test('the headers RateLimit and RateLimit-Policy count down', async () => {
      const client = newClient();
      await limited({
        options: [
          { requests: 3, window: 60_000 },
          { requests: 100, window: 1_500 },
        ],
      });
      startWindow(60_000);
      world.clock.advance(17_600);
      const { headers } = await get(client);
      expect(headers['ratelimit-policy']).toBe('"60s";q=3;w=60, "1500ms";q=100;w=2');
      expect(headers['ratelimit']).toMatch(/^"60s";r=2;t=43, "1500ms";r=99;t=\d$/);
      await get(client);
      expect((await get(client)).headers['ratelimit']).toMatch(/^"60s";r=0;t=\d+, "1500ms";r=97;/);
    });
  });

describe('classes of routes', () => {
  const enable = async (changes: Record<string, string> = {}) => {
    const all = { CORE_RATELIMIT_ENABLED: 'true', CORE_RATELIMIT_OPTIONS: '[{"requests": 10000000}]', ...changes };
    variables.push(...Object.keys(all));
    await world.reconfigure(all);
    startWindow(60_000);
  };

  test('a client may send ten requests in a minute to a route that takes a credential', async () => {
    await enable();
    const client = newClient();
    await client.get('/livez');
    const login = () => client.post('/v1/login', { username: newEmail(), password: 'x' });
    const answers = await statuses(12, login);
    expect(answers).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
    const refusal = await login();
    expectProblem(refusal, 'rate_limit_exceeded');
    expect(refusal.headers['ratelimit-policy']).toBe('"60s";q=10000000;w=60, "credential";q=10;w=60');
    expect(refusal.headers['ratelimit']).toMatch(/"credential";r=0;t=/);
    // Each route has a counter of its own, whatever the path of the URL looks like.
    expect((await client.post('/v1/2fa/validate', { challenge_token: 'x', code: '1' })).status).not.toBe(429);
    expect((await client.post('/v1/login?x=1', {})).status).toBe(429);
    world.clock.advance(120_000);
    expect((await login()).status).toBe(401);
  });

  test('T-102: no request has several attempts in it, and each attempt counts', async () => {
    await enable();
    const client = newClient();
    await client.get('/livez');
    const attempt = () => ({ username: newEmail(), password: 'x' });
    const batches = [
      await client.post('/v1/login', [attempt(), attempt()]),
      await client.post('/graphql', [{ query: '{ self { id } }' }, { query: '{ self { id } }' }]),
    ];
    for (const batch of batches) expectProblem(batch, 'invalid_input');
    // Aliases repeat a field of GraphQL, so none may take what can be guessed.
    const guessed = Object.values(productSchema(registry).getMutationType()?.getFields() ?? {}).flatMap(
      ({ name, args }) =>
        args
          .filter((argument) => /password|code|token|secret/iu.test(argument.name))
          .map((argument) => `${name}.${argument.name}`),
    );
    expect(guessed).toEqual([]);
    expect(await passing(() => client.post('/v1/login', attempt()))).toBe(9);
  });

  test('five may ask for a mail', async () => {
    await enable();
    const client = newClient();
    const forgot = () => client.post('/v1/forgot-password', { email: 'nobody@example.com' });
    expect(await passing(forgot)).toBe(5);
  });

  test('dryrun counts them without a refusal', async () => {
    await enable({ CORE_RATELIMIT_DRYRUN: 'true' });
    const client = newClient();
    const before = world.logs.length;
    const login = () => client.post('/v1/login', { username: newEmail(), password: 'x' });
    expect(new Set(await statuses(11, login))).toEqual(new Set([401]));
    const said = world.logs.slice(before).find(({ msg }) => String(msg).includes('(dry run)'));
    expect(said).toMatchObject({ exhausted: ['credential'] });
  });

  test('GraphQL is refused with the same code, status and headers', async () => {
    await enable({ CORE_RATELIMIT_OPTIONS: '[{"requests": 2}]' });
    const client = newClient();
    await client.get('/livez');
    const ask = () => client.graphql('{ self { id } }');
    expect(await passing(ask)).toBe(2);
    const refusal = await ask();
    expectProblem(refusal, 'rate_limit_exceeded');
    expect(refusal.headers).toMatchObject({
      'retry-after': expect.stringMatching(/^\d+$/),
      'ratelimit-policy': '"60s";q=2;w=60, "graphql";q=1200;w=60',
    });
  });

  test('health is answered whatever has been asked', async () => {
    await enable({ CORE_RATELIMIT_OPTIONS: '[{"requests": 1}]' });
    const client = newClient();
    expect(await passing(() => client.get('/v1/tasks'))).toBe(1);
    for (const path of ['/livez', '/readyz', '/ready']) {
      const { status, headers } = await client.get(path);
      expect([200, 503], path).toContain(status);
      expect(headers, path).not.toHaveProperty('ratelimit');
    }
  });

  test('every change that nobody has to sign in for has a class of its own', () => {
    const open = routesOf(registry).filter(({ access, method }) => access !== 'required' && method !== 'GET');
    const classes = Object.fromEntries(open.map((route) => [`${route.method} ${route.url}`, limitClassOf(route)]));
    // SCIM verifies the token of a directory.
    const general = Object.entries(classes).filter(([, limitClass]) => limitClass === 'general');
    expect(general.filter(([route]) => !isScimPath(route.split(' ')[1] ?? ''))).toEqual([
      // It verifies a signature.
      ['PUT /v1/uploads/:id/content', 'general'],
      // They show a link to the portal, which cannot be guessed.
      ['POST /v1/webhook-portal/endpoints/:id/test', 'general'],
      ['POST /v1/webhook-portal/endpoints/:id/replay', 'general'],
      // They verify a signature.
      ['POST /v1/payment/webhook', 'general'],
      ['POST /v1/email/webhook/providera', 'general'],
      ['POST /v1/email/webhook/providerb', 'general'],
      ['POST /v1/codehost/app/webhook', 'general'],
      ['POST /v1/integrations/webhook/:endpointID', 'general'],
    ]);
    expect(classes).toMatchObject({
      'POST /v1/login': 'credential',
      'POST /v1/register': 'credential',
      'POST /v1/verify': 'credential',
      'POST /v1/password-reset': 'credential',
      'POST /v1/2fa/validate': 'credential',
      'POST /v1/forgot-password': 'mail',
      'POST /v1/resend': 'mail',
      'POST /v1/logout': 'flow',
      'POST /v1/refresh': 'flow',
    });
  });
});

test('clients with many addresses do not use up the memory', async () => {
  variables.push('CORE_RATELIMITUNMATCHED_ENABLED', 'CORE_RATELIMITUNMATCHED_HEADERS');
  await world.reconfigure({ CORE_RATELIMITUNMATCHED_ENABLED: 'true', CORE_RATELIMITUNMATCHED_HEADERS: 'X-Real-Ip' });
  const { rateCounters } = world.runtime;
  const limit = { requests: 3, windowMs: 60_000, expirationMs: 120_000, flushIntervalMs: 10_000 };
  for (let count = 0; count < maxHeldCounters + 1_000; count++)
    await rateCounters.take([{ ...limit, key: `address ${count}` }], false);
  expect(rateCounters.held).toBe(maxHeldCounters);
  const client = newClient();
  for (let count = 0; count < 50; count++) await client.get('/nothing', { 'x-real-ip': `2001:db8:${count}::1` });
  expect(rateCounters.held).toBe(maxHeldCounters);
  // The addresses of one network count together.
  const last = [1, 2, 3].map((host) => client.get('/nothing', { 'x-real-ip': `2001:db8:ff::${host}` }));
  const remaining = (await Promise.all(last)).map(({ headers }) => /r=(\d+)/.exec(String(headers['ratelimit']))?.[1]);
  expect(remaining).toEqual(['9', '8', '7']);
});
