import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let reader: Person;
let theirs: TestClient;
let groupId: string;
let taskId: string;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  reader = await buildPerson(world, { organization: owner.organization, role: 'member' });
  theirs = await signedIn(world, reader);
  groupId = await created('/v1/groups', { name: 'Readers' });
  await created('/v1/group-memberships', { group_id: groupId, user_id: reader.user.id });
  taskId = await created('/v1/tasks', { title: 'shared' });
});

async function created(path: string, payload: object): Promise<string> {
  const { status, body } = await client.post(path, payload);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}
const patch = (by: TestClient, url: string, payload: object) => by.mutate({ method: 'PATCH', url, payload });
const share = (relation: string, by = client) =>
  by.post('/v1/task-shares', { task_id: taskId, group_id: groupId, relation });

async function membershipOf({ user }: Person): Promise<string> {
  const [row] = await asOwner<{ id: string }>(
    world,
    'select id from memberships where user_id = $1 and organization_id = $2 and deleted_at is null',
    [user.id, owner.organization.id],
  );
  return row?.id ?? '';
}
const becomesAuditor = async () =>
  expect((await patch(client, `/v1/memberships/${await membershipOf(reader)}`, { role: 'auditor' })).status).toBe(200);

async function explained(operation: string, userId = reader.user.id) {
  const { data, errors } = await client.graphql(
    `query ($id: ID!, $userId: ID!) { explainAccess(kind: TASK, id: $id, operation: ${operation}, userId: $userId) { isAllowed reason } }`,
    { id: taskId, userId },
  );
  expect(errors).toBeUndefined();
  return data.explainAccess as { readonly isAllowed: boolean; readonly reason: string | null };
}

test('an auditor with an editor share is told that auditors only read', async () => {
  expect((await share('editor')).status).toBe(201);
  expect((await patch(theirs, `/v1/tasks/${taskId}`, { title: 'changed' })).status).toBe(200);
  expect(await explained('EDIT')).toEqual({ isAllowed: true, reason: null });
  await becomesAuditor();
  const refused = await patch(theirs, `/v1/tasks/${taskId}`, { title: 'changed again' });
  expectProblem(refused, 'permission_denied');
  expect(refused.body.detail).toMatch(/^You may not edit this Task\. Auditors only read/);
  const { errors } = await theirs.graphql(
    `mutation { updateTask(id: "${taskId}", input: { title: "x" }) { task { id } } }`,
  );
  expect(errors?.[0]?.message).toContain('Auditors only read');
  expect(await explained('EDIT')).toEqual({ isAllowed: false, reason: expect.stringContaining('Auditors only read') });
  expect(await explained('VIEW')).toEqual({ isAllowed: true, reason: null });
});

test('what can have no effect is refused: shares and rights for groups of auditors alone, and auditors as their managers', async () => {
  await becomesAuditor();
  const refused = await share('editor');
  expectProblem(refused, 'rule_violated');
  expect(refused.body.errors).toMatchObject([{ path: '/group_id', message: expect.stringContaining('auditors') }]);
  expect((await share('viewer')).status).toBe(201);
  expectProblem(
    await client.post('/v1/creator-grants', { group_id: groupId, relation: 'task_creator' }),
    'rule_violated',
  );
  const { data } = (await client.get(`/v1/group-memberships?group_id=${groupId}`)).body;
  expectProblem(await patch(client, `/v1/group-memberships/${data[0].id}`, { role: 'admin' }), 'rule_violated');
  const other = await created('/v1/groups', { name: 'Managed' });
  const asAdmin = { group_id: other, user_id: reader.user.id, role: 'admin' };
  expectProblem(await client.post('/v1/group-memberships', asAdmin), 'rule_violated');

  // With one member who can use it, it has an effect.
  const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
  await created('/v1/group-memberships', { group_id: groupId, user_id: colleague.user.id, role: 'admin' });
  expect((await share('editor')).status).toBe(201);
  expect((await client.post('/v1/creator-grants', { group_id: groupId, relation: 'task_creator' })).status).toBe(201);
  // A group without members may get some.
  expect((await client.post('/v1/task-shares', { task_id: taskId, group_id: other, relation: 'editor' })).status).toBe(
    201,
  );
});

test('a block names the right that it needs, and a move that it needs the right to delete', async () => {
  await share('editor');
  const blocked = await theirs.post('/v1/task-shares', { task_id: taskId, group_id: groupId, relation: 'blocked' });
  expectProblem(blocked, 'permission_denied');
  expect(blocked.body.detail).toContain('A relation that is blocked needs the right to remove the task');
  const { body: own } = await theirs.post('/v1/tasks', { title: 'own' });
  const moved = await patch(theirs, `/v1/tasks/${taskId}`, { parent_id: own.id });
  expectProblem(moved, 'permission_denied');
  expect(moved.body.detail).toMatch(/^To move a record, you need the right to delete it\./);
});

test('an archived organization is the reason for everybody, also in answers about access', async () => {
  const url = `/v1/organizations/${owner.organization.id}`;
  await patch(client, url, { is_archived: true });
  const asked = { object_type: 'task', object_id: taskId, relation: 'edit' };
  expect(await explained('EDIT', owner.user.id)).toEqual({
    isAllowed: false,
    reason: expect.stringContaining('is archived'),
  });
  expect(await explained('VIEW', owner.user.id)).toEqual({ isAllowed: true, reason: null });
  expect((await client.post('/v1/account/access', asked)).body).toEqual({ allowed: false });
  await patch(client, url, { is_archived: false });
  expect(await explained('EDIT', owner.user.id)).toEqual({ isAllowed: true, reason: null });
  expect((await client.post('/v1/account/access', asked)).body).toEqual({ allowed: true });
});

test('a block, no right at all, and a missing second factor are named', async () => {
  expect((await explained('EDIT')).reason).toContain('The rules allow it for');
  await share('blocked');
  expect((await explained('EDIT')).reason).toContain('deny(related as blocked)');
  await enroll(world, client);
  const setting = (await client.get('/v1/organization-settings')).body.data[0];
  expect(
    (await patch(client, `/v1/organization-settings/${setting.id}`, { requires_second_factor: true })).status,
  ).toBe(200);
  expect((await explained('EDIT')).reason).toContain('requires a second factor');
});
