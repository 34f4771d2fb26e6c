import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { armFailpoints, type Failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { keepWakes } from '#entities/kit/outbox/workflow-wakes.ts';
import { wakeOf } from '#activities/kit/wake-of.ts';
import { workTool } from '#tools/commands/work-arguments.ts';
import { runWorkCommand } from '#tools/commands/work-commands.ts';
import { readCommand } from '#tools/commands/tool.ts';
import { reconcileEntitlementsContract } from '#workflows/billing/reconcile-entitlements.contract.ts';
import { deliverToEndpointContract } from '#workflows/webhooks/deliver-to-endpoint.contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { announce, isSettled, notingListener } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { runsOf } from '../../kit/runs.ts';
import { sweep } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Wakes the workflow of an endpoint that does not exist: it looks at its rows, finds nothing and ends. */
const waking = notingListener('waking', ['waking.happened'], ({ event, wake }) =>
  wake(deliverToEndpointContract, { endpointId: event.entityId, organizationId: newId() }),
);

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [waking],
    environment: { CORE_JOBQUEUE_QUEUECONF_RESCUESTUCKJOBSAFTER: '1000' },
  });
});
afterEach(() => armFailpoints([]));
afterAll(() => world.close());

const rows = () => asOwner<{ id: string }>(world, 'select id from workflow_wakes');

/** Announces an event, whose delivery passes the failpoint. @returns id of its record */
async function happened(name?: Failpoint): Promise<string> {
  const entityId = newId();
  if (name) armFailpoints([{ name, action: 'throw', after: 0 }]);
  await announce(world, [{ topic: 'waking.happened', entityId }]);
  await eventually(() => isSettled(world));
  armFailpoints([]);
  return entityId;
}

const runs = async (entityId: string) =>
  (await runsOf(world, 'WorkflowType = "deliverToEndpoint"')).filter(({ id }) => id === `webhook/${entityId}`);

test('a workflow is woken after the commit of the listener, and nothing is left of it', async () => {
  const entityId = await happened();
  await eventually(async () => (await runs(entityId)).length > 0);
  await eventually(async () => (await rows()).length === 0);
});

test.each(['wake-before-signal', 'wake-after-signal'] as const)(
  'a wake that ends at %s is sent by the sweep',
  async (name) => {
    const entityId = await happened(name);
    expect(await rows()).toHaveLength(1);
    // The delivery itself has been committed.
    expect(world.logs.filter(({ msg }) => String(msg).startsWith('events could not be delivered'))).toEqual([]);
    world.clock.advance(2_000);
    await sweep(world);
    expect(await rows()).toEqual([]);
    await eventually(async () => (await runs(entityId)).length > 0);
  },
);

/** A wake whose workflow id is too long for Temporal, kept for a while. */
const keepBroken = (id: string) =>
  asOwner(
    world,
    `insert into workflow_wakes (id, at, name, workflow_id, signal, input, search, attempts, next_attempt_at)
     values ($1, $2, 'deliverToEndpoint', repeat('x', 10000), 'wake', '{}', '{}', 0, $2)`,
    [id, new Date(world.clock.now().getTime() - 1)],
  );

async function command(...words: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const print = (text: string) => lines.push(text);
  await runWorkCommand(readCommand(workTool, words), { runtime: world.runtime, temporalUi: undefined, print });
  return lines.join('\n');
}

test('wakes that Temporal refuses keep their rows, and hold up neither those after them nor other work', async () => {
  const broken = Array.from({ length: 101 }, () => newId());
  for (const id of broken) await keepBroken(id);
  const entityId = await happened('wake-before-signal');
  world.clock.advance(2_000);
  await sweep(world);
  expect((await rows()).map(({ id }) => id).toSorted()).toEqual(broken.toSorted());
  await eventually(async () => (await runs(entityId)).length > 0);
  expect(world.logs).toContainEqual(expect.objectContaining({ msg: 'a workflow is woken later' }));
  await asOwner(world, 'delete from workflow_wakes');
});

test('what is repeated is woken once, however often it is asked for while Temporal is away; what follows a change is always kept', async () => {
  const organizationId = newId();
  const wake = () => wakeOf(reconcileEntitlementsContract, { organizationId }, { OrganizationId: [organizationId] });
  const keep = (options: { readonly unlessKept?: boolean }, one = wake()) =>
    world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
      keepWakes(unit, [one], options),
    );
  for (let n = 0; n < 3; n++) await keep({ unlessKept: true });
  expect(await rows()).toHaveLength(1);
  await keep({ unlessKept: true }, { ...wake(), signal: 'compare' });
  expect(await rows()).toHaveLength(2);
  await keep({});
  expect(await rows()).toHaveLength(3);
  await asOwner(world, 'delete from workflow_wakes');
});

test('a wake that is refused waits longer each time, and operators see it, retry it and give it up', async () => {
  const id = newId();
  await keepBroken(id);
  const attempts = async () => (await asOwner(world, 'select attempts from workflow_wakes'))[0]?.['attempts'];
  const pass = async (ms: number) => {
    world.clock.advance(ms);
    await sweep(world);
    return attempts();
  };
  // Pauses of 10, 20, 40 and 80 seconds; a sweep looks at what is overdue for a second.
  expect(await pass(2_000)).toBe(1);
  expect(await pass(9_000)).toBe(1);
  for (const [n, seconds] of [12, 22, 42].entries()) expect(await pass(seconds * 1_000)).toBe(n + 2);
  expect(await command('list')).not.toContain(id);
  expect(await pass(82_000)).toBe(5);
  const listed = await command('list', '--kind', 'other');
  expect(listed).toContain(`wake.${id}  other  failing  5 attempts`);
  expect(listed).toMatch(/WorkflowId/i);
  await command('retry', `wake.${id}`, '--reason', 'Temporal is set up anew');
  expect(await pass(2_000)).toBe(6);
  await command('stop', `wake.${id}`, '--reason', 'nobody waits for it');
  expect(await rows()).toEqual([]);
  expect(await command('list')).toBe('No work fails or waits.');
});
