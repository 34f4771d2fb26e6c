import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RedeliveryReport } from '#workflows/integrations/redeliver-code-host-events.contract.ts';
import { codeHostEnvironment, FakeCodeHost } from '../../kit/fakes/integrations/fake-codehostapp.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const failed = { status: 'Service Unavailable', status_code: 503 };

let world: World;
let fake: FakeCodeHost;
beforeAll(async () => {
  fake = await FakeCodeHost.start(() => world.clock.now());
  world = await openWorld({
    worker: true,
    integrations: { urls: fake.urls },
    environment: codeHostEnvironment(fake),
  });
});
afterAll(async () => {
  await world.close();
  await fake.close();
});

beforeEach(() => {
  fake.deliveries.splice(0);
  fake.redelivered.splice(0);
  fake.redelivers = () => ({});
});

const run = () => runSchedule<RedeliveryReport>(world, 'redeliver-code-host-events');

const daysAgo = (days: number) => new Date(world.clock.now().getTime() - days * dayMs).toISOString();

test('events that were not delivered in the last three days are requested again, each once', async () => {
  fake.deliver({ ...failed, guid: 'too-old', delivered_at: daysAgo(3.1) });
  fake.deliver({ ...failed, guid: 'old', delivered_at: daysAgo(2.9) });
  fake.deliver({ guid: 'delivered' });
  fake.deliver({ ...failed, guid: 'delivered-later' });
  fake.deliver({ guid: 'delivered-later', redelivery: true });
  fake.deliver({ ...failed, guid: 'not-acted-on', event: 'push', action: null });
  fake.deliver({ ...failed, guid: 'failed-twice' });
  fake.deliver({ ...failed, guid: 'failed-twice', redelivery: true });
  expect(await run()).toEqual({ failed: 2, requested: 2 });
  // In the order in which they happened: the last one says how it is now.
  expect(fake.redelivered).toEqual(['old', 'failed-twice']);
  expect(await run()).toEqual({ failed: 0, requested: 0 });
});

test('an event that is refused again and again is left after five attempts', async () => {
  fake.redelivers = () => failed;
  fake.deliver({ ...failed, guid: 'refused' });
  for (let runs = 0; runs < 6; runs++) await run();
  expect(fake.redelivered).toEqual(Array.from({ length: 4 }, () => 'refused'));
});

test('deliveries are read page by page, each once', async () => {
  for (let number = 0; number < 7; number++) fake.deliver({ ...failed, guid: `event-${number}` });
  fake.pageSize = 3;
  fake.forget();
  expect(await run()).toEqual({ failed: 7, requested: 7 });
  expect(new Set(fake.redelivered).size).toBe(7);
  expect(fake.requests.filter(({ method }) => method === 'GET')).toHaveLength(3);
});

test('a delivery that is not there any more keeps back no other', async () => {
  fake.deliver({ ...failed, guid: 'still-there' });
  fake.deliver({ ...failed, guid: 'gone', id: 77 });
  fake.text = (text) => text.replace('"id":77,', '"id":9007199254740993,');
  try {
    expect(await run()).toEqual({ failed: 2, requested: 1 });
  } finally {
    fake.text = (text) => text;
  }
  expect(fake.redelivered).toEqual(['still-there']);
  expect(fake.requests.map(({ path }) => path)).toContain('/app/hook/deliveries/9007199254740993/attempts');
});
