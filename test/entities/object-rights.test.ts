import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { file, group, groupMembership, note, registry, task } from '#entities/index.ts';
import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { transactAs } from '../kit/as-person.ts';
import { callerNow } from '../kit/caller-now.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { uploadBy } from '../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let alice: Person;
let bob: Person;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  const { organization } = owner;
  alice = await buildPerson(world, { organization, role: 'member' });
  bob = await buildPerson(world, { organization, role: 'member' });
});
afterAll(() => world.close());

function callerFor(person: Person): Promise<Caller> {
  return callerNow(world.runtime, person.user.id, owner.organization.id);
}

async function as<T>(person: Person, work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = await callerFor(person);
  return transactAs(world.runtime, caller, ({ data }) => work(data));
}

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = systemCaller('test', owner.organization.id);
  return transactAs(world.runtime, caller, ({ data }) => work(data));
}

const taskShare = registry.byKind('taskShare');
const taskFile = registry.byKind('taskFile');
const organizationId = () => owner.organization.id;
const denied = { code: 'permission_denied' };
const missing = { code: 'not_found' };

test('a task is visible to its assignee, its assigner and owners', async () => {
  const made = await as(alice, (data) => data.create(task, { title: 'one', assigneeId: bob.user.id }));
  await as(bob, (data) => data.update(task, made.id, { status: 'in_progress' }));
  await as(alice, (data) => data.update(task, made.id, { title: 'two' }));
  await as(owner, (data) => data.update(task, made.id, { priority: 3 }));
  const carol = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  await expect(as(carol, (data) => data.get(task, made.id))).rejects.toMatchObject(missing);
  await expect(as(carol, (data) => data.update(task, made.id, { title: 'x' }))).rejects.toMatchObject(missing);
  // Only who asked for it, or an owner, takes it away.
  await expect(as(bob, (data) => data.remove(task, made.id))).rejects.toMatchObject(denied);
  await as(alice, (data) => data.remove(task, made.id));
});

test('a share with a group takes effect at once: viewer, editor, blocked', async () => {
  const made = await as(alice, (data) => data.create(task, { title: 'shared' }));
  const team = await asSystem((data) =>
    data.create(group, { name: `team ${newId()}`, organizationId: organizationId() }),
  );
  await expect(as(bob, (data) => data.get(task, made.id))).rejects.toMatchObject(missing);
  const joined = await asSystem((data) =>
    data.create(groupMembership, { groupId: team.id, userId: bob.user.id, organizationId: organizationId() }),
  );
  const share = (relation: string) =>
    asSystem((data) =>
      data.create(taskShare, {
        taskId: made.id,
        groupId: team.id,
        relation,
        organizationId: organizationId(),
      }),
    );
  const viewing = await share('viewer');
  expect(await as(bob, (data) => data.get(task, made.id))).toMatchObject({ title: 'shared' });
  await expect(as(bob, (data) => data.update(task, made.id, { title: 'x' }))).rejects.toMatchObject(denied);
  await share('editor');
  await as(bob, (data) => data.update(task, made.id, { title: 'edited' }));
  await as(bob, (data) => data.update(task, made.id, { title: 'edited again' }));
  const blocking = await share('blocked');
  await expect(as(bob, (data) => data.get(task, made.id))).rejects.toMatchObject(missing);
  await asSystem((data) => data.remove(taskShare, blocking.id));
  await asSystem((data) => data.remove(taskShare, viewing.id));
  await as(bob, (data) => data.update(task, made.id, { title: 'as editor' }));
  await asSystem((data) => data.remove(groupMembership, joined.id));
  await expect(as(bob, (data) => data.update(task, made.id, { title: 'x' }))).rejects.toMatchObject(missing);
});

test('rights are inherited by subtasks, notes and files, unless a subtask blocks a group', async () => {
  const top = await as(alice, (data) => data.create(task, { title: 'top', assigneeId: bob.user.id }));
  const below = await asSystem((data) =>
    data.create(task, {
      title: 'below',
      parentId: top.id,
      assignerId: owner.user.id,
      organizationId: organizationId(),
    }),
  );
  const deep = await asSystem((data) =>
    data.create(task, {
      title: 'deep',
      parentId: below.id,
      assignerId: owner.user.id,
      organizationId: organizationId(),
    }),
  );
  await as(bob, (data) => data.update(task, deep.id, { title: 'deep, seen' }));
  const written = await as(alice, (data) => data.create(note, { text: 'hello', taskId: deep.id }));
  expect(await as(bob, (data) => data.get(note, written.id))).toMatchObject({ text: 'hello' });
  await expect(as(bob, (data) => data.update(note, written.id, { text: 'x' }))).rejects.toMatchObject(denied);
  const content = await uploadBy(world, alice);
  const kept = await as(alice, (data) => data.create(taskFile, { taskId: deep.id, content }));
  await as(bob, (data) => data.update(taskFile, kept.id, { name: 'b.txt' }));

  const team = await asSystem((data) =>
    data.create(group, { name: `kept ${newId()}`, organizationId: organizationId() }),
  );
  await asSystem(async (data) => {
    await data.create(groupMembership, { groupId: team.id, userId: bob.user.id, organizationId: organizationId() });
    await data.create(taskShare, {
      taskId: below.id,
      groupId: team.id,
      relation: 'blocked',
      organizationId: organizationId(),
    });
  });
  await expect(as(bob, (data) => data.get(task, deep.id))).rejects.toMatchObject(missing);
  await expect(as(bob, (data) => data.get(note, written.id))).rejects.toMatchObject(missing);
  expect(await as(bob, (data) => data.get(task, top.id))).toMatchObject({ title: 'top' });
  await expect(as(bob, (data) => data.get(taskFile, kept.id))).rejects.toMatchObject(missing);
});

describe('a change that a caller may make is not lost because of what they may not read', () => {
  const createGroup =
    'mutation ($name: String!) { createGroup(input: { name: $name }) { group { id name } createdId } }';

  test.each(['admin', 'member'] as const)(
    'whoever creates a group as %s sees and manages it, then and later',
    async (role) => {
      const person = await buildPerson(world, { organization: owner.organization, role });
      if (role === 'member')
        await asSystem(async (data) => {
          const { id: groupId } = await data.create(group, { name: `creators ${newId()}` });
          await data.create(groupMembership, { groupId, userId: person.user.id });
          await data.create(registry.byKind('creatorGrant'), { groupId, relation: 'group_creator' });
        });
      const client = await signedIn(world, person);
      const name = `made over REST ${newId()}`;
      const rest = await client.post('/v1/groups', { name });
      expect([rest.status, rest.body.name]).toEqual([201, name]);
      const { data, errors } = await client.graphql(createGroup, { name: `made over GraphQL ${newId()}` });
      expect(errors).toBeUndefined();
      expect(data.createGroup.createdId).toBe(data.createGroup.group.id);
      for (const id of [rest.body.id, data.createGroup.createdId]) {
        expect((await client.get(`/v1/groups/${id}`)).status).toBe(200);
        const renamed = await client.mutate({ method: 'PATCH', url: `/v1/groups/${id}`, payload: { name: newId() } });
        expect(renamed.status).toBe(200);
        const { body } = await client.get(`/v1/group-memberships?group_id=${id}`);
        expect(body.data.map((item: { user_id: string; role: string }) => [item.user_id, item.role])).toEqual([
          [person.user.id, 'admin'],
        ]);
        const added = await client.post('/v1/group-memberships', { group_id: id, user_id: alice.user.id });
        expect(added.status).toBe(201);
      }
    },
  );

  test('an owner, who manages all groups, does not become a member of those that they create', async () => {
    const client = await signedIn(world, owner);
    const { body } = await client.post('/v1/groups', { name: `of the owner ${newId()}` });
    expect((await client.get(`/v1/group-memberships?group_id=${body.id}&count=true`)).body.total_count).toBe(0);
  });

  test('an assignee who hands a task on gets its id, and the task has its new assignee', async () => {
    const client = await signedIn(world, bob);
    const handOn =
      'mutation ($id: ID!, $to: ID!) { updateTask(id: $id, input: { assigneeId: $to }) { task { id } updatedId } }';
    const assigned = () =>
      as(alice, (data) => data.create(task, { title: 'to be handed on', assigneeId: bob.user.id }));
    const [first, second] = [await assigned(), await assigned()];
    const rest = await client.mutate({
      method: 'PATCH',
      url: `/v1/tasks/${first.id}`,
      payload: { assignee_id: owner.user.id },
    });
    expect([rest.status, rest.body]).toEqual([200, { id: first.id, held: [] }]);
    const { data, errors } = await client.graphql(handOn, { id: second.id, to: owner.user.id });
    expect([errors, data]).toEqual([undefined, { updateTask: { task: null, updatedId: second.id } }]);
    for (const { id } of [first, second]) {
      expect((await client.get(`/v1/tasks/${id}`)).status).toBe(404);
      expect(await as(owner, (data) => data.get(task, id))).toMatchObject({ assigneeId: owner.user.id });
    }
  });
});

describe('nobody locks out the people whose record it is', () => {
  /** A group with these members. */
  const teamOf = (...people: readonly Person[]) =>
    asSystem(async (data) => {
      const made = await data.create(group, { name: `team ${newId()}` });
      await data.create(registry.byKind('groupSetting'), { groupId: made.id, visibility: 'public' });
      for (const { user } of people) await data.create(groupMembership, { groupId: made.id, userId: user.id });
      return made.id;
    });
  const share = (by: Person, taskId: string, groupId: string, relation: string) =>
    as(by, (data) => data.create(taskShare, { taskId, groupId, relation }));

  test('an editor cannot block a group, nor end a block; whoever may remove the record can', async () => {
    const { id } = await as(alice, (data) => data.create(task, { title: 'shared' }));
    const [editors, others] = [
      await teamOf(bob),
      await teamOf(await buildPerson(world, { organization: owner.organization, role: 'member' })),
    ];
    await share(alice, id, editors, 'editor');
    await share(bob, id, others, 'viewer');
    await expect(share(bob, id, others, 'blocked')).rejects.toMatchObject(denied);
    const block = await share(alice, id, others, 'blocked');
    await expect(as(bob, (data) => data.remove(taskShare, block.id))).rejects.toMatchObject(denied);
    const inBulk = await as(bob, (data) => data.removeAll(taskShare, [block.id]));
    expect(inBulk.refused).toMatchObject([{ id: block.id, ...denied }]);
    await as(alice, (data) => data.remove(taskShare, block.id));
  });

  test('a block does not affect the assigner of a task and the owner of a file', async () => {
    const { id } = await as(alice, (data) => data.create(task, { title: 'of Alice' }));
    const content = await uploadBy(world, alice);
    const kept = await as(alice, (data) => data.create(file, { name: 'a.txt', content }));
    const team = await teamOf(alice, bob);
    await as(owner, async (data) => {
      await data.create(taskShare, { taskId: id, groupId: team, relation: 'blocked' });
      await data.create(registry.byKind('fileShare'), { fileId: kept.id, groupId: team, relation: 'blocked' });
    });
    await as(alice, (data) => data.update(task, id, { title: 'still of Alice' }));
    await as(alice, (data) => data.update(file, kept.id, { name: 'b.txt' }));
    await expect(as(bob, (data) => data.get(file, kept.id))).rejects.toMatchObject(missing);
    await as(alice, (data) => data.remove(task, id));
  });

  test('nobody blocks a group of the person from whom they have their own right', async () => {
    const carol = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const dave = await buildPerson(world, { organization: owner.organization, role: 'member' });
    // Carol may edit the parent and so shares it with Bob, who may then remove what is below it.
    const parent = await as(alice, (data) => data.create(task, { title: 'parent', assigneeId: carol.user.id }));
    await share(carol, parent.id, await teamOf(bob), 'editor');
    const below = await as(owner, (data) => data.create(task, { title: 'below', parentId: parent.id }));
    await expect(share(bob, below.id, await teamOf(carol), 'blocked')).rejects.toMatchObject(denied);
    await expect(share(bob, below.id, await teamOf(dave, alice), 'blocked')).rejects.toMatchObject(denied);
    await share(bob, below.id, await teamOf(dave), 'blocked');
    await expect(as(dave, (data) => data.get(task, below.id))).rejects.toMatchObject(missing);
  });

  test('a member names nobody but themselves as assigner; an owner may', async () => {
    const [client, owners] = [await signedIn(world, bob), await signedIn(world, owner)];
    for (const assignerId of [alice.user.id, null]) {
      const rest = await client.post('/v1/tasks', { title: 'for somebody else', assigner_id: assignerId });
      expectProblem(rest, 'permission_denied');
      expect(rest.body.errors).toMatchObject([{ path: '/assigner_id' }]);
      const inBulk = await client.graphql(
        'mutation ($input: CreateTaskInput!) { createBulkTask(inputs: [{ title: "mine" }, $input]) { tasks { id } } }',
        { input: { title: 'for somebody else', assignerId } },
      );
      expect(inBulk.errors).toMatchObject([{ extensions: { ...denied, errors: [{ path: '/1/assignerId' }] } }]);
    }
    expect((await client.post('/v1/tasks', { title: 'mine', assigner_id: bob.user.id })).status).toBe(201);
    expect((await owners.post('/v1/tasks', { title: 'for Alice', assigner_id: alice.user.id })).status).toBe(201);
  });

  test('auditors only read, whatever was shared with them, assigned to them or granted to their groups', async () => {
    const auditor = await buildPerson(world, { organization: owner.organization, role: 'auditor' });
    const client = await signedIn(world, auditor);
    const team = await teamOf(auditor);
    // A group of auditors alone is refused such a share.
    const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
    await asSystem((data) =>
      data.create(registry.byKind('groupMembership'), { groupId: team, userId: colleague.user.id }),
    );
    const shared = await as(alice, (data) => data.create(task, { title: 'shared', assigneeId: auditor.user.id }));
    await share(alice, shared.id, team, 'editor');
    await asSystem((data) => data.create(registry.byKind('creatorGrant'), { groupId: team, relation: 'task_creator' }));
    expect((await client.get(`/v1/tasks/${shared.id}`)).status).toBe(200);
    const change = await client.mutate({ method: 'PATCH', url: `/v1/tasks/${shared.id}`, payload: { title: 'x' } });
    expectProblem(change, 'permission_denied');
    const inBulk =
      'mutation ($ids: [ID!]!) { updateBulkTask(ids: $ids, input: { priority: 1 }) { notUpdated { code } } }';
    const { data } = await client.graphql(inBulk, { ids: [shared.id] });
    expect(data.updateBulkTask.notUpdated).toMatchObject([denied]);
    expectProblem(await client.post('/v1/tasks', { title: 'x' }), 'permission_denied');
    expectProblem(await client.post('/v1/notes', { text: 'x', task_id: shared.id }), 'permission_denied');
    const sharing = { task_id: shared.id, group_id: team, relation: 'viewer' };
    expectProblem(await client.post('/v1/task-shares', sharing), 'permission_denied');
  });
});
