// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../kit/servers/tcp-proxy.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('temporal-away', ['patient.happened']);
let proxy: TcpProxy;
let world: World;
beforeAll(async () => {
  const { temporalAddress, namespace } = inject('stack');
  proxy = await startTcpProxy(temporalAddress);
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_JOBQUEUE_CONNECTIONURI: `temporal://${proxy.address}/${namespace}` },
  });
});
afterAll(async () => {
  await world.close();
  await proxy.close();
});

test('while Temporal is away events wait in their rows, and go out by themselves in few batches when it is back', async () => {
  proxy.cut();
  for (let request = 0; request < 40; request++) await announce(world, [{ topic: 'patient.happened' }]);
  const waiting = await storedEvents(world, 'patient.happened');
  expect(waiting.every((event) => !event.isSettled)).toBe(true);
  // At most what was claimed before the relay noticed.
  expect(new Set(waiting.map((event) => event.batchId ?? '')).size).toBeLessThanOrEqual(6);

  proxy.restore();
  await eventually(() => isSettled(world));
  expect(listener.seen).toHaveLength(40);
  expect(new Set((await storedEvents(world, 'patient.happened')).map((event) => event.batchId)).size).toBeLessThan(20);
});
