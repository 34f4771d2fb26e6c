// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { announce, isSettled, notingListener, storedDeliveries } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { sweep } from '../kit/sweep.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('present', ['present.happened']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' },
  });
});
afterAll(() => world.close());

test('events held for a listener that exists no more are told of and keep nothing else from being delivered', async () => {
  const [left, lost] = [newId(), newId()];
  await announce(
    world,
    [left, lost].map((entityId) => ({ topic: 'present.happened', entityId })),
  );
  await eventually(() => isSettled(world));
  // As a crash behind the end of a failing delivery leaves it, and then a release that does without the listener.
  const change = (set: string) => asOwner(world, `update event_deliveries set ${set}`, []);
  const ago = `updated_at = now() - interval '1 day'`;
  await change(`state = 'held', ${ago} where entity_id in ('${left}', '${lost}')`);
  await change(`listener = 'gone' where entity_id = '${lost}'`);

  expect(await sweep(world)).toMatchObject({ deliveries: 1 });
  expect(await storedDeliveries(world, 'present', left)).toMatchObject([{ state: 'done' }]);
  expect(await storedDeliveries(world, 'gone')).toMatchObject([{ state: 'held' }]);
  expect(world.logs).toContainEqual(expect.objectContaining({ listener: 'gone', entityId: lost }));

  // What an operator does who knows that nobody waits for it.
  await change(`listener = 'present', state = 'done' where entity_id = '${lost}'`);
});
