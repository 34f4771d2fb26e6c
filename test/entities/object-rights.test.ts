import { afterAll, beforeAll, expect, test } from 'vitest';
import { file, group, groupMembership, note, registry, task } from '#entities/index.ts';
import { systemCaller, type Caller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerNow } from '../kit/caller-now.ts';
import { buildPerson, type Person } from '../kit/people.ts';
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
  return world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = systemCaller('test', owner.organization.id);
  return world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}

const taskShare = registry.byKind('taskShare');
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
  const kept = await as(alice, (data) => data.create(file, { name: 'a.txt', taskId: deep.id }));
  await as(bob, (data) => data.update(file, kept.id, { name: 'b.txt' }));

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
  // As a member of the organization he sees its files, but changes only those that he was given.
  expect(await as(bob, (data) => data.get(file, kept.id))).toMatchObject({ name: 'b.txt' });
  await expect(as(bob, (data) => data.update(file, kept.id, { name: 'c.txt' }))).rejects.toMatchObject(denied);
});
