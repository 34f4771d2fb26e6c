import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { edgesOf } from '#entities/automation/document/automated-kinds.ts';
import type { Action, DefinitionDocument, Trigger } from '#entities/automation/document/definition-document.ts';
import { group, registry, workflowInstance, workflowVersion } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { runSchedule, sweep } from '../../kit/sweep.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

let owner: Person;
let client: TestClient;
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

const tell: Action = {
  key: 'tell',
  type: 'NOTIFY',
  params: { targets: [{ type: 'ROLE', id: 'owner' }], title: { expr: 'event_type + " " + object.title' } },
};

const publish = (triggers: readonly Trigger[], more: Partial<DefinitionDocument> = {}) =>
  publishedVersion(world, owner, { schemaType: 'Task', triggers, actions: [tell], ...more });

const createTask = async (values: object = {}): Promise<string> =>
  (await client.post('/v1/tasks', { title: 'Review', ...values })).body.id;
const patch = (id: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });

const statuses = async () => {
  await eventually(() => isSettled(world));
  const rows = await asOwner<{ status: string }>(
    world,
    'select status from workflow_instances where organization_id = $1 order by id',
    [owner.organization.id],
  );
  return rows.map(({ status }) => status);
};
const ended = (expected: readonly string[]) =>
  eventually(async () => JSON.stringify(await statuses()) === JSON.stringify(expected));

const titles = async () => {
  const rows = await asOwner<{ title: string }>(
    world,
    `select title from notifications where organization_id = $1 and topic = 'workflow_instance.messaged' order by id`,
    [owner.organization.id],
  );
  return rows.map(({ title }) => title);
};

test('new and deleted records start workflows, which know the last values of a deleted one', async () => {
  await publish([{ operation: 'CREATE' }, { operation: 'DELETE' }]);
  const id = await createTask();
  await ended(['completed']);
  await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
  await ended(['completed', 'completed']);
  await eventually(async () => (await titles()).length === 2);
  expect(await titles()).toEqual(['CREATE Review', 'DELETE Review']);
});

test('a new link starts the workflow of a trigger that names the link', async () => {
  await publish([{ operation: 'UPDATE', edges: ['groups'], expression: `size(added_ids['groups']) == 1` }]);
  const id = await createTask();
  await patch(id, { title: 'Reviewed' });
  await asSystem(world, owner.organization.id, async (data) => {
    const { id: groupId } = await data.create(group, { organizationId: owner.organization.id, name: 'Reviewers' });
    const edge = edgesOf(registry, registry.byKind('task')).find(({ name }) => name === 'groups');
    await data.create(edge?.through as typeof group, { taskId: id, groupId } as never);
  });
  await ended(['completed']);
});

test('a selector of groups and tags narrows which records start a workflow', async () => {
  const { body: reviewers } = await client.post('/v1/groups', { name: 'Reviewers' });
  const { body: urgent } = await client.post('/v1/tags', { name: 'urgent' });
  const selector = { groupIds: [reviewers.id], tagIds: [urgent.id] };
  await publish([{ operation: 'UPDATE', fields: ['status'], selector }]);
  await patch(await createTask({ tags: ['urgent'] }), { status: 'completed' });
  const shared = await createTask({ tags: ['urgent'] });
  await client.post('/v1/task-shares', { task_id: shared, group_id: reviewers.id, relation: 'viewer' });
  expect(await statuses()).toEqual([]);
  await patch(shared, { status: 'completed' });
  await ended(['completed']);
});

test('a deleted record is selected by the groups with which it was shared, and its people are known', async () => {
  const ids: string[] = [];
  for (const name of ['Former', 'Current'])
    ids.push((await client.post('/v1/groups', { name: `${name} ${newId()}` })).body.id);
  const [former, current] = ids;
  const share = async (taskId: string, groupId: string | undefined) =>
    (await client.post('/v1/task-shares', { task_id: taskId, group_id: groupId, relation: 'viewer' })).body.id;
  const told = [
    { type: 'RESOLVER', resolver_key: 'OBJECT_CREATOR' },
    { type: 'RESOLVER', resolver_key: 'ASSIGNEE' },
  ] as const;
  const actions = [{ ...tell, params: { targets: told, title: { expr: 'object.title' } } }] as const;
  await publish([{ operation: 'DELETE', selector: { groupIds: [former as string] } }], { actions });
  await publish([{ operation: 'DELETE', selector: { groupIds: [current as string] } }], { actions });
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const id = await createTask({ assignee_id: colleague.user.id });
  await client.mutate({ method: 'DELETE', url: `/v1/task-shares/${await share(id, former)}` });
  world.clock.advance(1_000);
  await share(id, current);
  await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
  await ended(['completed']);
  const people = async () =>
    (
      await asOwner<{ id: string }>(
        world,
        `select user_id as id from notifications where organization_id = $1 and topic = 'workflow_instance.messaged'`,
        [owner.organization.id],
      )
    ).map(({ id: userId }) => userId);
  await eventually(async () => (await people()).length === 2);
  expect((await people()).toSorted()).toEqual([owner.user.id, colleague.user.id].toSorted());
});

test('without a history, deletions and ended links have the last values', async () => {
  await world.reconfigure({ CORE_DB_ENABLEHISTORY: 'false' });
  try {
    await publish([{ operation: 'DELETE', expression: 'object.priority == 70' }]);
    await publish([{ operation: 'UPDATE', edges: ['groups'], expression: `size(removed_ids['groups']) == 1` }]);
    const { body: team } = await client.post('/v1/groups', { name: `Team ${newId()}` });
    const id = await createTask({ priority: 70, add_group_ids: [team.id] });
    await patch(id, { remove_group_ids: [team.id] });
    await ended(['completed']);
    await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
    await ended(['completed', 'completed']);
  } finally {
    await world.reconfigure({ CORE_DB_ENABLEHISTORY: undefined });
  }
});

test('an expression that fails starts nothing, and the person who published it learns of it', async () => {
  const version = await publish([{ operation: 'UPDATE', expression: 'object.tags[5] == "x"' }]);
  const id = await createTask();
  await patch(id, { status: 'completed' });
  expect(await statuses()).toEqual([]);
  const [event] = await asOwner<{ payload: object }>(
    world,
    `select payload from events where topic = 'workflow_definition.evaluation_failed' and entity_id = $1`,
    [version.definitionId],
  );
  expect(event?.payload).toMatchObject({ number: 1, recordId: id, userIds: [owner.user.id] });
});

test('an event meets the version that was in force when it happened', async () => {
  const later = await publish([{ operation: 'UPDATE', fields: ['status'] }]);
  const at = (ms: number) => new Date(world.clock.now().getTime() + ms);
  await asOwner(world, 'update workflow_versions set published_at = $2 where id = $1', [later.id, at(60_000)]);
  const id = await createTask();
  await patch(id, { status: 'in_progress' });
  expect(await statuses()).toEqual([]);
  world.clock.advance(120_000);
  await patch(id, { status: 'in_review' });
  await ended(['completed']);
  await asSystem(world, owner.organization.id, (data) =>
    data.update(workflowVersion, later.id, { endedAt: world.clock.now() }),
  );
  world.clock.advance(1_000);
  await patch(id, { status: 'completed' });
  expect(await statuses()).toEqual(['completed']);
});

test('actions start a limited number of workflows of an organization in an hour', async () => {
  const raise: Action = { key: 'raise', type: 'UPDATE_FIELD', params: { updates: { priority: 50 } } };
  const first = await publish([{ operation: 'UPDATE', fields: ['status'] }], { actions: [raise] });
  await publish([{ operation: 'UPDATE', fields: ['priority'] }]);
  const started = (count: number) =>
    asSystem(world, owner.organization.id, async (data) => {
      const about = { definitionId: first.definitionId, versionId: first.id, recordKind: 'task', chain: [newId()] };
      const ended = { status: 'rejected', endedAt: world.clock.now() };
      const inputs = Array.from({ length: count }, () => ({ ...about, ...ended, subjectId: newId() }));
      await data.createAll(inputs.map((input) => ({ module: workflowInstance, input, path: '', isGranted: true })));
    });
  const others = async () => (await statuses()).filter((status) => status !== 'rejected');
  await started(1_000);
  world.clock.advance(61 * 60_000);
  client = await signedIn(world, owner);
  await started(999);
  await patch(await createTask(), { status: 'completed' });
  await eventually(async () => (await others()).join() === 'completed,completed');
  const id = await createTask();
  await patch(id, { status: 'completed' });
  await eventually(async () => (await client.get(`/v1/tasks/${id}`)).body.priority === 50);
  expect(await others()).toHaveLength(3);
});

test('while workflows are off, nothing starts and open instances wait', async () => {
  const targets = [{ type: 'ROLE', id: 'owner' }] as const;
  const look: Action = { key: 'look', type: 'REQUEST_REVIEW', params: { targets } };
  await publish([{ operation: 'UPDATE', fields: ['status'] }], { actions: [look, tell] });
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const theirs = await signedIn(world, colleague);
  const id = await createTask({ assignee_id: colleague.user.id });
  await theirs.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { status: 'completed' } });
  await ended(['waiting']);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: undefined });
  const other = await createTask({ assignee_id: colleague.user.id });
  await patch(other, { status: 'completed' });
  expect(await statuses()).toEqual(['waiting']);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  await patch(other, { status: 'open' });
  await ended(['waiting', 'waiting']);
});

test('an instance whose workflow was terminated is brought back by the sweep', async () => {
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  const look: Action = {
    key: 'look',
    type: 'REQUEST_REVIEW',
    params: { targets: [{ type: 'USER', id: colleague.user.id }], due_in: '1h', on_due: 'APPROVE' },
  };
  await publish([{ operation: 'UPDATE', fields: ['status'] }], { actions: [look, tell] });
  await patch(await createTask({ assignee_id: colleague.user.id }), { status: 'completed' });
  await ended(['waiting']);
  const [instance] = await asOwner<{ id: string }>(
    world,
    'select id from workflow_instances where organization_id = $1',
    [owner.organization.id],
  );
  const { client: temporal } = world.runtime.temporal;
  await temporal.workflow.getHandle(`${world.name}/workflow/${instance?.id}`).terminate('test');
  world.clock.advance(2 * 3_600_000);
  // The wake is kept with the sweep, and sent by the next one of the outbox.
  await runSchedule(world, 'sweep-instances');
  world.clock.advance(60_000);
  await sweep(world);
  await ended(['completed']);
});
