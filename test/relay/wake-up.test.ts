// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Client } from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import type { StatementReport } from '#entities/kit/storage/transaction.ts';
import { Database } from '#entities/kit/unit/database.ts';
import { createNotifier } from '#relay/outbox/wake-up.ts';
import { asOwner } from '../kit/as-owner.ts';
import { announce, isSettled, notingListener } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, type World, type WorldOptions } from '../kit/world.ts';

const worlds: World[] = [];
afterAll(() => Promise.all(worlds.map((world) => world.close())));

const polling = (intervalMs: number) => ({ CORE_JOBQUEUE_QUEUECONF_FETCHPOLLINTERVAL: String(intervalMs) });
const aDay = 600_000;

/** A world whose worker relays, and another process that only writes. */
async function openPair(options: WorldOptions) {
  const listener = notingListener('wake-up', ['woken.happened']);
  const world = await openWorld({ worker: true, listeners: [listener], ...options });
  worlds.push(world);
  const writer = await world.openInstance({ environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' } });
  return { world, writer, listener };
}

/** How often the relay has looked for waiting events. */
function countLooks(): { readonly observers: WorldOptions['observers']; readonly looks: () => number } {
  let looks = 0;
  const statement = ({ text }: StatementReport) => {
    if (text.includes('with recursive tenants')) looks++;
  };
  return { observers: [{ statement }], looks: () => looks };
}

async function listeningConnections({ name, databaseUrl }: World): Promise<number> {
  const rows = await asOwner(
    { databaseUrl },
    `select 1 from pg_stat_activity where datname = $1 and application_name = 'core listener'`,
    [name],
  );
  return rows.length;
}

/** On a connection of its own, which takes longer than the shortest cooldown. */
async function notifyFromElsewhere({ databaseUrl }: World): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('notify core_events');
  await client.end();
}

test('NOTIFY wakes the relay of another process', async () => {
  const { world, writer } = await openPair({ environment: polling(aDay) });
  await eventually(async () => (await listeningConnections(world)) === 1);
  await announce(writer, [{ topic: 'woken.happened' }]);
  await eventually(() => isSettled(world));
});

test('what a process still notifies when it ends is sent before its connections close, and nothing afterwards', async () => {
  const world = await openWorld();
  worlds.push(world);
  const failed: unknown[] = [];
  const onBackgroundError = (error: unknown) => void failed.push(error);
  const database = await Database.open({ ...world.runtime.database.options, maxConnections: 1, onBackgroundError });
  const listening = new Client({ connectionString: world.databaseUrl });
  let notified = 0;
  listening.on('notification', () => void notified++);
  await listening.connect();
  await listening.query('listen core_events');
  const held = await database.pool.connect();
  const notifier = createNotifier(database);
  notifier.notify();
  const stopped = notifier.stop();
  const closed = (async () => {
    await stopped;
    await database.close();
  })();
  // Without waiting, the pool would be closed by now, and the connection would go to nobody.
  setTimeout(() => held.release(), 50);
  await closed;
  await eventually(() => notified === 1);
  notifier.notify();
  await listening.query('select 1');
  await listening.end();
  expect([notified, failed]).toEqual([1, []]);
});

test('a lost listening connection is opened again', async () => {
  const { world, writer } = await openPair({ environment: polling(aDay) });
  await eventually(async () => (await listeningConnections(world)) === 1);
  await asOwner(
    world,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and application_name = 'core listener'`,
    [world.name],
  );
  // What is written meanwhile is found when it is back.
  await announce(writer, [{ topic: 'woken.happened' }]);
  await eventually(() => isSettled(world));
  await eventually(async () => (await listeningConnections(world)) === 1);
});

describe('PollOnly', () => {
  test('opens no listening connection, and polling alone finds the events of others', async () => {
    shows('jobqueue.queueconf.PollOnly');
    const { world, writer } = await openPair({
      environment: { ...polling(100), CORE_JOBQUEUE_QUEUECONF_POLLONLY: 'true' },
    });
    await announce(writer, [{ topic: 'woken.happened' }]);
    await eventually(() => isSettled(world));
    expect(await listeningConnections(world)).toBe(0);
  });
});

describe('FetchPollInterval', () => {
  test('is obeyed from the reload on', async () => {
    shows('jobqueue.queueconf.FetchPollInterval');
    const { world, writer } = await openPair({
      environment: { ...polling(aDay), CORE_JOBQUEUE_QUEUECONF_POLLONLY: 'true' },
    });
    await announce(writer, [{ topic: 'woken.happened' }]);
    expect(await isSettled(world)).toBe(false);
    await world.reconfigure(polling(100));
    await eventually(() => isSettled(world));
    await announce(writer, [{ topic: 'woken.happened' }]);
    await eventually(() => isSettled(world));
  });

  test('of the event queue comes before the general one', async () => {
    shows('jobqueue.queueconf.Queues.*.FetchPollInterval');
    const { world, writer } = await openPair({
      environment: {
        ...polling(aDay),
        CORE_JOBQUEUE_QUEUECONF_POLLONLY: 'true',
        CORE_JOBQUEUE_QUEUECONF_QUEUES: JSON.stringify({ events: { FetchPollInterval: 100 } }),
      },
    });
    await announce(writer, [{ topic: 'woken.happened' }]);
    await eventually(() => isSettled(world));
  });
});

describe('FetchCooldown', () => {
  /** Looks of the relay while another process writes thirty times, and the notifications come as fast as they can. */
  async function looksUnder(environment: Readonly<Record<string, string>>): Promise<number> {
    const { observers, looks } = countLooks();
    const { world, writer } = await openPair({ environment, observers });
    await eventually(async () => (await listeningConnections(world)) === 1);
    for (let index = 0; index < 30; index++) await notifyFromElsewhere(world);
    await announce(writer, [{ topic: 'woken.happened' }]);
    await eventually(() => isSettled(world));
    return looks();
  }

  test('keeps the relay from looking at every notification', async () => {
    shows('jobqueue.queueconf.FetchCooldown');
    expect(await looksUnder({ CORE_JOBQUEUE_QUEUECONF_FETCHCOOLDOWN: '1', ...polling(aDay) })).toBeGreaterThan(15);
    expect(await looksUnder({ CORE_JOBQUEUE_QUEUECONF_FETCHCOOLDOWN: '1000', ...polling(aDay) })).toBeLessThan(8);
  });

  test('of the event queue comes before the general one', async () => {
    shows('jobqueue.queueconf.Queues.*.FetchCooldown');
    const queues = { CORE_JOBQUEUE_QUEUECONF_QUEUES: JSON.stringify({ events: { FetchCooldown: 1 } }) };
    expect(
      await looksUnder({ CORE_JOBQUEUE_QUEUECONF_FETCHCOOLDOWN: '1000', ...polling(aDay), ...queues }),
    ).toBeGreaterThan(15);
  });
});
