import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { armFailpoints, type Failpoint } from '#entities/kit/base/failpoint.ts';
import { newId } from '#entities/kit/base/ids.ts';
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

const rows = () => asOwner(world, 'select id from workflow_wakes');

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

test('a wake that cannot be sent keeps its row, and holds up neither those after it nor other work', async () => {
  const broken = newId();
  await asOwner(
    world,
    `insert into workflow_wakes (id, at, name, workflow_id, signal, input, search)
     values ($1, $2, 'deliverToEndpoint', repeat('x', 10000), 'wake', '{}', '{}')`,
    [broken, new Date(world.clock.now().getTime() - 1)],
  );
  const entityId = await happened('wake-before-signal');
  world.clock.advance(2_000);
  await sweep(world);
  expect(await rows()).toEqual([{ id: broken }]);
  await eventually(async () => (await runs(entityId)).length > 0);
  expect(world.logs).toContainEqual(expect.objectContaining({ msg: 'a workflow is woken later' }));
  await asOwner(world, 'delete from workflow_wakes');
});
