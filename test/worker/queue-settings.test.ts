import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../kit/eventually.ts';
import { failingRecord, fragileListener } from '../kit/failing-deliveries.ts';
import { waitForMails } from '../kit/mailbox.ts';
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

const listener = fragileListener('fragile', 'settings.changed');
const environment = {
  ...Object.fromEntries(Object.entries(queueconf).map(([name, value]) => [`CORE_JOBQUEUE_QUEUECONF_${name}`, value])),
  CORE_WORKFLOWS_DISPATCH_QUEUENAME: 'deliveries',
  // Metrics stand around jobs as well, and change nothing (what they say: metrics.test.ts).
  CORE_JOBQUEUE_METRICS_ENABLEMETRICS: 'true',
};

let usual: World;
let changed: World;

beforeAll(async () => {
  [usual, changed] = await Promise.all([
    openWorld({ worker: true, listeners: [listener] }),
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
  const run = await eventually(async () => {
    for await (const found of workflow.list({
      query: `WorkflowId STARTS_WITH "${world.name}/" AND WorkflowType = "sendEmail"`,
    }))
      return found;
    return undefined;
  });
  const { events } = await workflow.getHandle(run.workflowId).fetchHistory();
  const started = events?.find((event) => event.activityTaskStartedEventAttributes);
  return { run, identity: started?.activityTaskStartedEventAttributes?.identity };
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

const seconds = (value: { readonly seconds?: unknown; readonly nanos?: number | null } | null | undefined) =>
  Number(value?.seconds ?? 0) + (value?.nanos ?? 0) / 1e9;

describe('an activity', () => {
  test('has the timeouts and the retries of queueconf, and the queue of dispatch.queuename', async () => {
    const [before, after] = await Promise.all([attemptsOf(usual), attemptsOf(changed)]);
    const wanted = { timeout: 41, heartbeat: 7, attempts: 5, initial: 1.5, factor: 3, longest: 9, queue: 'deliveries' };
    expect(after).toEqual(wanted);
    for (const [name, value] of Object.entries(before))
      expect(value, name).not.toBe(wanted[name as keyof typeof wanted]);
  });

  test('has the identity of its worker, which ID names', async () => {
    const [before, after] = await Promise.all([mailWorkflow(usual), mailWorkflow(changed)]);
    expect(after.identity).toBe('worker-of-settings');
    expect(before.identity).not.toBe('worker-of-settings');
  });

  test('has a random id with Test.DisableUniqueEnforcement, and else one of its own, below the Schema', async () => {
    const [before, after] = await Promise.all([mailWorkflow(usual), mailWorkflow(changed)]);
    const parts = ({ run }: typeof before) => run.workflowId.split('/');
    expect(parts(after).length).toBe(parts(before).length + 1);
    expect(parts(before)[0]).toBe(usual.name);
    expect(parts(after)[0]).toBe(changed.name);
    expect(before.run.taskQueue).toBe(`${usual.name}/workflows`);
  });
});

test('interceptors stand around starts and activities where the lists name them', async () => {
  await Promise.all([mailWorkflow(usual), mailWorkflow(changed)]);
  const layersOf = (world: World, message: string) =>
    new Set(world.logs.filter((line) => line['msg'] === message).map((line) => line['layer']));
  expect(layersOf(changed, 'start begins')).toEqual(new Set(['Plugins', 'Middleware', 'JobInsertMiddleware']));
  expect(layersOf(changed, 'activity begins')).toEqual(new Set(['Plugins', 'Middleware', 'WorkerMiddleware', 'Hooks']));
  expect(layersOf(usual, 'start begins').size + layersOf(usual, 'activity begins').size).toBe(0);
});

describe('schedules', () => {
  const describeSchedule = (world: World, name: string) =>
    world.runtime.temporal.client.schedule.getHandle(`${world.name}/${name}`).describe();

  test('are those of the release and of PeriodicJobs, unknown workflows with SkipUnknownJobCheck only', async () => {
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
    const timeout = async (world: World) =>
      ((await describeSchedule(world, 'prune-records')).action.args as [{ timeoutMs: number }])[0].timeoutMs;
    expect(await timeout(changed)).toBe(61_000);
    expect(await timeout(usual)).not.toBe(61_000);
  });
});
