// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activityQueues as configuredQueues } from '#config/objects/jobqueue/queueconf.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { releaseWorkflows } from '#worker/release-workflows.ts';
import { announce, isSettled, notingListener, storedEvents } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { mailsTo, waitForMails } from '../kit/mailbox.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { runsOf, waitForRuns } from '../kit/runs.ts';
import { shows } from '../kit/shows.ts';
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

/** A server that answers when as many requests wait as there can be. */
async function barrier(size: number) {
  const waiting: ServerResponse[] = [];
  const counts = { most: 0, answered: 0 };
  const server = createServer((request, response) => {
    request.resume();
    waiting.push(response);
    counts.most = Math.max(counts.most, waiting.length);
    if (waiting.length < size) return;
    for (const each of waiting.splice(0)) {
      counts.answered++;
      each.writeHead(200, { 'content-type': 'application/json' });
      each.end(JSON.stringify({ ErrorCode: 0, MessageID: newId() }));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, counts, close: () => (server.closeAllConnections(), server.close()) };
}

let provider: Awaited<ReturnType<typeof barrier>>;
let world: World;
beforeAll(async () => {
  provider = await barrier(2);
  world = await openWorld({
    listeners: [gated],
    emailProviders: { urls: { providerb: provider.url } },
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
afterAll(async () => {
  await world.close();
  provider.close();
});

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
    shows('jobqueue.queueconf.Queues.*.MaxWorkers');
    expect(await batchesAtOnce(queues({ events: { MaxWorkers: 2 } }), 2)).toBe(2);
  });

  test('are as many as workercount says when the queue does not', async () => {
    shows('workflows.dispatch.workercount');
    expect(await batchesAtOnce({ CORE_WORKFLOWS_DISPATCH_WORKERCOUNT: '3' }, 3)).toBe(3);
  });

  test('are as many as the queue of the configured name may have', async () => {
    shows('workflows.dispatch.queuename');
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

describe('requests to others that are under way at the same time', () => {
  test('to a provider of e-mail are as many as MaxWorkers of the queue email says', async () => {
    const environment = {
      CORE_INTEGRATIONS_EMAIL_TESTDIR: '',
      CORE_INTEGRATIONS_EMAIL_PROVIDER: 'providerb',
      CORE_INTEGRATIONS_EMAIL_PROVIDERB_SERVERTOKEN: 'token',
      ...queues({ email: { MaxWorkers: 2 } }),
    };
    await withWorker(environment, async (instance) => {
      const register = () =>
        instance.client().post('/v1/register', {
          email: `most-${newId().toLowerCase()}@example.com`,
          password: 'correct horse battery',
        });
      for (let count = 0; count < 6; count++) await register();
      await eventually(() => provider.counts.answered >= 6);
    });
    expect(provider.counts.most).toBe(2);
  });

  test('to endpoints are as many as MaxWorkers of the queue webhooks says', async () => {
    const server = await barrier(2);
    const environment = {
      CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true',
      ...queues({ webhooks: { MaxWorkers: 2 } }),
    };
    await withWorker(environment, async (instance) => {
      // Of organizations of their own, which share the workers.
      for (let count = 0; count < 6; count++) {
        const client = await signedIn(instance, await buildPerson(world));
        const made = await client.post('/v1/webhook-endpoints', {
          name: 'waits for others',
          url: server.url,
          topics: ['task.*'],
          scopes: ['task:read'],
          max_in_flight: 1,
        });
        expect(made.status, JSON.stringify(made.body)).toBe(201);
        expect((await client.post('/v1/tasks', { title: 'one message' })).status).toBe(201);
      }
      await eventually(() => server.counts.answered >= 6);
    });
    expect(server.counts.most).toBe(2);
    server.close();
  });
});

test('queues of the configuration for which there is no work are said at the start', async () => {
  const idle = configuredQueues.filter((name) => !releaseWorkflows.some(({ contract }) => contract.queue === name));
  const settings = Object.fromEntries(['email', ...idle].map((name) => [name, {}]));
  const instance = await world.openInstance({ environment: queues(settings) });
  const worker = await instance.startWorker();
  await worker.stop();
  const said = world.logs.filter(({ msg }) => String(msg).includes('for which this release has no work'));
  expect(said.map(({ queue }) => queue)).toEqual(idle);
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
    shows('jobqueue.queueconf.SoftStopTimeout');
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
