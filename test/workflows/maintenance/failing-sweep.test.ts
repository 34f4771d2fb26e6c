// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { createLogger } from '#runtime/logger.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('every part of a sweep that fails is logged, and the attempt fails with the first', async () => {
  const lines: string[] = [];
  const failing = (part: string) => () => Promise.reject(new Error(`${part} failed`));
  const activities = createMaintenanceActivities({
    config: world.config,
    database: world.runtime.database,
    temporal: world.runtime.temporal,
    logger: createLogger('test', { level: 'info' }, { write: (line: string) => void lines.push(line) }),
    listeners: world.listeners,
    onDelivery: () => {},
    emailProviders: {},
    chat: {},
    sweepEvents: failing('events'),
    wakeRelays: () => {},
    applyTuples: failing('tuples'),
  });
  await expect(activities.sweepOutbox()).rejects.toThrow('events failed');
  expect(lines.map((line) => (JSON.parse(line) as { err: { message: string } }).err.message)).toEqual([
    'events failed',
    'tuples failed',
  ]);
});
