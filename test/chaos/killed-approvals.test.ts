import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { gateOf, publishGate } from '../kit/automation/publish-gate.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

const tasks = 4;

/** Where the worker dies, one life after the other, with the steps that it survives: the first one asks about all changes. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['instance-step-before-commit', tasks],
  ['instance-step-after-commit', 0],
  ['instance-step-before-commit', 1],
  ['instance-step-after-commit', 1],
];

let world: World;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  product = await ProductProcesses.start(world, [worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
});
afterAll(async () => {
  await product.close();
  await world.close();
});

test('killed while approved changes are written: each is written once, and its proposal says so', async () => {
  const owner = await buildPerson(world);
  const approver = await buildPerson(world, { organization: owner.organization, role: 'owner' });
  const [client, other] = [await signedIn(world, owner), await signedIn(world, approver)];
  await publishGate(world, owner.organization.id, gateOf({}));
  const ids: string[] = [];
  for (let n = 0; n < tasks; n++) {
    const { body } = await client.post('/v1/tasks', { title: `task ${n}`, assignee_id: approver.user.id });
    ids.push(body.id);
    const held = await client.mutate({
      method: 'PATCH',
      url: `/v1/tasks/${body.id}`,
      payload: { status: 'completed' },
    });
    expect(held.status).toBe(202);
  }
  const asked: { id: string }[] = await eventually(async () => {
    const { body } = await other.get('/v1/workflow-assignments/mine');
    return body.data.length === tasks && body.data;
  });
  for (const { id } of asked) expect((await other.post(`/v1/workflow-assignments/${id}/approve`)).status).toBe(200);
  await product.places[0]?.untilFirstLivesEnded();
  await eventually(async () => {
    const rows = await asOwner(world, `select 1 from workflow_instances where status = 'completed'`);
    return rows.length === tasks;
  });
  const written = await asOwner(
    world,
    `select h.entity_id as id, h.snapshot ->> 'status' as status, h.actor from history h
     where h.entity_kind = 'task' and h.operation = 'updated' order by h.entity_id`,
  );
  expect(written).toEqual(
    ids.toSorted().map((id) => ({ id, status: 'completed', actor: expect.stringContaining(owner.user.id) })),
  );
  const proposals = await asOwner(world, 'select status from task_proposals');
  expect(proposals).toEqual(ids.map(() => ({ status: 'applied' })));
  const applied = await asOwner(world, `select instance_id from workflow_events where type = 'proposal_applied'`);
  expect(new Set(applied.map((row) => row['instance_id'])).size).toBe(tasks);
  expect(applied).toHaveLength(tasks);
  product.refuseCrashes();
  recordTried('kills while approved changes are written', product.places[0]?.deaths ?? 0);
});
