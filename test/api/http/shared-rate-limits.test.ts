// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { HeldRateCounters } from '#activities/clients/cache/rate-counters.ts';
import { eventually } from '../../kit/eventually.ts';
import { startRedisServer, type RedisServer } from '../../kit/servers/redis-server.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let server: RedisServer | undefined;
let reason = '';
let cache: TcpProxy;
/** As the owner of the server sees it. */
let inside: Redis;
let world: World;
let other: Instance;
let addresses = 0;

const requests = 20;
const dayMs = 86_400_000;

const away = 'the cache does not answer: each process counts requests';
const back = 'the cache answers again: requests for rate limits';

beforeAll(async () => {
  const started = await startRedisServer();
  if (typeof started === 'string') {
    reason = started;
    return;
  }
  server = started;
  inside = new Redis(server.url.href);
  cache = await startTcpProxy(server.url.host);
  world = await openWorld({
    environment: {
      CORE_CACHE_ENABLED: 'true',
      CORE_CACHE_ADDRESS: cache.address,
      CORE_CACHE_PASSWORD: server.url.password,
      CORE_RATELIMIT_ENABLED: 'true',
      CORE_RATELIMIT_OPTIONS: JSON.stringify([{ requests, window: dayMs }]),
    },
  });
  other = await world.openInstance();
});
beforeEach(async (context) => {
  if (!server) context.skip(reason);
  await eventually(isFarFromWindowEnd);
});
afterAll(async () => {
  if (!server) return;
  await world.close();
  await cache.close();
  inside.disconnect();
  await server.stop();
});

/** The server counts by its own clock. The shortest window here, half a day, must not end within a test. */
async function isFarFromWindowEnd(): Promise<boolean> {
  const halfDayMs = dayMs / 2;
  const [seconds] = await inside.time();
  return halfDayMs - ((Number(seconds) * 1_000) % halfDayMs) > 120_000;
}

/**
 * Runs what is true while the cache answers. A request waits 250 ms for it, which a busy machine can exceed: then the process counts by
 * itself for some seconds, and the run proves nothing. Only such a run is done again.
 */
async function whileShared(run: () => Promise<void>): Promise<void> {
  for (let runs = 1; ; runs++) {
    await eventually(async () => (await usesCache(world)) && (await usesCache(other)), 60_000);
    const before = fallbacks();
    try {
      return await run();
    } catch (error) {
      if (fallbacks() === before || runs === 10) throw error;
    }
  }
}

const fallbacks = () => world.runtime.rateCounters.fallbacks + other.runtime.rateCounters.fallbacks;

const said = (words: string) => world.logs.filter(({ msg }) => String(msg).includes(words)).length;

/** Waits until both processes have nothing to say before the cache goes away. */
async function untilCalm(): Promise<void> {
  await eventually(
    async () => (await usesCache(world)) && (await usesCache(other)) && said(away) === said(back),
    60_000,
  );
}

const newAddress = () => `10.2.${++addresses >> 8}.${addresses & 255}`;

const keyOf = (address: string) => `${world.name}:ratelimit|${address}|${dayMs}`;

async function usesCache(at: Pick<Instance, 'client'>): Promise<boolean> {
  const address = newAddress();
  await send(at, address);
  return (await inside.exists(keyOf(address))) === 1;
}

function send(at: Pick<Instance, 'client'>, address: string) {
  const client = at.client();
  client.address = address;
  return client.get('/v1/tasks');
}

test('of 50 parallel requests at two processes, exactly as many pass as the limit allows', async () => {
  const round = async () => {
    const address = newAddress();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, count) => send(count % 2 === 0 ? world : other, address)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(requests);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50 - requests);
    // Each answer says what was left when its request was counted.
    const remaining = answers
      .filter(({ status }) => status === 401)
      .map(({ headers }) => Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1]));
    expect(remaining.toSorted((one, another) => another - one)).toEqual(
      Array.from({ length: requests }, (_, count) => requests - 1 - count),
    );
    // Refused requests did not count.
    expect(await inside.hget(keyOf(address), 'current')).toBe(String(requests));
  };
  for (let count = 0; count < 5; count++) await whileShared(round);
});

test('the headers say what the store says, and the counter expires', () =>
  whileShared(async () => {
    const address = newAddress();
    for (let count = 1; count <= 5; count++) {
      const { headers } = await send(count % 2 === 0 ? world : other, address);
      const { current, previous } = await inside.hgetall(keyOf(address));
      expect({ current, previous }).toEqual({ current: String(count), previous: '0' });
      expect(headers['ratelimit']).toMatch(new RegExp(`^"86400s";r=${requests - count};t=\\d+$`));
    }
    const leftMs = await inside.pttl(keyOf(address));
    expect(leftMs).toBeGreaterThan(2 * 86_400_000 - 60_000);
    expect(leftMs).toBeLessThanOrEqual(2 * 86_400_000);
  }));

test('requests of the window before count for the part of it that still slides', () =>
  whileShared(async () => {
    const address = newAddress();
    const windowMs = 86_400_000;
    const index = Math.floor(Date.now() / windowMs);
    await inside.hset(keyOf(address), { index: index - 1, current: requests, previous: 7 });
    const { headers } = await send(world, address);
    const share = 1 - (Date.now() % windowMs) / windowMs;
    const remaining = Math.floor(requests - requests * share) - 1;
    const said = Number(/r=(\d+)/.exec(String(headers['ratelimit']))?.[1] ?? Number.NaN);
    // In the first twentieth of the day not even one request has left the window.
    expect(Math.abs(said - Math.max(0, remaining))).toBeLessThanOrEqual(1);
    await inside.hset(keyOf(address), { index: index - 2, current: requests, previous: requests });
    expect((await send(world, address)).headers['ratelimit']).toContain(`r=${requests - 1};`);
  }));

test('a cache that forgot the script is given it again', () =>
  whileShared(async () => {
    await inside.script('FLUSH');
    const address = newAddress();
    expect((await send(world, address)).status).toBe(401);
    expect(await inside.hget(keyOf(address), 'current')).toBe('1');
  }));

test('while the cache is away, each process counts by itself, nothing fails, and the log says so once', async () => {
  let address = '';
  await whileShared(async () => {
    address = newAddress();
    for (let count = 0; count < 5; count++) await send(world, address);
    expect(await inside.hget(keyOf(address), 'current')).toBe('5');
  });
  await untilCalm();
  const before = { away: said(away), back: said(back) };
  cache.cut();
  await eventually(async () => (await send(world, newAddress())) && said(away) > before.away, 60_000);
  const statuses: number[] = [];
  for (let count = 0; count < requests + 5; count++) statuses.push((await send(world, address)).status);
  expect(statuses).toEqual([...Array.from({ length: requests }, () => 401), ...Array.from({ length: 5 }, () => 429)]);
  expect(said(away)).toBe(before.away + 1);
  cache.restore();
  await eventually(() => usesCache(world), 60_000);
  // It may go away again at once: only after a while without a failure it is back.
  expect(said(back)).toBe(before.back);
  await untilCalm();
  expect(said(back)).toBe(before.back + 1);
  expect(said(away)).toBe(before.away + 1);
  // What was counted meanwhile is forgotten.
  expect((await send(world, address)).headers['ratelimit']).toContain(`r=${requests - 6};`);
});

test('a request that the cache answers too late is counted by the process, and the cache is asked again later', async () => {
  await untilCalm();
  const before = said(away);
  cache.stall();
  await eventually(async () => (await send(world, newAddress())).status === 401 && said(away) > before, 60_000);
  cache.restore();
  await eventually(() => usesCache(world), 60_000);
  expect(said(away)).toBe(before + 1);
});

test('in the script and in the memory, the limits are the same', () =>
  whileShared(async () => {
    const address = newAddress();
    const limits = [
      { key: address, requests: 4, windowMs: dayMs, expirationMs: dayMs, flushIntervalMs: 1_000 },
      { key: address, requests: 3, windowMs: dayMs / 2, expirationMs: dayMs, flushIntervalMs: 1_000 },
    ];
    const expected = [
      { isRefused: false, remaining: [3, 2] },
      { isRefused: false, remaining: [2, 1] },
      { isRefused: false, remaining: [1, 0] },
      { isRefused: true, remaining: [1, 0] },
      // This one counts although it is refused.
      { isRefused: true, remaining: [0, 0] },
      { isRefused: true, remaining: [0, 0] },
    ];
    const shared = world.runtime.rateCounters;
    for (const counters of [shared, new HeldRateCounters(world.clock)])
      for (const [count, decision] of expected.entries()) {
        const { isRefused, standings } = await counters.take(limits, count === 4);
        const remaining = standings.map((standing) => standing.remaining);
        const where = counters === shared ? 'script' : 'memory';
        expect({ isRefused, remaining }, `${where}, request ${count}`).toEqual(decision);
      }
    expect(await inside.hget(keyOf(address).replace(':ratelimit|', ':'), 'current')).toBe('4');
  }));
