// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { keepSchedules, wantedSchedules } from '#worker/schedules.ts';
import { eventually } from '../kit/eventually.ts';
import { runsOf, waitForRuns } from '../kit/runs.ts';
import { shows } from '../kit/shows.ts';
import { runSchedule } from '../kit/sweep.ts';
import { openWorld, removeSchedules, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await removeSchedules(world.name, world.runtime, ['weekly', 'hourly', 'paused']);
  await world.close();
});

/** A worker process begins with this configuration, and ends: what it made of the schedules stays. */
async function converge(environment: Readonly<Record<string, string>>, queues?: readonly string[]): Promise<void> {
  const instance = await world.openInstance({ environment });
  const worker = await instance.startWorker(queues);
  await worker.stop();
}

const periodic = (...jobs: readonly object[]) => ({ CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: JSON.stringify(jobs) });
const handleOf = (name: string) => world.runtime.temporal.client.schedule.getHandle(`${world.name}/${name}`);
const describeSchedule = (name: string) => handleOf(name).describe();

/** What a schedule starts, when, and whether it does. */
async function stateOf(name: string) {
  const { action, spec, state } = await describeSchedule(name);
  if (action.type !== 'startWorkflow') throw new Error(`${name} starts no workflow`);
  return {
    workflow: action.workflowType,
    taskQueue: action.taskQueue,
    input: action.args?.[0] as object,
    everyMs: spec.intervals?.map((interval) => interval.every),
    isPaused: state.paused,
  };
}

/** A new schedule is listed after a moment, and only what is listed can be missed in a configuration. */
const isListed = (name: string) =>
  eventually(async () => {
    const listed = await Array.fromAsync(world.runtime.temporal.client.schedule.list());
    return listed.some((schedule) => schedule.scheduleId === `${world.name}/${name}`);
  });

describe('PeriodicJobs', () => {
  test('become schedules that start the named workflow with their input when they say', async () => {
    shows(
      'jobqueue.queueconf.PeriodicJobs[].workflow',
      'jobqueue.queueconf.PeriodicJobs[].schedule',
      'jobqueue.queueconf.PeriodicJobs[].input',
    );
    await converge(
      periodic(
        { name: 'hourly', workflow: 'sweepOutbox', schedule: 3_600_000, input: { note: 'one' } },
        { name: 'weekly', workflow: 'pruneRecords', schedule: '0 3 * * 1' },
      ),
    );
    expect(await stateOf('hourly')).toMatchObject({
      workflow: 'sweepOutbox',
      taskQueue: `${world.name}/workflows`,
      input: { note: 'one', queue: { taskQueue: `${world.name}/maintenance` } },
      everyMs: [3_600_000],
      isPaused: false,
    });
    expect(await stateOf('weekly')).toMatchObject({ workflow: 'pruneRecords', everyMs: [] });
    const [monday] = (await describeSchedule('weekly')).info.nextActionTimes;
    expect([monday?.getUTCDay(), monday?.getUTCHours(), monday?.getUTCMinutes()]).toEqual([1, 3, 0]);
  });

  test('that are changed or removed are changed and removed by the next worker, those of the release stay', async () => {
    shows('jobqueue.queueconf.PeriodicJobs[].name');
    await Promise.all(['hourly', 'weekly'].map(isListed));
    await converge(periodic({ name: 'hourly', workflow: 'pruneRecords', schedule: 7_200_000 }));
    expect(await stateOf('hourly')).toMatchObject({ workflow: 'pruneRecords', everyMs: [7_200_000] });
    expect((await stateOf('hourly')).input).not.toHaveProperty('note');
    await expect(describeSchedule('weekly')).rejects.toThrow(/not found/iu);
    await converge({});
    await expect(describeSchedule('hourly')).rejects.toThrow(/not found/iu);
    expect(await stateOf('sweep-outbox')).toMatchObject({ workflow: 'sweepOutbox', everyMs: [10_000] });
    expect(await stateOf('prune-records')).toMatchObject({ workflow: 'pruneRecords', everyMs: [3_600_000] });
    // A workflow of the release that runs at night.
    expect(await stateOf('reconcile-authorization')).toMatchObject({ workflow: 'reconcileAuthorization', everyMs: [] });
    const [night] = (await describeSchedule('reconcile-authorization')).info.nextActionTimes;
    expect([night?.getUTCHours(), night?.getUTCMinutes()]).toEqual([2, 0]);
  });

  test('cannot take the place of a schedule of the release', async () => {
    const job = periodic({ name: 'sweep-outbox', workflow: 'sweepOutbox', schedule: 86_400_000 });
    await expect(converge(job)).rejects.toThrow(/sweep-outbox/u);
    expect(await stateOf('sweep-outbox')).toMatchObject({ everyMs: [10_000] });
  });

  test('run', async () => {
    const instance = await world.openInstance({
      environment: periodic({ name: 'hourly', workflow: 'sweepOutbox', schedule: 3_600_000 }),
    });
    const worker = await instance.startWorker();
    expect(await runSchedule(world, 'hourly')).toMatchObject({ batches: 0 });
    await worker.stop();
  });
});

test('schedules follow a configuration that is reloaded, and a mistake in it changes none', async () => {
  const worker = await world.startWorker();
  const reload = (jobs: readonly object[]) => world.reconfigure(periodic(...jobs));
  await reload([{ name: 'hourly', workflow: 'sweepOutbox', schedule: 3_600_000 }]);
  await eventually(() => stateOf('hourly').catch(() => false));
  await isListed('hourly');
  // A worker of the next release may have made others.
  await world.runtime.temporal.client.schedule.create({
    scheduleId: `${world.name}/weekly`,
    spec: { intervals: [{ every: 604_800_000 }] },
    action: { type: 'startWorkflow', workflowType: 'sweepOutbox', taskQueue: `${world.name}/workflows` },
  });
  await isListed('weekly');
  await reload([{ name: 'hourly', workflow: 'sweepOutbox', schedule: 1_800_000 }]);
  await eventually(async () => (await stateOf('hourly')).everyMs?.[0] === 1_800_000);
  await reload([{ name: 'hourly', workflow: 'unknownWork', schedule: 900_000 }]);
  await eventually(() => world.logs.some(({ msg }) => String(msg).startsWith('the schedules could not be changed')));
  expect(await stateOf('hourly')).toMatchObject({ workflow: 'sweepOutbox', everyMs: [1_800_000] });
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: undefined });
  await eventually(() =>
    stateOf('hourly').then(
      () => false,
      () => true,
    ),
  );
  await worker.stop();
  expect(await stateOf('weekly')).toMatchObject({ workflow: 'sweepOutbox' });
  await converge({});
  await expect(describeSchedule('weekly')).rejects.toThrow(/not found/iu);
});

test('a configuration that is reloaded while a worker starts is followed', async () => {
  const { config, runtime } = world;
  const { temporal } = runtime;
  const wanted = wantedSchedules(config.current, temporal);
  await world.reconfigure(periodic({ name: 'hourly', workflow: 'sweepOutbox', schedule: 3_600_000 }));
  const end = await keepSchedules(config, wanted, { temporal, logger: pino({ enabled: false }) });
  await end();
  expect(await stateOf('hourly')).toMatchObject({ everyMs: [3_600_000] });
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: undefined });
  await converge({});
});

test('a schedule that cannot be changed keeps no other from it, and is reported', async () => {
  const { config, runtime } = world;
  const { temporal } = runtime;
  const { schedule } = temporal.client;
  const jobs = ['paused', 'hourly', 'weekly'].map((name) => ({ name, workflow: 'sweepOutbox', schedule: 3_600_000 }));
  await world.reconfigure(periodic(...jobs));
  const getHandle = schedule.getHandle.bind(schedule);
  const spy = vi.spyOn(schedule, 'getHandle').mockImplementation((id) => {
    if (id === `${world.name}/hourly`) throw new Error('refused');
    return getHandle(id);
  });
  const lines: { readonly schedule?: string; readonly level: number }[] = [];
  const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const wanted = wantedSchedules(config.current, temporal);
  await expect(keepSchedules(config, wanted, { temporal, logger })).rejects.toThrow('1 schedules could not be changed');
  spy.mockRestore();
  expect(await stateOf('paused')).toMatchObject({ everyMs: [3_600_000] });
  expect(await stateOf('weekly')).toMatchObject({ everyMs: [3_600_000] });
  await expect(describeSchedule('hourly')).rejects.toThrow(/not found/iu);
  expect(lines).toContainEqual(expect.objectContaining({ level: 50, schedule: `${world.name}/hourly` }));
  await Promise.all(['paused', 'weekly'].map(isListed));
  await world.reconfigure({ CORE_JOBQUEUE_QUEUECONF_PERIODICJOBS: undefined });
  await converge({});
});

test('a run that was missed is made up for within the interval', async () => {
  const daily = { name: 'weekly', workflow: 'sweepOutbox', schedule: 86_400_000 };
  await converge(periodic(daily));
  expect((await describeSchedule('weekly')).policies.catchupWindow).toBe(86_400_000);
  expect((await describeSchedule('sweep-outbox')).policies.catchupWindow).toBe(10_000);
});

describe('pauses', () => {
  test('of TestOnly end when it is off', async () => {
    shows('jobqueue.queueconf.TestOnly');
    const job = periodic({ name: 'paused', workflow: 'sweepOutbox', schedule: 3_600_000 });
    await converge({ ...job, CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' });
    for (const name of ['paused', 'sweep-outbox', 'prune-records'])
      expect(await stateOf(name), name).toMatchObject({ isPaused: true });
    await converge(job);
    for (const name of ['paused', 'sweep-outbox', 'prune-records'])
      expect(await stateOf(name), name).toMatchObject({ isPaused: false });
  });

  test('of an operator outlast the next worker, and TestOnly', async () => {
    await handleOf('prune-records').pause('looking at it');
    await converge({ CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' });
    await converge({});
    expect((await describeSchedule('prune-records')).state).toMatchObject({ paused: true, note: 'looking at it' });
    await handleOf('prune-records').unpause();
  });
});

test('workers that begin together make the schedules once, and one without maintenance leaves them alone', async () => {
  const job = periodic({ name: 'weekly', workflow: 'sweepOutbox', schedule: 3_600_000 });
  await Promise.all([converge(job), converge(job)]);
  expect(await stateOf('weekly')).toMatchObject({ everyMs: [3_600_000] });
  await converge({}, ['email']);
  expect(await stateOf('weekly')).toMatchObject({ everyMs: [3_600_000] });
});

test('Schema is the prefix of queues, workflows and schedules, and keeps installations apart', async () => {
  shows('jobqueue.queueconf.Schema');
  const schema = `${world.name}-other`;
  const other = await world.openInstance({ environment: { CORE_JOBQUEUE_QUEUECONF_SCHEMA: schema } });
  const worker = await other.startWorker();
  const { schedule, workflow } = other.runtime.temporal.client;
  const { action } = await schedule.getHandle(`${schema}/prune-records`).describe();
  expect(action).toMatchObject({ taskQueue: `${schema}/workflows` });
  await runSchedule({ name: schema, runtime: other.runtime }, 'prune-records');
  const [run] = await waitForRuns({ name: schema, runtime: other.runtime }, 'WorkflowType = "pruneRecords"', 1);
  expect(await workflow.getHandle(`${schema}/${run?.id}`).describe()).toMatchObject({
    taskQueue: `${schema}/workflows`,
  });
  expect(run?.searchAttributes).toMatchObject({ TemporalScheduledById: `${schema}/prune-records` });
  // The installation beside it may have run its own schedule at the same time, but not this one.
  for (const { id, searchAttributes } of await runsOf(world)) {
    expect(JSON.stringify(searchAttributes['TemporalScheduledById'] ?? ''), id).not.toContain(`"${schema}/`);
  }
  // The schedules of the installation beside it are still there.
  expect(await stateOf('prune-records')).toMatchObject({ taskQueue: `${world.name}/workflows` });
  await worker.stop();
  await removeSchedules(schema, other.runtime);
});
