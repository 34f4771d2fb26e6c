// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TemporalGateway } from '#activities/clients/temporal/temporal-client.ts';
import { resumeDeliveries } from '#activities/events/resume-deliveries.ts';
import { createMaintenanceActivities } from '#activities/maintenance/maintenance-activities.ts';
import { createLogger } from '#runtime/logger.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce } from '../../kit/events/event-fixtures.ts';
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
    expressions: world.runtime.expressions,
    temporal: world.runtime.temporal,
    logger: createLogger('test', { level: 'info' }, { write: (line: string) => void lines.push(line) }),
    listeners: world.listeners,
    onDelivery: () => {},
    emailProviders: {},
    chat: {},
    integrations: world.runtime.integrations,
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

test('all deliveries without a workflow are resumed, and one that fails keeps no other from it', async () => {
  const { config, listeners, runtime } = world;
  await announce(
    world,
    Array.from({ length: 205 }, () => ({ topic: 'stale.happened' })),
  );
  const before = world.clock.now();
  await asOwner(
    world,
    `insert into event_deliveries (occurred_at, event_id, entity_id, listener, state, updated_at)
     select occurred_at, id, entity_id, 'stale', 'failing', $1::timestamptz - interval '1 second' from events where topic = 'stale.happened'`,
    [before],
  );
  const started = new Set<string>();
  let calls = 0;
  const lines: string[] = [];
  const temporal = Object.create(runtime.temporal, {
    inputOf: { value: runtime.temporal.inputOf.bind(runtime.temporal) },
    start: {
      value: async (_contract: object, { eventId }: { readonly eventId: string }) => {
        if (++calls === 3) throw new Error('refused');
        return started.add(eventId).size > 0;
      },
    },
  }) as TemporalGateway;
  const logger = createLogger('test', { level: 'info' }, { write: (line: string) => void lines.push(line) });
  const { database, expressions } = runtime;
  const deps = { config, database, expressions, temporal, logger, listeners, onDelivery: () => {} };
  const positions = { failing: {}, held: {} };
  const resuming = { timeoutMs: 60_000, positions };
  await expect(resumeDeliveries(deps, before, resuming)).rejects.toThrow('1 deliveries could not be resumed');
  expect(started.size).toBe(204);
  expect(lines).toHaveLength(1);
  expect(await resumeDeliveries(deps, before, resuming)).toBe(205);
  // Without time left, each attempt continues where the one before has ended.
  started.clear();
  for (let attempt = 1; attempt <= 20; attempt++)
    expect(await resumeDeliveries(deps, before, { timeoutMs: 0, positions })).toBe(10);
  expect(await resumeDeliveries(deps, before, { timeoutMs: 0, positions })).toBe(5);
  expect(started.size).toBe(205);
  await asOwner(world, `delete from event_deliveries where listener = 'stale'`);
});
