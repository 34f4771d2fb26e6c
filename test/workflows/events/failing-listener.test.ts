import { WorkflowNotFoundError } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce, isSettled, notingListener, storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { runsOf, waitForRuns } from '../../kit/runs.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Records the listener fails on, and how often it was asked about each. */
const broken = new Set<string>();
const attempts = new Map<string, number>();
const fragile = notingListener('fragile', ['fragile.changed'], ({ event }) => {
  attempts.set(event.id, (attempts.get(event.id) ?? 0) + 1);
  if (broken.has(event.entityId)) throw new Error(`broken on ${event.payload['secret'] as string}`);
});
const sturdy = notingListener('sturdy', ['fragile.changed']);
let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [fragile, sturdy],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '3',
      // Its own workflow comes once more, then waits.
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterEach(async () => {
  broken.clear();
  for (const run of await runsOf(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"'))
    await world.runtime.temporal.client.workflow
      .getHandle(`${world.name}/${run.id}`)
      .signal('retryDelivery')
      .catch((error: unknown) => {
        // It may have come to its end since it was listed.
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  await eventually(async () => (await storedDeliveries(world, 'fragile')).every((row) => row.state === 'done'));
});
afterAll(() => world.close());

const change = (entityId: string, recordVersion: number, organizationId: string | null = null) => ({
  topic: 'fragile.changed',
  entityId,
  recordVersion,
  organizationId,
  payload: { secret: 'canary-of-a-listener' },
});
const versionsSeen = ({ seen }: typeof fragile, entityId: string) =>
  seen.filter((event) => event.entityId === entityId).map((event) => event.recordVersion);
const failingRun = async (requestId: string) =>
  (await waitForRuns(world, `RequestId = "${requestId}" AND WorkflowType = "deliverEvent"`, 1))[0];

test('a failing event gets maxretries attempts and then a workflow of its own, found by what it is about', async () => {
  const [record, organization] = [newId(), newId()];
  broken.add(record);
  const requestId = await announce(world, [change(record, 1, organization)]);
  const run = await failingRun(requestId);
  const [delivery] = await storedDeliveries(world, 'fragile').then((rows) =>
    rows.filter((row) => row.state === 'failing'),
  );
  expect(run).toMatchObject({
    id: `event/${delivery?.eventId}/fragile`,
    status: 'RUNNING',
    searchAttributes: {
      RequestId: [requestId],
      OrganizationId: [organization],
      EventTopic: ['fragile.changed'],
      EntityKind: 'fragile',
      EntityId: record,
    },
  });
  // Three, and one of the workflow.
  await eventually(() => attempts.get(delivery?.eventId ?? '') === 4);
  // Operators read what kind of failure it is; its message may hold data and stays in the log.
  expect(delivery?.error).toBe('Error');
  expect(world.logs.some((line) => JSON.stringify(line).includes('broken on canary-of-a-listener'))).toBe(true);
});

test('maxretries is obeyed from the reload on', async () => {
  shows('workflows.dispatch.maxretries');
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1' });
  const record = newId();
  broken.add(record);
  const run = await failingRun(await announce(world, [change(record, 1)]));
  const eventId = run?.id.split('/')[1] ?? '';
  await eventually(() => attempts.get(eventId) === 2);
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '3' });
});

test('other listeners and other records go on, of the same batch and of later ones', async () => {
  const [bad, good] = [newId(), newId()];
  broken.add(bad);
  await announce(world, [change(bad, 1), change(good, 1)]);
  await announce(world, [change(bad, 2), change(good, 2)]);
  await eventually(() => isSettled(world));
  expect(versionsSeen(sturdy, bad)).toEqual([1, 2]);
  expect(versionsSeen(sturdy, good)).toEqual([1, 2]);
  expect(versionsSeen(fragile, good).filter((version, index, all) => all.lastIndexOf(version) === index)).toEqual([
    1, 2,
  ]);
  expect(versionsSeen(fragile, bad)).toEqual([]);
});

test('later events of the record are held behind the failing one, from whatever batch', async () => {
  const record = newId();
  broken.add(record);
  await announce(world, [change(record, 1), change(record, 2)]);
  await eventually(() => isSettled(world));
  await announce(world, [change(record, 3)]);
  await eventually(() => isSettled(world));
  const states = (await storedDeliveries(world, 'fragile'))
    .filter((row) => row.state !== 'done')
    .map((row) => row.state);
  expect(states).toEqual(['failing', 'held', 'held']);
  broken.delete(record);
  // The end of each test sends `retryDelivery` and waits until nothing is open.
});

test('a batch of which all of a few events fail leaves a workflow for each of them', async () => {
  const records = Array.from({ length: 15 }, () => newId());
  for (const record of records) broken.add(record);
  await announce(
    world,
    records.map((record) => change(record, 1)),
  );
  await eventually(() => isSettled(world));
  expect((await storedDeliveries(world, 'fragile')).filter((row) => row.state === 'failing')).toHaveLength(15);
  await eventually(
    async () => (await runsOf(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"')).length === 15,
  );
});

test('what an interrupted step has found to fail holds up the events behind it, and gets its workflow', async () => {
  const record = newId();
  broken.add(record);
  const requestId = await announce(world, [change(record, 1)]);
  const run = await failingRun(requestId);
  for (const version of [2, 3]) await announce(world, [change(record, version)]);
  await eventually(async () => (await storedDeliveries(world, 'fragile', record)).length === 3);
  // A worker has tried the second one, and died before it could start its workflow.
  const [, second] = await storedDeliveries(world, 'fragile', record);
  await asOwner(world, `update event_deliveries set state = 'failing' where event_id = '${second?.eventId}'`);
  broken.delete(record);
  await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${run?.id}`).signal('retryDelivery');
  await eventually(async () =>
    (await storedDeliveries(world, 'fragile', record)).every(({ state }) => state === 'done'),
  );
  expect(versionsSeen(fragile, record)).toEqual([1, 2, 3]);
});
