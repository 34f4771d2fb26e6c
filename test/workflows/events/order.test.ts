// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import type { RunningWorker } from '#worker/start-worker.ts';
import { announce, isSettled, notingListener, storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { openWorld, type World } from '../../kit/world.ts';

let failuresLeft = 0;
const listener = notingListener('order', ['order.changed'], async () => {
  await pause(Math.random() * 3);
  if (failuresLeft > 0) {
    failuresLeft--;
    throw new Error('a passing failure');
  }
});
let world: World;
let second: RunningWorker;
beforeAll(async () => {
  world = await openWorld({ worker: true, listeners: [listener] });
  second = await world.startWorker();
});
afterAll(async () => {
  await second.stop();
  await world.close();
});

const versionsOf = (entityId: string) =>
  listener.seen.filter((event) => event.entityId === entityId).map((event) => event.recordVersion);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

/** Changes records one after the other, each record from two processes in turns. */
async function changeRecords(records: readonly string[], changes: number): Promise<void> {
  const other = await world.openInstance();
  await Promise.all(
    records.map(async (entityId) => {
      for (const recordVersion of upTo(changes))
        await announce(recordVersion % 2 ? world : other, [{ topic: 'order.changed', entityId, recordVersion }]);
    }),
  );
  await eventually(() => isSettled(world));
}

test('a listener sees the changes of a record in their order, across batches, relays and workers', async () => {
  const records = Array.from({ length: 5 }, () => newId());
  await changeRecords(records, 40);
  for (const record of records) expect(versionsOf(record)).toEqual(upTo(40));
  expect(await storedDeliveries(world, 'order')).toHaveLength(200);
});

test('a listener that fails now and then gets the events of a record in their order', async () => {
  const records = Array.from({ length: 3 }, () => newId());
  failuresLeft = 12;
  await changeRecords(records, 15);
  for (const record of records) {
    // A transaction that failed later was noted here, and delivered again: the last sight of each change counts.
    const seen = versionsOf(record);
    expect(seen.filter((version, index) => seen.lastIndexOf(version) === index)).toEqual(upTo(15));
  }
});
