import { afterAll, beforeAll, expect, test } from 'vitest';
import { integration, integrationWebhook, organization, task, webhookEvent } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { doomed, left, remove } from '../../kit/doomed-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';
import type { RunningWorker } from '#worker/start-worker.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** An event that another system has sent to the organization. */
async function receiveEvent(home: string): Promise<void> {
  await asSystem(world, home, async (data) => {
    const { id: integrationId } = await data.create(integration, { name: 'chat' });
    const webhook = await data.create(integrationWebhook, {
      integrationId,
      name: 'events',
      secret: 'x',
      allowedEvents: [],
    });
    const provider = `integration-${webhook.id.toLowerCase()}`;
    await data.create(webhookEvent, { provider, externalId: newId(), type: 'a', document: JSON.stringify({ home }) });
  });
}

const removals = (client: TestClient) =>
  client.graphql(
    '{ organizationRemovals { edges { node { organizationName status totalRecords removedRecords completedAt } } } }',
  );

test('a deleted organization is hidden at once, and its contents are removed when a worker is there', async () => {
  const gone = await doomed(world, 700);
  const { client, owner, id, name } = gone;
  const [one] = (await client.get('/v1/tasks?first=1')).body.data;
  await receiveEvent(id);
  expect((await remove(gone)).status).toBe(204);

  // Nothing of it is reached any more, although most of it is still there.
  expect(await left(world, id)).toMatchObject({ tasks: 700, groups: 3, memberships: 0, received: 1 });
  expectProblem(await client.get(`/v1/organizations/${id}`), 'not_found');
  expectProblem(await client.get(`/v1/tasks/${one.id}`), 'no_current_organization');
  expectProblem(await client.get('/v1/tasks'), 'no_current_organization');
  expectProblem(await client.post('/v1/tasks', { title: 'too late' }), 'no_current_organization');
  expectProblem(await client.post('/v1/switch', { target_organization_id: id }), 'not_found');
  expectGraphqlError(await client.graphql('query ($id: ID!) { node(id: $id) { id } }', { id: one.id }), 'not_found');

  // Its name is free, and whoever deleted it sees what comes of it.
  const again = await signedIn(world, owner);
  expect(
    (
      await again.graphql(
        'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
        {
          name,
        },
      )
    ).errors,
  ).toBeUndefined();
  expect((await removals(again)).data.organizationRemovals.edges).toEqual([
    { node: { organizationName: name, status: 'PENDING', totalRecords: null, removedRecords: 0, completedAt: null } },
  ]);
  expect((await removals(await signedIn(world, await buildPerson(world)))).data.organizationRemovals.edges).toEqual([]);

  const worker = await world.startWorker();
  const done = await eventually(async () => {
    const { body } = await again.get('/v1/organization-removals');
    return body.data[0].status === 'completed' && body.data[0];
  });
  expect(done).toMatchObject({
    organization_name: name,
    removed_organization_id: id,
    total_records: done.removed_records,
    completed_at: expect.any(String),
  });
  expect(done.total_records).toBeGreaterThan(700);
  expect(await left(world, id)).toEqual({ tasks: 0, groups: 0, memberships: 0, tuples: 0, received: 0 });

  // An operator asks the workflow.
  const [removal] = await asOwner<{ id: string }>(
    world,
    'select id from organization_removals where removed_organization_id = $1',
    [id],
  );
  const run = world.runtime.temporal.client.workflow.getHandle(`${world.name}/remove-organization/${removal?.id}`);
  expect(await run.query('progress')).toEqual({
    totalRecords: done.total_records,
    removedRecords: done.total_records,
    isCompleted: true,
  });
  await worker.stop();
});

test('a removal goes on where a worker has left off, and others do not notice', async () => {
  const [gone, other] = [await doomed(world, 1_500), await doomed(world, 20)];
  let worker: RunningWorker = await world.startWorker();
  // Both got the tasks that are suggested to a new organization.
  await eventually(
    async () => (await left(world, other.id))['tasks'] === 24 && (await left(world, gone.id))['tasks'] === 1_504,
  );
  const before = await left(world, other.id);
  expect(await remove(gone)).toMatchObject({ status: 204 });
  await eventually(async () => (await left(world, gone.id))['tasks'] !== 1_504);
  await worker.stop();
  worker = await world.startWorker();
  await eventually(async () => (await left(world, gone.id))['tuples'] === 0);
  expect(await left(world, gone.id)).toEqual({ tasks: 0, groups: 0, memberships: 0, tuples: 0, received: 0 });
  expect(await left(world, other.id)).toEqual(before);
  expect((await other.client.get('/v1/tasks?first=1')).body.data).toHaveLength(1);
  await eventually(async () => {
    const rows = await asOwner<{ status: string }>(
      world,
      `select status from organization_removals where status <> 'completed'`,
    );
    return rows.length === 0;
  });
  await worker.stop();
});

test('organizations below it go with it', async () => {
  const gone = await doomed(world, 3);
  const below = await world.runtime.database.transact(
    { caller: systemCaller('test'), requestId: newId() },
    ({ data }) => data.create(organization, { name: `Below ${gone.name}`, parentId: gone.id }),
  );
  await asSystem(world, below.id, (data) => data.create(task, { title: 'below' }));
  const worker = await world.startWorker();
  expect(await remove(gone)).toMatchObject({ status: 204 });
  await eventually(
    async () => (await left(world, below.id))['tasks'] === 0 && (await left(world, gone.id))['tasks'] === 0,
  );
  const again = await signedIn(world, gone.owner);
  await eventually(async () => {
    const { edges } = (await removals(again)).data.organizationRemovals;
    return edges.length === 2 && edges.every((edge: { node: { status: string } }) => edge.node.status === 'COMPLETED');
  });
  await worker.stop();
});
