import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { DefinitionDocument } from '#entities/automation/document/definition-document.ts';
import { ApprovalGround } from '../../kit/automation/approval-ground.ts';
import { publishGate } from '../../kit/automation/publish-gate.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let ground: ApprovalGround;
let [ann, ben, sam] = [] as unknown as [Person, Person, Person];
let [annClient, benClient, samClient, ownerClient] = [] as unknown as [TestClient, TestClient, TestClient, TestClient];
let team: string;
let taskId: string;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  const owner = await buildPerson(world);
  ground = new ApprovalGround(world, owner);
  const member = () => buildPerson(world, { organization: owner.organization, role: 'member' });
  [ann, ben, sam] = [await member(), await member(), await member()];
  annClient = await signedIn(world, ann);
  benClient = await signedIn(world, ben);
  samClient = await signedIn(world, sam);
  ownerClient = await signedIn(world, owner);
  team = await ground.group(ann, ben);
  taskId = (await samClient.post('/v1/tasks', { title: 'Rotate the keys', assignee_id: sam.user.id })).body.id;
  await ground.show(taskId, team);
});

const publish = (required_count: number, operation: 'UPDATE' | 'DELETE' = 'UPDATE') => {
  const fields = operation === 'UPDATE' ? { fields: ['status'] } : {};
  const document: DefinitionDocument = {
    schemaType: 'task',
    triggers: [{ operation, ...fields }],
    actions: [
      {
        key: 'two',
        type: 'REQUEST_APPROVAL',
        params: { ...fields, targets: [{ type: 'GROUP', id: team }], required_count, label: 'Is it done?' },
      },
    ],
  };
  return publishGate(world, ground.organizationId, document);
};

const complete = () =>
  samClient.mutate({ method: 'PATCH', url: `/v1/tasks/${taskId}`, payload: { status: 'completed' } });

/** The open assignment of a person, as soon as they are asked. */
const askedOf = (client: TestClient) =>
  eventually(async () => (await client.get('/v1/workflow-assignments/mine')).body.data[0] as Record<string, string>);

const approve = async (client: TestClient) => {
  const { id } = await askedOf(client);
  const answer = await client.post(`/v1/workflow-assignments/${id}/approve`, {});
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
};

const topicsOf = async (client: TestClient) =>
  (await client.get('/v1/notifications/inbox')).body.data.map(({ topic }: { topic: string }) => topic) as string[];

const instanceOf = async (proposalId: string) =>
  (await ownerClient.get(`/v1/workflow-instances?proposal_id=${proposalId}`)).body.data[0];

const openProposal = async () => (await samClient.get(`/v1/task-proposals?task_id=${taskId}`)).body.data[0];

test('a held change is written when two of a group have approved it, and everybody hears of it', async () => {
  await publish(2);
  await complete();
  expect(await ground.statusOf(taskId)).toBe('open');
  const asked = await askedOf(annClient);
  expect(asked).toMatchObject({ label: 'Is it done?', subject_id: taskId });
  await eventually(async () => (await topicsOf(annClient)).includes('workflow_assignment.requested'));
  expect((await annClient.get('/v1/notifications/inbox')).body.unread_count).toBeGreaterThan(0);
  await approve(annClient);
  await approve(benClient);
  await eventually(async () => (await ground.statusOf(taskId)) === 'completed');
  expect(await openProposal()).toMatchObject({ status: 'applied' });
  await eventually(async () => (await topicsOf(samClient)).includes('workflow_instance.ended'));
});

test('a held deletion takes place when it is approved', async () => {
  await publish(1, 'DELETE');
  await samClient.mutate({ method: 'DELETE', url: `/v1/tasks/${taskId}` });
  expect((await samClient.get(`/v1/tasks/${taskId}`)).status).toBe(200);
  await approve(benClient);
  await eventually(async () => (await samClient.get(`/v1/tasks/${taskId}`)).status === 404);
});

test('the approval of a person who leaves the group is void at once', async () => {
  await publish(2);
  await complete();
  await approve(annClient);
  await ground.leaveGroup(team, ann);
  const { id, instance_id } = await openProposal();
  const rejected = await eventually(async () => {
    const instance = await instanceOf(id);
    return instance?.status === 'rejected' && instance;
  });
  expect(rejected.reason).toContain('2 approvals are needed, and only 1 is possible.');
  const own = (await ground.assignments(instance_id)).find(({ userId }) => userId === ann.user.id);
  expect(own).toMatchObject({ status: 'cancelled', isVoid: true });
  expect(await ground.statusOf(taskId)).toBe('open');
});

test('a change that nobody may decide waits and says so, and owners and admins are notified', async () => {
  await ground.leaveGroup(team, ann);
  await ground.leaveGroup(team, ben);
  await publish(1);
  // The owner, who sees every task, makes the change.
  const payload = { status: 'completed' };
  await ownerClient.mutate({ method: 'PATCH', url: `/v1/tasks/${taskId}`, payload });
  const { id } = (await ownerClient.get(`/v1/task-proposals?task_id=${taskId}`)).body.data[0];
  const waiting = await eventually(async () => {
    const instance = await instanceOf(id);
    return instance?.status === 'waiting' && instance;
  });
  expect(waiting.reason).toContain('Nobody can decide');
  await eventually(async () => (await topicsOf(ownerClient)).includes('workflow_instance.unattended'));
  expect(await ground.statusOf(taskId)).toBe('open');
});

test('the second change of the submitter asks everybody again', async () => {
  await publish(1);
  await complete();
  const first = await askedOf(annClient);
  await samClient.mutate({ method: 'PATCH', url: `/v1/tasks/${taskId}`, payload: { status: 'wont_do' } });
  const stale = await annClient.post(`/v1/workflow-assignments/${first['id']}/approve`, {});
  expect(stale.body.code).toBe('stale_record');
  const second = await eventually(async () => {
    const asked = await askedOf(annClient);
    return asked['id'] !== first['id'] && asked;
  });
  expect((await annClient.post(`/v1/workflow-assignments/${second['id']}/approve`, {})).status).toBe(200);
  await eventually(async () => (await ground.statusOf(taskId)) === 'wont_do');
});

test.each(['UPDATE', 'DELETE'] as const)(
  'a review follows a written %s, and other changes are held meanwhile',
  async (operation) => {
    const fields = operation === 'UPDATE' ? { fields: ['status'] } : {};
    const targets = [{ type: 'GROUP', id: team }] as const;
    await publishGate(world, ground.organizationId, {
      schemaType: 'task',
      triggers: [{ operation, ...fields }],
      actions: [
        { key: 'first', type: 'REQUEST_APPROVAL', params: { ...fields, targets, required_count: 1 } },
        {
          key: 'look',
          type: 'REQUEST_REVIEW',
          params: { targets: [{ type: 'USER', id: ground.owner.user.id }], required_count: 1 },
        },
      ],
    });
    const url = `/v1/tasks/${taskId}`;
    if (operation === 'UPDATE') expect((await complete()).status).toBe(202);
    else expect((await samClient.mutate({ method: 'DELETE', url })).status).toBe(202);
    const first = await askedOf(annClient);
    await approve(annClient);
    const look = await askedOf(ownerClient);
    if (operation === 'UPDATE') {
      expect(await ground.statusOf(taskId)).toBe('completed');
      const again = await samClient.mutate({ method: 'PATCH', url, payload: { status: 'open' } });
      expect([again.status, again.body.code]).toEqual([202, undefined]);
    } else expect((await samClient.get(url)).status).toBe(404);
    expect((await ownerClient.post(`/v1/workflow-assignments/${look['id']}/approve`, {})).status).toBe(200);
    await eventually(
      async () => (await ownerClient.get(`/v1/workflow-instances/${first['instance_id']}`)).body.status === 'completed',
    );
  },
);
