import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { failingRecord, fragileListener } from '../../kit/events/failing-deliveries.ts';
import { runsOf, waitForRuns } from '../../kit/runs.ts';
import { sweep } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

const listener = fragileListener('operated', 'operated.changed');
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterAll(() => world.close());

const versionsSeen = (entityId: string) =>
  listener.seen.filter((event) => event.entityId === entityId).map((event) => event.recordVersion);

describe('a delivery that has failed as often as MaxAttempts allows', () => {
  test('waits for an operator and says what to do', async () => {
    const record = await failingRecord(world, listener);
    await record.isWaiting();
    expect(await record.details()).toContain('The listener `operated` cannot handle this `operated.changed`');
    // One attempt of the batch, one of the workflow.
    expect(listener.attempts.get(record.entityId)).toBe(2);
    await record.handle.signal('skipDelivery');
    await record.handle.result();
  });

  test('retryDelivery delivers it once the cause is mended, and then what was held, in order', async () => {
    const record = await failingRecord(world, listener);
    for (const version of [2, 3, 4]) await record.announceVersion(version);
    await eventually(() => isSettled(world));
    expect(await record.states()).toEqual(['failing', 'held', 'held', 'held']);
    await record.isWaiting();
    record.mend();
    await record.handle.signal('retryDelivery');
    expect(await record.handle.result()).toBe('done');
    expect(await record.states()).toEqual(['done', 'done', 'done', 'done']);
    expect(versionsSeen(record.entityId)).toEqual([1, 2, 3, 4]);
  });

  test('retryDelivery without mending leads back to waiting, as often as one likes', async () => {
    const record = await failingRecord(world, listener);
    for (let round = 1; round <= 3; round++) {
      await record.isWaiting();
      const before = listener.attempts.get(record.entityId) ?? 0;
      await record.handle.signal('retryDelivery');
      await eventually(() => listener.attempts.get(record.entityId) === before + 1);
    }
    record.mend();
    await record.isWaiting();
    await record.handle.signal('retryDelivery');
    expect(await record.handle.result()).toBe('done');
  });

  test('skipDelivery gives it up and lets the later ones go', async () => {
    const record = await failingRecord(world, listener);
    await record.announceVersion(2);
    await eventually(() => isSettled(world));
    await record.isWaiting();
    record.mend();
    await record.handle.signal('skipDelivery');
    expect(await record.handle.result()).toBe('skipped');
    expect(await record.states()).toEqual(['skipped', 'done']);
    expect(versionsSeen(record.entityId)).toEqual([2]);
  });

  test('a held event that fails in turn gets a workflow of its own, and holds those behind it', async () => {
    const record = await failingRecord(world, listener);
    for (const version of [2, 3]) await record.announceVersion(version);
    await eventually(() => isSettled(world));
    await record.isWaiting();
    await record.handle.signal('skipDelivery');
    expect(await record.handle.result()).toBe('skipped');
    expect(await record.states()).toEqual(['skipped', 'failing', 'held']);
    const runs = await waitForRuns(world, `EntityId = "${record.entityId}"`, 2);
    const second = runs.find((run) => run.status === 'RUNNING');
    record.mend();
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${second?.id}`).signal('retryDelivery');
    await eventually(async () => (await record.states()).join() === 'skipped,done,done');
  });
});

describe('a delivery whose workflow', () => {
  test('was terminated is brought back by the sweep: only skipping gives it up', async () => {
    const record = await failingRecord(world, listener);
    await record.announceVersion(2);
    await record.isWaiting();
    await record.handle.terminate('by mistake');
    world.clock.advance(31_000);
    expect(await sweep(world)).toMatchObject({ deliveries: 1 });
    await eventually(async () => (await record.handle.describe()).status.name === 'RUNNING');
    record.mend();
    await record.handle.signal('retryDelivery');
    await eventually(async () => (await record.states()).join() === 'done,done');
  });

  test('is running is left alone by the sweep', async () => {
    const record = await failingRecord(world, listener);
    await record.isWaiting();
    world.clock.advance(31_000);
    expect(await sweep(world)).toMatchObject({ deliveries: 0 });
    expect(await runsOf(world, `EntityId = "${record.entityId}"`)).toHaveLength(1);
    record.mend();
    await record.handle.signal('retryDelivery');
    expect(await record.handle.result()).toBe('done');
  });

  test('was never started, because the worker died after settling the batch, is started by the next worker', async () => {
    armFailpoints([{ name: 'delivery-after-settle', action: 'throw', after: 0 }]);
    const pending = failingRecord(world, listener);
    await eventually(() => world.logs.some((line) => JSON.stringify(line).includes('failpoint delivery-after-settle')));
    armFailpoints([]);
    const record = await pending;
    record.mend();
    await record.handle.signal('retryDelivery');
    expect(await record.handle.result()).toBe('done');
  });
});

test('events that are held behind nothing any more are delivered by the sweep', async () => {
  const record = await failingRecord(world, listener);
  await record.announceVersion(2);
  await eventually(async () => (await record.states()).join() === 'failing,held');
  await record.handle.terminate();
  await asOwner(world, `update event_deliveries set state = 'done' where state = 'failing' and entity_id = $1`, [
    record.entityId,
  ]);
  record.mend();
  world.clock.advance(31_000);
  expect(await sweep(world)).toMatchObject({ deliveries: 1 });
  expect(await record.states()).toEqual(['done', 'done']);
  expect(versionsSeen(record.entityId)).toEqual([2]);
});
