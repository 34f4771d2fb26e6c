import { afterAll, beforeAll, expect, test } from 'vitest';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { runsOf } from '../kit/runs.ts';
import { shows } from '../kit/shows.ts';
import { sweep } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('dispatch-switch', ['switched.happened']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false', CORE_JOBQUEUE_QUEUECONF_FETCHPOLLINTERVAL: '100' },
  });
});
afterAll(() => world.close());

test('dispatch.enabled off keeps events in their rows, and switching it on delivers them', async () => {
  shows('workflows.dispatch.enabled');
  const requestId = await announce(world, [{ topic: 'switched.happened' }]);
  // Polls and sweeps leave them alone as well.
  world.clock.advance(60_000);
  expect(await sweep(world)).toMatchObject({ batches: 0 });
  expect(await storedEvents(world, 'switched.happened')).toMatchObject([
    { pending: true, batchId: null, isSettled: false },
  ]);
  expect(await runsOf(world, `RequestId = "${requestId}"`)).toEqual([]);

  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'true' });
  await eventually(() => isSettled(world));
  expect(listener.seen.map((event) => event.requestId)).toEqual([requestId]);
});
