import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { failingRecord, fragileListener } from '../kit/events/failing-deliveries.ts';
import { createdEndpoint } from '../kit/events/created-endpoint.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { waitForMails } from '../kit/mailbox.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, type World } from '../kit/world.ts';

// Settings of the job queue, as Temporal and the log show them: one world with all of them changed, one as usual.

const queueconf = {
  ID: 'worker-of-settings',
  JOBTIMEOUT: '41000',
  JOBSTUCKTHRESHOLD: '7000',
  MAXATTEMPTS: '5',
  RETRYPOLICY_INITIALINTERVAL: '1500',
  RETRYPOLICY_BACKOFFCOEFFICIENT: '3',
  RETRYPOLICY_MAXIMUMINTERVAL: '9000',
  PLUGINS: '["logging"]',
  MIDDLEWARE: '["logging"]',
  JOBINSERTMIDDLEWARE: '["logging"]',
  WORKERMIDDLEWARE: '["logging"]',
  HOOKS: '["logging"]',
  TEST_DISABLEUNIQUEENFORCEMENT: 'true',
  TESTONLY: 'true',
  JOBCLEANERTIMEOUT: '61000',
  SKIPUNKNOWNJOBCHECK: 'true',
  PERIODICJOBS: JSON.stringify([
    { name: 'nightly', workflow: 'sweepOutbox', schedule: '0 3 * * *' },
    { name: 'foreign', workflow: 'workflowOfAnother', schedule: 7_200_000, input: { of: 'another' } },
  ]),
};

const privateAddresses = { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' };
const listener = fragileListener('fragile', 'settings.changed');
const environment = {
  ...Object.fromEntries(Object.entries(queueconf).map(([name, value]) => [`CORE_JOBQUEUE_QUEUECONF_${name}`, value])),
  CORE_WORKFLOWS_DISPATCH_QUEUENAME: 'deliveries',
  // Metrics stand around jobs as well, and change nothing (what they say: metrics.test.ts).
  CORE_JOBQUEUE_METRICS_ENABLEMETRICS: 'true',
  ...privateAddresses,
};

let usual: World;
let changed: World;

beforeAll(async () => {
  [usual, changed] = await Promise.all([
    openWorld({ worker: true, listeners: [listener], environment: privateAddresses }),
    openWorld({ worker: true, listeners: [listener], environment }),
  ]);
});
afterAll(async () => {
  const { schedule } = changed.runtime.temporal.client;
  for (const name of ['nightly', 'foreign']) await schedule.getHandle(`${changed.name}/${name}`).delete();
  await Promise.all([usual.close(), changed.close()]);
});

/** A sign-up with its mail, and the workflow that sent it. */
async function mailWorkflow(world: World) {
  const email = `queue-${newId().toLowerCase()}@example.com`;
  await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  await waitForMails(world, email);
  const { workflow } = world.runtime.temporal.client;
  return eventually(async () => {
    for await (const run of workflow.list({
      query: `WorkflowId STARTS_WITH "${world.name}/" AND WorkflowType = "sendEmail"`,
    })) {
      const { events } = await workflow.getHandle(run.workflowId).fetchHistory();
      const started = events?.find((event) => event.activityTaskStartedEventAttributes);
      if (started) return { run, identity: started.activityTaskStartedEventAttributes?.identity };
    }
    return undefined;
  });
}

/** How the attempts of a delivery that fails are made. */
async function attemptsOf(world: World) {
  const record = await failingRecord(world, listener);
  const scheduled = await eventually(async () => {
    const { events } = await record.handle.fetchHistory();
    return events?.find((event) => event.activityTaskScheduledEventAttributes)?.activityTaskScheduledEventAttributes;
  });
  record.mend();
  await record.handle.signal('retryDelivery');
  await record.handle.result();
  return shownOf(world, scheduled);
}

interface ScheduledActivity {
  readonly startToCloseTimeout?: Parameters<typeof seconds>[0];
  readonly heartbeatTimeout?: Parameters<typeof seconds>[0];
  readonly retryPolicy?: {
    readonly maximumAttempts?: number | null;
    readonly initialInterval?: Parameters<typeof seconds>[0];
    readonly backoffCoefficient?: number | null;
    readonly maximumInterval?: Parameters<typeof seconds>[0];
  } | null;
  readonly taskQueue?: { readonly name?: string | null } | null;
}

function shownOf(world: World, scheduled: ScheduledActivity) {
  return {
    timeout: seconds(scheduled.startToCloseTimeout),
    heartbeat: seconds(scheduled.heartbeatTimeout),
    attempts: scheduled.retryPolicy?.maximumAttempts,
    initial: seconds(scheduled.retryPolicy?.initialInterval),
    factor: scheduled.retryPolicy?.backoffCoefficient,
    longest: seconds(scheduled.retryPolicy?.maximumInterval),
    queue: scheduled.taskQueue?.name?.slice(world.name.length + 1),
  };
}

/** How the first activity of a workflow of this type is tried, and which worker did it. */
async function firstActivityOf(world: World, type: string) {
  const { workflow } = world.runtime.temporal.client;
  return eventually(async () => {
    for await (const { workflowId } of workflow.list({
      query: `WorkflowId STARTS_WITH "${world.name}/" AND WorkflowType = "${type}"`,
    })) {
      const { events } = await workflow.getHandle(workflowId).fetchHistory();
      const scheduled = events?.find((event) => event.activityTaskScheduledEventAttributes);
      const started = events?.find((event) => event.activityTaskStartedEventAttributes);
      if (scheduled?.activityTaskScheduledEventAttributes && started?.activityTaskStartedEventAttributes)
        return {
          ...shownOf(world, scheduled.activityTaskScheduledEventAttributes),
          identity: started.activityTaskStartedEventAttributes.identity,
        };
    }
    return undefined;
  });
}

/** A message that has arrived at an endpoint. */
async function messageArrived(world: World): Promise<void> {
  const sink = await WebhookSink.open();
  try {
    const client = await signedIn(world, await buildPerson(world));
    await createdEndpoint(client, sink);
    expect((await client.post('/v1/tasks', { title: 'tell it' })).status).toBe(201);
    await eventually(() => sink.received.length > 0);
  } finally {
    await sink.close();
  }
}

const seconds = (value: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined) =>
  Number(value?.seconds ?? 0) + (value?.nanos ?? 0) / 1e9;

describe('an activity', () => {
  test('has the timeouts and the retries of queueconf, and the queue of dispatch.queuename', async () => {
    shows(
      'jobqueue.queueconf.JobStuckThreshold',
      'jobqueue.queueconf.JobTimeout',
      'jobqueue.queueconf.MaxAttempts',
      'jobqueue.queueconf.RetryPolicy.initialinterval',
      'jobqueue.queueconf.RetryPolicy.backoffcoefficient',
      'jobqueue.queueconf.RetryPolicy.maximuminterval',
    );
    const [before, after] = await Promise.all([attemptsOf(usual), attemptsOf(changed)]);
    const wanted = { timeout: 41, heartbeat: 7, attempts: 5, initial: 1.5, factor: 3, longest: 9, queue: 'deliveries' };
    expect(after).toEqual(wanted);
    for (const [name, value] of Object.entries(before))
      expect(value, name).not.toBe(wanted[name as keyof typeof wanted]);
  });

  test('of the queues email and webhooks has them as well, unless its workflow says otherwise', async () => {
    await Promise.all([mailWorkflow(usual), mailWorkflow(changed), messageArrived(usual), messageArrived(changed)]);
    // A mail is tried for two days; a round of messages needs three quarters of a minute.
    const ofMail = { timeout: 41, heartbeat: 7, initial: 1, longest: 300, queue: 'email', identity: queueconf.ID };
    expect(await firstActivityOf(changed, 'sendEmail')).toMatchObject(ofMail);
    const usualMail = await firstActivityOf(usual, 'sendEmail');
    expect(usualMail).toMatchObject({ queue: 'email', longest: 300 });
    for (const name of ['timeout', 'heartbeat', 'identity'] as const) expect(usualMail[name]).not.toBe(ofMail[name]);
    const retries = { attempts: 5, initial: 1.5, factor: 3, longest: 9 };
    const ofMessage = { timeout: 45, heartbeat: 7, ...retries, queue: 'webhooks', identity: queueconf.ID };
    expect(await firstActivityOf(changed, 'deliverToEndpoint')).toEqual(ofMessage);
    const usualMessage = await firstActivityOf(usual, 'deliverToEndpoint');
    for (const [name, value] of Object.entries(ofMessage))
      if (name !== 'queue') expect(usualMessage[name as keyof typeof ofMessage], name).not.toBe(value);
  });

  test('has the identity of its worker, which ID names', async () => {
    shows('jobqueue.queueconf.ID');
    const [before, after] = await Promise.all([mailWorkflow(usual), mailWorkflow(changed)]);
    expect(after.identity).toBe('worker-of-settings');
    expect(before.identity).not.toBe('worker-of-settings');
  });

  test('has a random id with Test.DisableUniqueEnforcement, and else one of its own, below the Schema', async () => {
    shows('jobqueue.queueconf.Test.DisableUniqueEnforcement');
    const [before, after] = await Promise.all([mailWorkflow(usual), mailWorkflow(changed)]);
    const parts = ({ run }: typeof before) => run.workflowId.split('/');
    expect(parts(after).length).toBe(parts(before).length + 1);
    expect(parts(before)[0]).toBe(usual.name);
    expect(parts(after)[0]).toBe(changed.name);
    expect(before.run.taskQueue).toBe(`${usual.name}/workflows`);
  });
});

test('interceptors stand around starts and activities where the lists name them', async () => {
  shows(
    'jobqueue.queueconf.JobInsertMiddleware',
    'jobqueue.queueconf.Hooks',
    'jobqueue.queueconf.Middleware',
    'jobqueue.queueconf.Plugins',
    'jobqueue.queueconf.WorkerMiddleware',
  );
  await Promise.all([mailWorkflow(usual), mailWorkflow(changed), messageArrived(usual), messageArrived(changed)]);
  const layersOf = (world: World, message: string) =>
    new Set(world.logs.filter((line) => line['msg'] === message).map((line) => line['layer']));
  const typesOf = (world: World, message: string) =>
    new Set(world.logs.filter((line) => line['msg'] === message).map((line) => line['job']));
  expect([...typesOf(changed, 'activity begins')]).toEqual(expect.arrayContaining(['deliverEmail', 'sendMessages']));
  expect(layersOf(changed, 'start begins')).toEqual(new Set(['Plugins', 'Middleware', 'JobInsertMiddleware']));
  expect(layersOf(changed, 'activity begins')).toEqual(new Set(['Plugins', 'Middleware', 'WorkerMiddleware', 'Hooks']));
  expect(layersOf(usual, 'start begins').size + layersOf(usual, 'activity begins').size).toBe(0);
});

describe('schedules', () => {
  const describeSchedule = (world: World, name: string) =>
    world.runtime.temporal.client.schedule.getHandle(`${world.name}/${name}`).describe();

  test('are those of the release and of PeriodicJobs, unknown workflows with SkipUnknownJobCheck only', async () => {
    shows('jobqueue.queueconf.SkipUnknownJobCheck');
    const nightly = await describeSchedule(changed, 'nightly');
    expect(nightly.action).toMatchObject({ workflowType: 'sweepOutbox' });
    expect(JSON.stringify(nightly.spec)).toContain('"hour":[{"start":3');
    const foreign = await describeSchedule(changed, 'foreign');
    expect(foreign.spec.intervals).toMatchObject([{ every: 7_200_000 }]);
    expect(foreign.action).toMatchObject({ workflowType: 'workflowOfAnother', args: [{ of: 'another' }] });
    await expect(describeSchedule(usual, 'nightly')).rejects.toMatchObject({ name: 'ScheduleNotFoundError' });
  });

  test('are paused with TestOnly', async () => {
    expect((await describeSchedule(usual, 'sweep-outbox')).state.paused).toBe(false);
    expect((await describeSchedule(changed, 'sweep-outbox')).state.paused).toBe(true);
  });

  test('give pruning the time of JobCleanerTimeout', async () => {
    shows('jobqueue.queueconf.JobCleanerTimeout');
    const timeout = async (world: World) =>
      ((await describeSchedule(world, 'prune-records')).action.args as [{ timeoutMs: number }])[0].timeoutMs;
    expect(await timeout(changed)).toBe(61_000);
    expect(await timeout(usual)).not.toBe(61_000);
  });
});
