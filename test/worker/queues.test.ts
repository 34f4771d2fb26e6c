import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { announce, isSettled, notingListener, storedEvents } from '../kit/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { mailsTo, waitForMails } from '../kit/mailbox.ts';
import { runsOf, waitForRuns } from '../kit/runs.ts';
import { openWorld, type Instance, type World } from '../kit/world.ts';

/** Holds deliveries up, and counts those that are held at the same time. */
const gate = {
  open: Promise.withResolvers<void>(),
  held: 0,
  most: 0,
  /** Records whose first attempt fails, so that they come as an activity of their own queue. */
  failing: new Set<string>(),
};

const gated = notingListener('gated', ['gated.happened'], async ({ event }) => {
  if (gate.failing.delete(event.entityId)) throw new Error('the first attempt fails');
  gate.held++;
  gate.most = Math.max(gate.most, gate.held);
  await gate.open.promise;
  gate.held--;
});

let world: World;
beforeAll(async () => {
  world = await openWorld({
    listeners: [gated],
    environment: {
      CORE_DB_MAXCONNECTIONS: '12',
      CORE_ORMCONFIG_MAXPOOLSIZE: '12',
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
      // What a worker left behind is noticed soon.
      CORE_JOBQUEUE_QUEUECONF_JOBSTUCKTHRESHOLD: '2000',
      CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '10',
    },
  });
});
afterAll(() => world.close());

const queues = (settings: object) => ({ CORE_JOBQUEUE_QUEUECONF_QUEUES: JSON.stringify(settings) });

/** A world's instance with its own configuration whose worker runs meanwhile. */
async function withWorker(
  environment: Readonly<Record<string, string>>,
  work: (instance: Instance) => Promise<void>,
): Promise<void> {
  Object.assign(gate, { open: Promise.withResolvers<void>(), held: 0, most: 0 });
  const instance = await world.openInstance({ environment });
  const worker = await instance.startWorker();
  try {
    await work(instance);
  } finally {
    gate.open.resolve();
    await eventually(() => isSettled(world));
    await eventually(async () => (await runsOf(world, 'ExecutionStatus = "Running"')).length === 0);
    await worker.stop();
  }
}

/** Announces so many events, each in a batch of its own. */
async function announceBatches(instance: Instance, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    await announce(instance, [{ topic: 'gated.happened' }]);
    await eventually(async () =>
      (await storedEvents(world, 'gated.happened')).every((event) => event.batchId !== null),
    );
  }
}

/** How many of five batches are delivered at the same time. */
async function batchesAtOnce(environment: Readonly<Record<string, string>>, expected: number): Promise<number> {
  await withWorker(environment, async (instance) => {
    const before = (await runsOf(world, 'WorkflowType = "deliverEvents"')).length;
    await announceBatches(instance, 5);
    await waitForRuns(world, 'WorkflowType = "deliverEvents"', before + 5);
    await eventually(() => gate.held === expected);
  });
  return gate.most;
}

describe('batches that are delivered at the same time', () => {
  test('are as many as MaxWorkers of the event queue says', async () => {
    expect(await batchesAtOnce(queues({ events: { MaxWorkers: 2 } }), 2)).toBe(2);
  });

  test('are as many as workercount says when the queue does not', async () => {
    expect(await batchesAtOnce({ CORE_WORKFLOWS_DISPATCH_WORKERCOUNT: '3' }, 3)).toBe(3);
  });

  test('are as many as the queue of the configured name may have', async () => {
    const environment = {
      CORE_WORKFLOWS_DISPATCH_QUEUENAME: 'deliveries',
      ...queues({ deliveries: { MaxWorkers: 1 } }),
    };
    expect(await batchesAtOnce(environment, 1)).toBe(1);
  });
});

test('failing deliveries of their own workflows are as many at the same time as MaxWorkers says', async () => {
  await withWorker(queues({ events: { MaxWorkers: 2 } }), async (instance) => {
    const records = Array.from({ length: 4 }, () => newId());
    for (const entityId of records) gate.failing.add(entityId);
    await announce(
      instance,
      records.map((entityId) => ({ topic: 'gated.happened', entityId })),
    );
    await waitForRuns(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"', 4);
    await eventually(() => gate.held === 2);
  });
  expect(gate.most).toBe(2);
});

test('workers share the queues among them: what nobody serves waits', async () => {
  const instance = await world.openInstance();
  const workflows = await instance.startWorker(['workflows', 'events']);
  const email = `shared-${newId().toLowerCase()}@example.com`;
  await instance.client().post('/v1/register', { email, password: 'correct horse battery' });
  const [mail] = await waitForRuns(world, 'WorkflowType = "sendEmail" AND ExecutionStatus = "Running"', 1);
  const { client } = world.runtime.temporal;
  const described = await eventually(async () => {
    const { raw } = await client.workflow.getHandle(`${world.name}/${mail?.id}`).describe();
    return raw.pendingActivities?.[0];
  });
  expect(described).toMatchObject({ activityType: { name: 'deliverEmail' }, attempt: 1, lastStartedTime: null });
  expect(await mailsTo(world, email)).toEqual([]);
  const mailer = await instance.startWorker(['email']);
  await waitForMails(world, email);
  await Promise.all([workflows.stop(), mailer.stop()]);
});

describe('SoftStopTimeout', () => {
  const leftBehind = () => world.logs.filter((line) => String(line['msg']).includes('left behind')).length;

  /** A worker that is told to stop while a delivery stands still. */
  async function stopDuringDelivery(softStopMs: number): Promise<{ readonly stopped: Promise<void> }> {
    Object.assign(gate, { open: Promise.withResolvers<void>(), held: 0, most: 0 });
    const instance = await world.openInstance({
      environment: { CORE_JOBQUEUE_QUEUECONF_SOFTSTOPTIMEOUT: String(softStopMs) },
    });
    const worker = await instance.startWorker();
    const entityId = newId();
    gate.failing.add(entityId);
    await announce(instance, [{ topic: 'gated.happened', entityId }]);
    await eventually(() => gate.held === 1);
    return { stopped: worker.stop() };
  }

  test('is how long a stopping worker waits for what it is doing', async () => {
    const before = leftBehind();
    const { stopped } = await stopDuringDelivery(20_000);
    gate.open.resolve();
    await stopped;
    expect(leftBehind()).toBe(before);
  });

  test('is not outlasted by what stands still; another worker takes that over', async () => {
    const before = leftBehind();
    const { stopped } = await stopDuringDelivery(100);
    await stopped;
    expect(leftBehind()).toBeGreaterThan(before);
    expect(gate.held).toBe(1);
    gate.open.resolve();
    const worker = await world.startWorker();
    await eventually(async () => (await runsOf(world, 'ExecutionStatus = "Running"')).length === 0);
    await worker.stop();
  });
});
