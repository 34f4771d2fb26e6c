import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConnectionQueue } from '#entities/kit/storage/connection-queue.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const nobody = { role: 'system', organizationId: null, userId: null } as const;
const limits = { maxConnections: 8, maxIdleConnections: 3, maxUnitsOfWork: 100, acquireTimeoutMs: 60_000 };

let pool: Pool;
let queue: ConnectionQueue;
const take = () => queue.connect(nobody, Date.now() + 60_000);
const takeMany = (count: number) => Promise.all(Array.from({ length: count }, take));
const releaseAll = (clients: readonly PoolClient[]) => clients.forEach((client) => client.release());

beforeEach(async () => {
  pool = new Pool({ connectionString: world.databaseUrl, max: limits.maxConnections });
  queue = new ConnectionQueue(pool, limits);
  releaseAll(await takeMany(limits.maxIdleConnections));
  return () => pool.end();
});

test('a burst of short work is done by the connections that are open', async () => {
  await Promise.all(Array.from({ length: 50 }, async () => releaseAll([await take()])));
  expect(pool.totalCount).toBe(limits.maxIdleConnections);
});

test('whoever waits gets a connection that is released', async () => {
  const held = await takeMany(limits.maxIdleConnections);
  const waiting = take();
  held[0]?.release();
  expect(await waiting).toBe(held[0]);
  expect(pool.totalCount).toBe(limits.maxIdleConnections);
  releaseAll(held);
});

test('while connections are held, others are opened for those who wait, up to the largest number', async () => {
  const held = await takeMany(limits.maxConnections);
  expect(pool.totalCount).toBe(limits.maxConnections);
  const waiting = take();
  held[0]?.release();
  expect(await waiting).toBe(held[0]);
  releaseAll(held);
});

test('a connection that was lost is replaced', async () => {
  const held = await takeMany(limits.maxConnections);
  held.forEach((client) => client.release(true));
  releaseAll(await takeMany(limits.maxConnections));
  expect(pool.totalCount).toBe(limits.maxConnections);
});
