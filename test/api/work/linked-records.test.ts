import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

async function created(by: TestClient, path: string, input: object): Promise<string> {
  const { status, body } = await by.post(`/v1/${path}`, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const patch = (by: TestClient, url: string, payload: object): Promise<TestAnswer> =>
  by.mutate({ method: 'PATCH', url, payload });

async function groupsOf(by: TestClient, task: string): Promise<string[]> {
  const { data } = await by.graphql(
    'query ($id: ID!) { task(id: $id) { groups { totalCount edges { node { id } } } } }',
    {
      id: task,
    },
  );
  const { totalCount, edges } = data.task.groups;
  expect(totalCount).toBe(edges.length);
  return edges.map(({ node }: { node: { id: string } }) => node.id);
}

describe('records are linked', () => {
  test('at creation and by changes of either side, and listed on both', async () => {
    const [one, two] = [
      await created(client, 'groups', { name: 'group one' }),
      await created(client, 'groups', { name: 'group two' }),
    ];
    const task = await created(client, 'tasks', { title: 'linked', add_group_ids: [one] });
    expect(await groupsOf(client, task)).toEqual([one]);
    // One that is linked already stays so.
    expect((await patch(client, `/v1/tasks/${task}`, { add_group_ids: [one, two] })).status).toBe(200);
    expect(await groupsOf(client, task)).toEqual([one, two]);
    const answer = await client.graphql(
      `mutation ($id: ID!, $task: ID!) { updateGroup(id: $id, input: { description: "busy", removeTaskIds: [$task] }) {
        group { description tasks { totalCount } } } }`,
      { id: one, task },
    );
    expect(answer.data.updateGroup.group).toEqual({ description: 'busy', tasks: { totalCount: 0 } });
    expect(await groupsOf(client, task)).toEqual([two]);
    const { data } = await client.graphql(
      `mutation ($group: ID!) { createTask(input: { title: "other", addGroupIds: [$group] }) { createdId task { groups { edges { node { name } } } } }
        createBulkTask(inputs: [{ title: "bulk", addGroupIds: [$group] }]) { tasks { groups { totalCount } } } }`,
      { group: one },
    );
    expect(data.createTask.task.groups.edges).toEqual([{ node: { name: 'group one' } }]);
    expect(data.createBulkTask.tasks).toEqual([{ groups: { totalCount: 1 } }]);
    const listed = await client.get(`/v1/tasks?group_id=${one}&order_by=title`);
    expect(listed.body.data.map(({ title }: { title: string }) => title)).toEqual(['bulk', 'other']);
    const filtered = await client.graphql(
      'query ($id: ID!) { groups(where: { tasks: { id: { eq: $id } } }) { edges { node { id } } } }',
      { id: task },
    );
    expect(filtered.data.groups.edges).toEqual([{ node: { id: two } }]);
    const bulk = await client.graphql(
      'mutation ($ids: [ID!]!, $group: ID!) { updateBulkTask(ids: $ids, input: { addGroupIds: [$group] }) { updatedIds tasks { groups { totalCount } } } }',
      { ids: [task, data.createTask.createdId], group: one },
    );
    expect(bulk.data.updateBulkTask.tasks).toEqual([{ groups: { totalCount: 2 } }, { groups: { totalCount: 1 } }]);
  });

  test('and read in one statement, whatever their number', async () => {
    const group = await created(client, 'groups', { name: 'many' });
    for (let index = 0; index < 3; index++)
      await created(client, 'tasks', { title: `t${index}`, add_group_ids: [group] });
    statements.length = 0;
    const { data } = await client.graphql(
      '{ tasks { edges { node { groups { edges { node { tasks { totalCount } } } } } } } }',
    );
    expect(data.tasks.edges).toHaveLength(3);
    expect(statements.filter((text) => text.includes('row_to_json'))).toHaveLength(1);
  });

  test('with history, and the links end with either record', async () => {
    const group = await created(client, 'groups', { name: 'short-lived' });
    const task = await created(client, 'tasks', { title: 'lasting', add_group_ids: [group] });
    await client.mutate({ method: 'DELETE', url: `/v1/groups/${group}` });
    expect(await groupsOf(client, task)).toEqual([]);
    expect(await asOwner(world, 'select 1 from task_groups where task_id = $1 and deleted_at is null', [task])).toEqual(
      [],
    );
    const { data } = await client.graphql(
      '{ taskGroupHistories { edges { node { operation taskId groupId actorUser { id } } } } }',
    );
    const by = { taskId: task, groupId: group, actorUser: { id: owner.user.id } };
    expect(data.taskGroupHistories.edges.map(({ node }: { node: object }) => node)).toEqual([
      { operation: 'CREATED', ...by },
      { operation: 'DELETED', ...by },
    ]);
  });
});

describe('the right to link records', () => {
  test('is the right to edit one side and to view the other', async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const theirs = await signedIn(world, person);
    const hidden = await created(client, 'groups', { name: 'hidden' });
    const shown = await created(client, 'groups', { name: 'shown' });
    await client.post('/v1/group-memberships', { group_id: shown, user_id: person.user.id });
    const own = await created(theirs, 'tasks', { title: 'own' });
    const foreign = await created(client, 'tasks', { title: 'foreign', add_group_ids: [shown, hidden] });
    // A group that they do not see is not there; nothing of the change is kept.
    const refused = await patch(theirs, `/v1/tasks/${own}`, { title: 'changed', add_group_ids: [shown, hidden] });
    expectProblem(refused, 'not_found');
    expect(refused.body.errors[0].path).toMatch(/^\/add_group_ids\/1/);
    expect((await theirs.get(`/v1/tasks/${own}`)).body.title).toBe('own');
    expectProblem(await theirs.post('/v1/tasks', { title: 'new', add_group_ids: [hidden] }), 'not_found');
    expect((await patch(theirs, `/v1/tasks/${own}`, { add_group_ids: [shown] })).status).toBe(200);
    expect(await groupsOf(theirs, own)).toEqual([shown]);
    // They see the group and may not edit it, and do not see the task.
    expectProblem(await patch(theirs, `/v1/groups/${shown}`, { add_task_ids: [own] }), 'permission_denied');
    expectProblem(await patch(theirs, `/v1/tasks/${foreign}`, { add_group_ids: [shown] }), 'not_found');
    expect((await theirs.get(`/v1/tasks?group_id=${shown}&count=true`)).body.total_count).toBe(1);
    expect((await theirs.get('/v1/task-groups?count=true')).body.total_count).toBe(1);
    expectProblem(await patch(theirs, `/v1/tasks/${own}`, { remove_group_ids: [hidden] }), 'not_found');
    expect((await patch(theirs, `/v1/tasks/${own}`, { remove_group_ids: [shown] })).status).toBe(200);
    expect(await groupsOf(theirs, own)).toEqual([]);
    // Auditors change nothing.
    const auditor = await buildPerson(world, { organization: owner.organization, role: 'auditor' });
    await patch(client, `/v1/tasks/${foreign}`, { assignee_id: auditor.user.id });
    const audits = await signedIn(world, auditor);
    expectProblem(await patch(audits, `/v1/tasks/${foreign}`, { remove_group_ids: [shown] }), 'permission_denied');
  });

  test('does not reach other organizations', async () => {
    const stranger = await signedIn(world, await buildPerson(world));
    const group = await created(stranger, 'groups', { name: 'elsewhere' });
    const task = await created(client, 'tasks', { title: 'here' });
    expectProblem(await patch(client, `/v1/tasks/${task}`, { add_group_ids: [group] }), 'not_found');
    expectProblem(await patch(stranger, `/v1/groups/${group}`, { add_task_ids: [task] }), 'not_found');
    expectProblem(await patch(stranger, `/v1/groups/${group}`, { add_task_ids: ['x'] }), 'invalid_input');
  });

  test('ends at a thousand links of one request', async () => {
    const ids = Array.from({ length: 1_001 }, (_, index) => `x${index}`);
    const answer = await client.graphql(
      'mutation ($ids: [ID!]!) { createTask(input: { title: "many", addGroupIds: $ids }) { createdId } }',
      { ids },
    );
    expectGraphqlError(answer, 'limit_exceeded');
  });
});

test('ten changes at once that link the same two records make one link', async () => {
  const group = await created(client, 'groups', { name: 'wanted' });
  const task = await created(client, 'tasks', { title: 'wanted' });
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => patch(client, `/v1/tasks/${task}`, { add_group_ids: [group] })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(await asOwner(world, 'select 1 from task_groups where task_id = $1', [task])).toHaveLength(1);
});
