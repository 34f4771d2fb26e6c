// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { claimBatch } from '#entities/kit/outbox/outbox.ts';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { runsOf } from '../kit/runs.ts';
import { shows } from '../kit/shows.ts';
import { sweep } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('left-behind', ['left.happened']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: {
      CORE_WORKFLOWS_DISPATCH_ENABLED: 'false',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
      CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '30000',
      // Nobody looks by himself.
      CORE_JOBQUEUE_QUEUECONF_POLLONLY: 'true',
      CORE_JOBQUEUE_QUEUECONF_FETCHPOLLINTERVAL: '600000',
    },
  });
});
afterAll(() => world.close());

test('a batch that was claimed and not started is started by the sweep, under its own id and once', async () => {
  await announce(world, [{ topic: 'left.happened' }, { topic: 'left.happened' }]);
  // What a process does that dies between the claim and the start.
  const claimed = await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    claimBatch(unit, 200),
  );
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });

  expect(await sweep(world)).toMatchObject({ batches: 0 });
  expect(await isSettled(world)).toBe(false);

  world.clock.advance(31_000);
  expect(await sweep(world)).toMatchObject({ batches: 1 });
  await eventually(() => isSettled(world));
  expect(await storedEvents(world, 'left.happened')).toMatchObject([
    { batchId: claimed?.batchId },
    { batchId: claimed?.batchId },
  ]);
  expect(await runsOf(world, 'WorkflowType = "deliverEvents"')).toMatchObject([{ id: `events/${claimed?.batchId}` }]);
  expect(listener.seen).toHaveLength(2);
});

test('RescueStuckJobsAfter is the age at which a batch counts as left behind', async () => {
  shows('jobqueue.queueconf.RescueStuckJobsAfter');
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  await announce(world, [{ topic: 'left.happened' }]);
  await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    claimBatch(unit, 200),
  );
  await world.reconfigure({
    CORE_WORKFLOWS_DISPATCH_ENABLED: 'true',
    CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '1000',
  });
  world.clock.advance(2_000);
  expect(await sweep(world)).toMatchObject({ batches: 1 });
  await eventually(() => isSettled(world));
});

test('events that were never claimed are found without having been told of', async () => {
  const other = await world.openInstance({ environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' } });
  await announce(other, [{ topic: 'left.happened' }]);
  await sweep(world);
  await eventually(() => isSettled(world));
});
