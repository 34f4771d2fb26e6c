// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { claimBatch } from '#entities/kit/outbox/outbox.ts';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { sweep } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('two-relays', ['shared.happened', 'contested.happened']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' },
  });
});
afterAll(() => world.close());

test('relays of several processes never claim the same event, and together claim all', async () => {
  const organizations = Array.from({ length: 10 }, () => newId());
  for (const organizationId of organizations)
    await announce(
      world,
      Array.from({ length: 60 }, () => ({ topic: 'contested.happened', organizationId })),
    );
  const other = await world.openInstance();
  const claimed: string[] = [];
  const claimer = async ({ database }: World['runtime']) => {
    let misses = 0;
    while (misses < 20) {
      const batch = await database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
        claimBatch(unit, 25),
      );
      if (batch) claimed.push(...Array.from({ length: batch.count }, () => batch.batchId));
      else misses++;
    }
  };
  await Promise.all([world, other, world, other].map(({ runtime }) => claimer(runtime)));
  const events = await storedEvents(world, 'contested.happened');
  expect(events.every((event) => event.batchId !== null)).toBe(true);
  // What the claimers say they have is what stands in the rows: nothing was claimed twice.
  const sorted = (ids: readonly (string | null)[]) => ids.map(String).toSorted((a, b) => a.localeCompare(b));
  expect(sorted(claimed)).toEqual(sorted(events.map((event) => event.batchId)));
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  world.clock.advance(60_000);
  await eventually(async () => {
    await sweep(world);
    return isSettled(world);
  });
});

test('each event is delivered once, whoever relays it', async () => {
  const other = await world.openInstance();
  const worker = await other.startWorker();
  await Promise.all(
    Array.from({ length: 60 }, (_, index) => announce(index % 2 ? world : other, [{ topic: 'shared.happened' }])),
  );
  await eventually(() => isSettled(world));
  const ids = listener.seen.filter((event) => event.topic === 'shared.happened').map((event) => event.id);
  expect(ids).toHaveLength(60);
  expect(new Set(ids).size).toBe(60);
  await worker.stop();
});
