import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ApprovalTeam, type Colleague } from '../../kit/automation/approval-team.ts';
import { eventually } from '../../kit/eventually.ts';
import { runSchedule, sweep } from '../../kit/sweep.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let team: ApprovalTeam;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  team = await ApprovalTeam.open(world);
});

/** The newest assignment of a person, as soon as it is closed. */
const closed = (instanceId: string, person: Colleague, isVoid: boolean) =>
  eventually(async () => {
    const own = (await team.assignmentsOf(instanceId, person)).at(-1);
    return own?.status === 'cancelled' && own.isVoid === isVoid;
  });

const membershipOf = async ({ user }: Colleague): Promise<string> =>
  (await team.owner.client.get(`/v1/memberships?user_id=${user.id}`)).body.data[0].id;

const shareOf = async (groupId: string): Promise<string> =>
  (await team.owner.client.get(`/v1/task-shares?task_id=${team.taskId}&group_id=${groupId}`)).body.data[0].id;

/** Ways in which a person can lose the right to decide while others are asked, too. */
const losses: Readonly<Record<string, (person: Colleague) => Promise<unknown>>> = {
  'leaves the group': (person) => team.ground.leaveGroup(team.groupId, person),
  'leaves the organization': async (person) => {
    const url = `/v1/memberships/${await membershipOf(person)}`;
    expect((await team.owner.client.mutate({ method: 'DELETE', url })).status).toBe(204);
  },
  'is deactivated': ({ user }) =>
    team.ground.asServer(({ data, unit }) =>
      data.update(unit.registry.byKind('user'), user.id, { status: 'deactivated' }),
    ),
};

describe.each(Object.entries(losses))('a person who %s', (_what, lose) => {
  test('is asked no longer, and the decision that they have taken is void', async () => {
    const { cy, ann, ben } = team;
    await team.ground.joinGroup(team.groupId, cy);
    const published = await team.publish({ required_count: 2 });
    await team.held();
    await team.approve(ann);
    const { instance_id: id } = await team.asked(ben);
    await lose(ann);
    await closed(id, ann, true);
    await team.approve(ben);
    await eventually(async () => (await team.updates(id)).length === 2);
    expect((await team.task())['status']).toBe('open');
    await team.approve(cy);
    await team.instance(published, 'completed');
    expect((await team.task())['status']).toBe('completed');
  });
});

test('the change is rejected when too few are left, and what was asked is closed', async () => {
  const published = await team.publish({ required_count: 2 });
  await team.held();
  const { instance_id: id } = await team.asked(team.ann);
  await team.ground.leaveGroup(team.groupId, team.ben);
  expect(await team.instance(published, 'rejected')).toMatchObject({
    reason: expect.stringContaining('agree: 2 approvals are needed, and only 1 is possible.'),
  });
  for (const person of [team.ann, team.ben]) await closed(id, person, false);
  expect(await team.proposal()).toMatchObject({ status: 'rejected', reason_code: 'out_of_reach' });
});

test('people from whom the record is hidden are asked no longer, and owners and admins are asked instead', async () => {
  await team.publish({ required_count: 1 });
  await team.held();
  const { instance_id: id } = await team.asked(team.ann);
  const url = `/v1/task-shares/${await shareOf(team.groupId)}`;
  expect((await team.sam.client.mutate({ method: 'DELETE', url })).status).toBe(204);
  expect(await team.asked(team.owner)).toMatchObject({ instance_id: id });
  for (const person of [team.ann, team.ben]) await closed(id, person, false);
});

test('people of a group that is deleted are asked no longer, and owners and admins are asked instead', async () => {
  await team.publish({ required_count: 1 });
  await team.held();
  const { instance_id: id } = await team.asked(team.ann);
  const url = `/v1/groups/${team.groupId}`;
  expect((await team.owner.client.mutate({ method: 'DELETE', url })).status).toBe(204);
  expect(await team.asked(team.owner)).toMatchObject({ instance_id: id });
  for (const person of [team.ann, team.ben]) await closed(id, person, false);
});

test('within an hour, a person is asked whom the record names since', async () => {
  const { ann, ben, sam } = team;
  const look = {
    key: 'look',
    type: 'REQUEST_REVIEW',
    params: { targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }] },
  } as const;
  expect((await team.change({ assignee_id: ann.user.id }, team.owner.client)).status).toBe(200);
  await team.publish({}, { actions: [look] });
  expect((await team.change({ status: 'completed' }, sam.client)).status).toBe(200);
  const { instance_id: id } = await team.asked(ann);
  expect((await team.change({ assignee_id: ben.user.id }, team.owner.client)).status).toBe(200);
  world.clock.advance(3_600_000 + 60_000);
  await runSchedule(world, 'sweep-instances');
  world.clock.advance(60_000);
  await sweep(world);
  await eventually(async () => (await team.assignmentsOf(id, ben)).at(-1)?.status === 'pending');
  await closed(id, ann, false);
});

test('a person with another role is asked no longer for the role of before', async () => {
  const { ben: first, cy: second } = team;
  for (const person of [first, second]) await team.giveRole(person, 'admin');
  const published = await team.publish({ targets: [{ type: 'ROLE', id: 'admin' }], required_count: 1 });
  await team.held();
  const { instance_id: id } = await team.asked(first);
  await team.giveRole(first, 'member');
  await closed(id, first, false);
  await team.approve(second);
  await team.instance(published, 'completed');
});

test('a member who joins the group is asked when there are too few, and does not change the number otherwise', async () => {
  const { ann, ben, cy } = team;
  const published = await team.publish({ required_count: 0 });
  await team.held();
  const { instance_id: id } = await team.asked(ann);
  await team.ground.joinGroup(team.groupId, cy);
  await team.approve(ann, ben);
  await team.instance(published, 'completed');
  expect(await team.assignmentsOf(id, cy)).toEqual([]);
});

test('a change that nobody can decide is decided by the first who joins the group', async () => {
  const { ann, ben, cy, owner } = team;
  const published = await team.publish({ required_count: 1 });
  for (const person of [ann, ben]) await team.ground.leaveGroup(team.groupId, person);
  await team.held(undefined, owner.client);
  expect(await team.instance(published, 'waiting')).toMatchObject({
    reason: expect.stringContaining('Nobody can decide'),
  });
  await team.ground.joinGroup(team.groupId, cy);
  await team.approve(cy);
  await team.instance(published, 'completed');
  expect((await team.task())['status']).toBe('completed');
});

test('a change that nobody can decide is decided by a member who becomes an admin', async () => {
  const { ann, ben, cy, owner } = team;
  const published = await team.publish({ required_count: 1 });
  for (const person of [ann, ben]) await team.ground.leaveGroup(team.groupId, person);
  await team.held(undefined, owner.client);
  await team.instance(published, 'waiting');
  await team.giveRole(cy, 'admin');
  await team.approve(cy);
  await team.instance(published, 'completed');
});

test('a selector names the groups whose records are held', async () => {
  const { sam, ann, groupId, taskId } = team;
  const selector = { groupIds: [groupId] };
  const published = await team.publish(
    { required_count: 1 },
    { triggers: [{ operation: 'UPDATE', fields: ['status'], selector }] },
  );
  const other = await sam.client.post('/v1/tasks', { title: 'Of nobody else', assignee_id: sam.user.id });
  const url = `/v1/tasks/${other.body.id}`;
  const written = await sam.client.mutate({ method: 'PATCH', url, payload: { status: 'completed' } });
  expect([written.status, written.body.status]).toEqual([200, 'completed']);
  await team.held();
  await team.approve(ann);
  await team.instance(published, 'completed');
  const share = `/v1/task-shares/${await shareOf(groupId)}`;
  expect((await sam.client.mutate({ method: 'DELETE', url: share })).status).toBe(204);
  expect((await team.change({ status: 'open' })).status).toBe(200);
  expect((await sam.client.get(`/v1/tasks/${taskId}`)).body.status).toBe('open');
});
