// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { announce, notingListener, storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { waitForRuns } from '../../kit/runs.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { openWorld, type World } from '../../kit/world.ts';

let attempts = 0;
let release = () => {};
/** Fails at first; from the second attempt on it takes until the test lets it go, and succeeds. */
const listener = notingListener('slow', ['slow.changed'], async () => {
  attempts++;
  if (attempts === 1) throw new Error('at first');
  await new Promise<void>((resolve) => {
    release = resolve;
  });
});
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1' },
  });
});
afterAll(() => world.close());

test('an attempt under way decides over a skip that comes meanwhile: what was delivered was not given up', async () => {
  const entityId = newId();
  await announce(world, [{ topic: 'slow.changed', entityId }]);
  const [run] = await waitForRuns(world, `EntityId = "${entityId}"`, 1);
  const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/${run?.id}`);
  await eventually(() => attempts === 2);
  await handle.signal('skipDelivery');
  // The skip is asked for, and waits for the lock on the record.
  await eventually(async () =>
    (await handle.fetchHistory()).events?.some(
      (event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'skipFailing',
    ),
  );
  release();
  expect(await handle.result()).toBe('done');
  expect(await storedDeliveries(world, 'slow')).toMatchObject([{ state: 'done' }]);
  expect(listener.seen).toHaveLength(1);
});
