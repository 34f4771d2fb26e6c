import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { asOwner } from '../kit/as-owner.ts';
import { publishedVersion } from '../kit/automation/published-version.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import type { TestClient } from '../kit/test-client.ts';
import { recordTried } from '../kit/tried.ts';
import { openWorld, type World } from '../kit/world.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** Where the worker dies, one life after the other, with the steps that it survives. */
const deaths: readonly (readonly [Failpoint, number])[] = [
  ['instance-step-before-commit', 0],
  ['instance-step-after-commit', 1],
  ['instance-step-before-commit', 2],
  ['instance-step-after-commit', 3],
];

const tasks = 6;

let world: World;
let owner: Person;
let client: TestClient;
let product: ProductProcesses;
beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  product = await ProductProcesses.start(world, [worker], {
    [worker]: deaths.map(([name, passes]) => ({ FAILPOINTS: `${name}=kill@${passes}` })),
  });
});
afterAll(async () => {
  await product.close();
  await world.close();
});

test('killed before and after the commit of steps: every action of every instance has its effect once', async () => {
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
  await publishedVersion(world, owner, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'] }],
    actions: [
      { key: 'raise', type: 'UPDATE_FIELD', params: { updates: { priority: { expr: 'object.priority + 1' } } } },
      {
        key: 'tell',
        type: 'NOTIFY',
        params: { targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }], title: { expr: 'object.title' } },
      },
      {
        key: 'follow',
        type: 'CREATE_OBJECT',
        params: { object_type: 'Task', fields: { title: { expr: '"After " + object.title' } } },
      },
    ],
  });
  const titles = Array.from({ length: tasks }, (_, n) => `task ${n}`);
  for (const title of titles) {
    const { body } = await client.post('/v1/tasks', { title, assignee_id: colleague.user.id });
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { status: 'completed' } });
  }
  await product.places[0]?.untilFirstLivesEnded();
  await eventually(async () => {
    const rows = await asOwner(world, `select 1 from workflow_instances where status = 'completed'`);
    return rows.length === tasks;
  });
  const found = await asOwner<{ title: string; priority: number; count: number }>(
    world,
    'select title, max(priority) as priority, count(*)::int as count from tasks where organization_id = $1 group by title',
    [owner.organization.id],
  );
  const byTitle = new Map(found.map(({ title, ...rest }) => [title, rest]));
  for (const title of titles) {
    expect(byTitle.get(title)).toEqual({ priority: 1, count: 1 });
    expect(byTitle.get(`After ${title}`)).toEqual({ priority: 0, count: 1 });
  }
  await eventually(async () => {
    const told = await asOwner<{ title: string }>(
      world,
      `select title from notifications where topic = 'workflow_instance.messaged'`,
    );
    return told.length === tasks && new Set(told.map(({ title }) => title)).size === tasks;
  });
  const steps = await asOwner<{ count: number }>(
    world,
    `select count(*)::int as count from workflow_events group by instance_id`,
  );
  expect(steps.map(({ count }) => count)).toEqual(Array.from({ length: tasks }, () => 5));
  product.refuseCrashes();
  recordTried('kills while instances of definitions run', product.places[0]?.deaths ?? 0);
});
