// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { failingRecord, fragileListener } from '../../kit/events/failing-deliveries.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = fragileListener('between', 'between.changed');
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      // The next attempt would come in an hour.
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '3600000',
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_MAXIMUMINTERVAL: '3600000',
    },
  });
});
afterAll(() => world.close());

test('retryDelivery does not wait for the next attempt', async () => {
  const record = await failingRecord(world, listener);
  await eventually(() => listener.attempts.get(record.entityId) === 2);
  expect(await record.details()).toBe('');
  record.mend();
  await record.handle.signal('retryDelivery');
  expect(await record.handle.result()).toBe('done');
  expect(listener.attempts.get(record.entityId)).toBe(3);
});

test('skipDelivery does not wait either', async () => {
  const record = await failingRecord(world, listener);
  await eventually(() => listener.attempts.get(record.entityId) === 2);
  await record.handle.signal('skipDelivery');
  expect(await record.handle.result()).toBe('skipped');
  expect(await record.states()).toEqual(['skipped']);
});
