// Left to npm run prove; npm test has test/workflows/events/failing-listener.test.ts.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { runEventCommand } from '#tools/commands/event-commands.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce, isSettled, notingListener } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { runsOf, waitForRuns } from '../../kit/runs.ts';
import { sweep } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** What the release does that fails. */
let fails: (entityId: string) => boolean = () => false;
const released = notingListener('released', ['release.changed', 'release.withdrawn'], ({ event }) => {
  if (fails(event.entityId)) throw new Error('a bad release');
});
const beside = notingListener('beside', ['release.changed']);
let world: World;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [released, beside],
    environment: {
      CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1',
      CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1',
      CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true',
    },
  });
});
afterAll(() => world.close());
beforeEach(() => {
  fails = () => false;
  released.seen.length = 0;
});

const records = (count: number) => Array.from({ length: count }, () => newId());
/** To both listeners. */
const changed = (entityIds: readonly string[], recordVersion: number) =>
  announce(
    world,
    entityIds.map((entityId) => ({ topic: 'release.changed', entityId, recordVersion })),
  );
/** To the one that fails. */
const withdrawn = (entityIds: readonly string[], organizationId: string) =>
  announce(
    world,
    entityIds.map((entityId) => ({ topic: 'release.withdrawn', entityId, organizationId })),
  );

async function states(): Promise<Record<string, number>> {
  const rows = await asOwner<{ state: string; count: number }>(
    world,
    `select state, count(*)::int as count from event_deliveries where listener = 'released' group by state`,
  );
  return Object.fromEntries(rows.map(({ state, count }) => [state, count]));
}

async function listed(): Promise<string> {
  const lines: string[] = [];
  await runEventCommand(
    { name: 'list', selection: { states: ['failing', 'held'], listener: 'released' }, limit: 5 },
    { runtime: world.runtime, print: (line) => lines.push(line) },
  );
  return lines.join('\n');
}

const retryFailing = async () => {
  for (const { id } of await runsOf(world, 'WorkflowType = "deliverEvent" AND ExecutionStatus = "Running"'))
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/${id}`).signal('retryDelivery');
};
/** The list of runs may show some that have just ended. */
const retryUntilDone = () =>
  eventually(async () => {
    await retryFailing().catch(() => {});
    return Object.keys(await states()).join() === 'done';
  });
/** Its workflow is started soon after it is held. */
const probe = () =>
  eventually(async () => {
    await world.runtime.temporal.client.workflow.getHandle(`${world.name}/listener/released`).signal('probeListener');
    return true;
  });
const isHeld = async () => (await asOwner(world, `select 1 from listener_states where held_at is not null`)).length > 0;

test('a listener that fails on everything is held by one workflow, however many events come, and gets all of them in order when it works', async () => {
  fails = () => true;
  const entityIds = records(120);
  for (const version of [1, 2, 3]) await changed(entityIds, version);
  await eventually(() => isSettled(world));
  expect(await isHeld()).toBe(true);

  // The first ones have failed by themselves; four records are tried at the same time.
  const failing = (await states())['failing'] ?? 0;
  expect(failing).toBeGreaterThanOrEqual(20);
  expect(failing).toBeLessThan(30);
  expect(await states()).toEqual({ failing, held: 360 - failing });
  // The list follows the truth by a moment.
  const own = await eventually(async () => {
    const runs = await runsOf(world, 'WorkflowType = "deliverEvent"');
    return runs.length >= failing && runs;
  });
  expect(own).toHaveLength(failing);
  const [held, ...others] = await waitForRuns(world, 'WorkflowType = "probeListener"', 1);
  expect(held).toMatchObject({
    id: 'listener/released',
    status: 'RUNNING',
    searchAttributes: { EntityKind: 'listener', EntityId: 'released' },
  });
  expect(others).toEqual([]);
  expect(await listed()).toMatch(
    new RegExp(
      String.raw`^listener released fails on everything with Error since \S+: ${360 - failing} deliveries wait, \d+ probes, workflow ${world.name}/listener/released$`,
      'm',
    ),
  );
  // Other listeners go on, and what is held is in order.
  expect(beside.seen.length).toBeGreaterThanOrEqual(360);
  await sweep(world);
  expect((await states())['held']).toBe(360 - failing);
  expect(await verifyInstallation(world.runtime, { isQuiet: false })).toEqual([]);

  fails = () => false;
  await probe();
  await eventually(async () => !(await isHeld()));
  await retryFailing();
  await eventually(async () => (await states())['done'] === 360);
  for (const entityId of entityIds) {
    const versions = released.seen.filter((event) => event.entityId === entityId).map((event) => event.recordVersion);
    expect(versions.filter((version, index) => versions.lastIndexOf(version) === index)).toEqual([1, 2, 3]);
  }
  expect(await listed()).not.toContain('fails on everything');
  await eventually(
    async () => (await runsOf(world, 'WorkflowType = "probeListener" AND ExecutionStatus = "Running"')).length === 0,
  );
});

test('what fails for one organization holds nobody else', async () => {
  const [bad, good] = [newId(), newId()];
  await withdrawn(records(1), good);
  const broken = new Set(records(45));
  fails = (entityId) => broken.has(entityId);
  await withdrawn([...broken], bad);
  await eventually(() => isSettled(world));
  expect(await isHeld()).toBe(false);
  expect((await states())['failing']).toBe(45);
  const [other = ''] = records(1);
  await withdrawn([other], good);
  await eventually(() => released.seen.some(({ entityId }) => entityId === other));
  broken.clear();
  await retryUntilDone();
});

test('a listener that is held again while its events are given back is probed again', async () => {
  fails = () => true;
  // More than twice as many organizations as hold it: enough of them are left for the second time.
  for (const organizationId of records(12)) await withdrawn(records(24), organizationId);
  await eventually(async () => (await isHeld()) && isSettled(world));
  const { failing = 0 } = await states();
  // The probe succeeds once, and nothing else does: the workflows of those that fail do not try what waits.
  const waiting = await asOwner<{ id: string }>(
    world,
    `select entity_id as id from event_deliveries where listener = 'released' and state = 'held'`,
  );
  const held = new Set(waiting.map(({ id }) => id));
  let successes = 1;
  fails = (entityId) => !held.has(entityId) || successes-- <= 0;
  await probe();
  await eventually(
    async () => ((await states())['failing'] ?? 0) >= failing + 20 && (await isHeld()) && isSettled(world),
  );
  expect((await states())['held']).toBeGreaterThan(0);

  fails = () => false;
  await eventually(async () => !(await isHeld()), 60_000);
  await retryUntilDone();
  // Terminated by nobody, and no longer than its work.
  await eventually(
    async () => (await runsOf(world, 'WorkflowType = "probeListener" AND ExecutionStatus = "Running"')).length === 0,
  );
});

test('a wait that is older than events are kept ends, and the others are given back', async () => {
  fails = () => true;
  const entityIds = records(260);
  for (const organizationId of records(5)) await withdrawn(entityIds.splice(0, 52), organizationId);
  await eventually(isHeld);
  await eventually(() => isSettled(world));
  // As if the days of these events had been removed.
  await asOwner(
    world,
    `delete from events e using event_deliveries d where d.listener = 'released' and d.state = 'held' and d.event_id = e.id
       and d.entity_id in (select entity_id from event_deliveries where listener = 'released' and state = 'held'
         order by entity_id limit 210)`,
  );
  fails = () => false;
  await probe();
  await eventually(async () => (await states())['held'] === undefined, 60_000);
  await retryUntilDone();
});

test('a listener is held when its workflow was terminated, until the sweep has started another one', async () => {
  fails = () => true;
  for (const organizationId of records(5)) await withdrawn(records(8), organizationId);
  await eventually(async () => (await isHeld()) && isSettled(world));
  const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/listener/released`);
  await waitForRuns(world, 'WorkflowType = "probeListener" AND ExecutionStatus = "Running"', 1);
  await handle.terminate();
  expect(await verifyInstallation(world.runtime, { isQuiet: true })).toContainEqual(
    expect.stringContaining(
      `listener released is held, but its workflow ${world.name}/listener/released is TERMINATED`,
    ),
  );
  fails = () => false;
  await sweep(world);
  await eventually(async () => !(await isHeld()));
  await retryUntilDone();
});
