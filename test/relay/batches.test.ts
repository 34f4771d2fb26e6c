// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { runsOf, waitForRuns } from '../kit/runs.ts';
import { openWorld, type World } from '../kit/world.ts';

const listener = notingListener('batches', ['quiet.happened', 'busy.happened', 'long.happened', 'wide.happened']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    // Nobody looks by himself while events gather.
    environment: { CORE_JOBQUEUE_QUEUECONF_POLLONLY: 'true', CORE_JOBQUEUE_QUEUECONF_FETCHPOLLINTERVAL: '600000' },
  });
});
afterAll(async () => {
  expect(world.logs.filter((line) => String(line['msg']).includes('refuses the search attributes'))).toEqual([]);
  await world.close();
});

/** Events that gather while nobody claims, as they do while a start is under way. */
async function gather(announceAll: () => Promise<unknown>): Promise<void> {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' });
  await announceAll();
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_ENABLED: undefined });
  await eventually(() => isSettled(world));
}

/** Events and requests of each batch that took events of the topic. */
async function batchesOf(topic: string): Promise<{ events: number; requests: number; organizations: number }[]> {
  const events = await storedEvents(world, topic);
  return [...Map.groupBy(events, (event) => event.batchId).values()].map((batch) => ({
    events: batch.length,
    requests: new Set(batch.map((event) => event.requestId)).size,
    organizations: new Set(batch.map((event) => event.organizationId)).size,
  }));
}

test('an idle server delivers each transaction by itself', async () => {
  for (let request = 1; request <= 3; request++) {
    await announce(world, [{ topic: 'quiet.happened' }, { topic: 'quiet.happened' }]);
    await eventually(() => isSettled(world));
  }
  expect(await batchesOf('quiet.happened')).toEqual([
    { events: 2, requests: 1, organizations: 1 },
    { events: 2, requests: 1, organizations: 1 },
    { events: 2, requests: 1, organizations: 1 },
  ]);
});

describe('a backlog', () => {
  test('goes out in batches of at most 200 events and 50 requests', async () => {
    const organizationId = newId();
    await gather(async () => {
      for (let request = 0; request < 3; request++)
        await announce(
          world,
          Array.from({ length: 150 }, () => ({ topic: 'busy.happened', organizationId })),
        );
      for (let request = 0; request < 120; request++)
        await announce(world, [{ topic: 'busy.happened', organizationId }]);
    });
    const batches = await batchesOf('busy.happened');
    expect(batches.reduce((sum, batch) => sum + batch.events, 0)).toBe(570);
    expect(Math.max(...batches.map((batch) => batch.events))).toBe(200);
    expect(Math.max(...batches.map((batch) => batch.requests))).toBeLessThanOrEqual(50);
    expect(batches.length).toBeLessThanOrEqual(6);
    expect(listener.seen.filter((event) => event.topic === 'busy.happened')).toHaveLength(570);
  });

  test('of requests with the longest ids stays below what a search attribute holds', async () => {
    const requestIds = Array.from({ length: 60 }, (_, index) => `${index}`.padStart(64, 'r'));
    await gather(() =>
      Promise.all(requestIds.map((requestId) => announce(world, [{ topic: 'long.happened' }], { requestId }))),
    );
    for (const requestId of [requestIds[0], requestIds.at(-1)])
      expect(await waitForRuns(world, `RequestId = "${requestId}"`, 1)).toMatchObject([{ type: 'deliverEvents' }]);
  });

  test('of one request over very many organizations does too', async () => {
    const events = Array.from({ length: 180 }, () => ({ topic: 'wide.happened', organizationId: newId() }));
    let requestId = '';
    await gather(async () => {
      requestId = await announce(world, events);
    });
    const batches = await batchesOf('wide.happened');
    expect(Math.max(...batches.map((batch) => batch.organizations))).toBeLessThanOrEqual(50);
    expect(await waitForRuns(world, `RequestId = "${requestId}"`, batches.length)).toHaveLength(batches.length);
    const [last] = events.toReversed();
    expect(await waitForRuns(world, `OrganizationId = "${last?.organizationId}"`, 1)).toHaveLength(1);
  });
});

test('events nobody listens to start nothing', async () => {
  const requestId = await announce(world, [{ topic: 'unheard.happened' }]);
  await announce(world, [{ topic: 'quiet.happened' }]);
  await eventually(() => isSettled(world));
  expect(await storedEvents(world, 'unheard.happened')).toMatchObject([{ pending: false, batchId: null }]);
  expect(await runsOf(world, `RequestId = "${requestId}"`)).toEqual([]);
});
