import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Role } from '#entities/kit/model/caller.ts';
import type { workflowExamples } from '#entities/presets/workflow-examples.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
  });
});
afterAll(() => world.close());

let owner: Person;
let client: TestClient;
let admins: readonly Person[];
let second: Person;
let member: Person;
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const join = (role: Role) => buildPerson(world, { organization: owner.organization, role });
  admins = [await join('admin'), await join('admin')];
  second = await join('super_admin');
  member = await join('member');
});

function ok(answer: TestAnswer): TestAnswer {
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

/** Publishes an example as the organization has got it. @returns the id of its definition */
async function publish(name: (typeof workflowExamples)[number]['name']): Promise<string> {
  const { body } = await client.get('/v1/workflow-definitions');
  const { id } = body.data.find((one: { name: string }) => one.name === name);
  ok(await client.post(`/v1/workflow-definitions/${id}/publish`, {}));
  return id;
}

const patch = (by: TestClient, url: string, payload: object) => by.mutate({ method: 'PATCH', url, payload });
const askedOf = (by: TestClient) =>
  eventually(async () => (await by.get('/v1/workflow-assignments/mine')).body.data[0] as { id: string; label: string });
const ended = (definitionId: string) =>
  eventually(async () => {
    const rows = await asOwner<{ status: string }>(
      world,
      'select status from workflow_instances where definition_id = $1 and ended_at is not null',
      [definitionId],
    );
    return rows.length > 0 && rows.map(({ status }) => status);
  });

test('the example of approvals completes a task when two administrators agree', async () => {
  const definition = await publish('Two approvals complete a task');
  const task = ok(await client.post('/v1/tasks', { title: 'Rotate the keys' })).body.id as string;
  const group = ok(await client.post('/v1/groups', { name: 'Administrators' })).body.id as string;
  for (const { user } of admins) ok(await client.post('/v1/group-memberships', { group_id: group, user_id: user.id }));
  ok(await client.post('/v1/task-shares', { task_id: task, group_id: group, relation: 'viewer' }));
  expect((await patch(client, `/v1/tasks/${task}`, { status: 'completed' })).status).toBe(202);
  const status = async () => (await client.get(`/v1/tasks/${task}`)).body.status as string;
  for (const person of admins) {
    const by = await signedIn(world, person);
    const { id, label } = await askedOf(by);
    expect(label).toBe('May this task be completed?');
    expect(await status()).toBe('open');
    ok(await by.post(`/v1/workflow-assignments/${id}/approve`, {}));
  }
  expect(await ended(definition)).toEqual(['completed']);
  expect(await status()).toBe('completed');
});

test('the example of notices notifies the assignee and the owner of an urgent task, and of no other', async () => {
  const definition = await publish('Notice of urgent tasks');
  const assigned = { assignee_id: member.user.id };
  ok(await client.post('/v1/tasks', { title: 'Tidy up', priority: 10, ...assigned }));
  ok(await client.post('/v1/tasks', { title: 'Close the breach', priority: 90, ...assigned }));
  expect(await ended(definition)).toEqual(['completed']);
  for (const by of [client, await signedIn(world, member)])
    await eventually(async () => {
      const { body } = await by.get('/v1/notifications');
      const told = body.data.filter(({ topic }: { topic: string }) => topic === 'workflow_instance.messaged');
      return expect(told).toMatchObject([{ title: 'Urgent: Close the breach' }]) ?? true;
    });
});

test('the example of reviews asks the owner about a role that another one has given', async () => {
  const definition = await publish('Review of role changes');
  const { body } = await client.get(`/v1/memberships?user_id=${member.user.id}`);
  const by = await signedIn(world, second);
  ok(await patch(by, `/v1/memberships/${body.data[0].id}`, { role: 'auditor' }));
  const { id, label } = await askedOf(client);
  expect(label).toBe('Is this role right?');
  ok(await client.post(`/v1/workflow-assignments/${id}/approve`, {}));
  expect(await ended(definition)).toEqual(['completed']);
});
