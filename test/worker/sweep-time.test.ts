// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { announce, isSettled, notingListener } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { waitForRuns } from '../kit/runs.ts';
import { shows } from '../kit/shows.ts';
import { sweep, type SweepResult } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Keeps a batch from being done. */
let held = Promise.withResolvers<void>();
const slow = notingListener('sweep-time', ['slow.happened'], () => held.promise);

let world: World;
beforeAll(async () => {
  world = await openWorld({ listeners: [slow], environment: { CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' } });
});
afterAll(() => world.close());

/** What a sweep finds while a batch is under way. */
async function sweepMeanwhile(environment: Readonly<Record<string, string>>): Promise<SweepResult> {
  held = Promise.withResolvers<void>();
  const instance = await world.openInstance({ environment });
  const worker = await instance.startWorker();
  const requestId = await announce(instance, [{ topic: 'slow.happened' }]);
  await waitForRuns(world, `RequestId = "${requestId}"`, 1);
  const found = await sweep(world);
  held.resolve();
  await eventually(() => isSettled(world));
  await worker.stop();
  return found;
}

test('Test.Time is the now of sweeps', async () => {
  shows('jobqueue.queueconf.Test.Time');
  const future = new Date(Date.now() + 86_400_000).toISOString();
  expect(await sweepMeanwhile({})).toMatchObject({ batches: 0 });
  expect(await sweepMeanwhile({ CORE_JOBQUEUE_QUEUECONF_TEST_TIME: future })).toMatchObject({ batches: 1 });
});
