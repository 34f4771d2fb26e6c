import { afterAll, beforeAll, expect, test } from 'vitest';
import { group, groupMembership, registry, task } from '#entities/index.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asPerson, asSystem } from '../kit/as-person.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const taskShare = registry.byKind('taskShare');

/** Whether somebody waits for a lock of another. */
async function isWaiting(): Promise<boolean> {
  const waiting = await asOwner(
    world,
    `select pid from pg_locks join pg_stat_activity using (pid) where not granted and datname = current_database()`,
  );
  return waiting.length > 0;
}

/** A member who may change a task as an editor, and still see it without that. */
async function editorOfTask() {
  const owner = await buildPerson(world);
  const organizationId = owner.organization.id;
  const editor = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const { taskId, shareId } = await asSystem(world, organizationId, async (data) => {
    const team = await data.create(group, { name: 'team' });
    await data.create(groupMembership, { groupId: team.id, userId: editor.user.id });
    const made = await data.create(task, { title: 'as it was', assignerId: owner.user.id });
    await data.create(taskShare, { taskId: made.id, groupId: team.id, relation: 'viewer' });
    const share = await data.create(taskShare, { taskId: made.id, groupId: team.id, relation: 'editor' });
    return { taskId: made.id, shareId: share.id };
  });
  return { organizationId, editor, taskId, shareId };
}

test.each(['one', 'many'] as const)('a change of %s that waited for a record has the rights of then', async (count) => {
  const { organizationId, editor, taskId, shareId } = await editorOfTask();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
  const holding = asSystem(world, organizationId, async (data) => {
    await data.findLocked(task, taskId);
    lock();
    await released;
  });
  await locked;
  const changing = asPerson(world, editor, organizationId, async (data): Promise<unknown> =>
    count === 'one'
      ? data.update(task, taskId, { title: 'changed' })
      : data.updateAll(task, [taskId], { title: 'changed' }),
  ).catch((error: unknown) => error);
  await eventually(isWaiting);
  await asSystem(world, organizationId, (data) => data.remove(taskShare, shareId));
  release();
  await holding;
  const denied = { code: 'permission_denied' };
  expect(await changing).toMatchObject(
    count === 'one' ? denied : { changed: [], refused: [{ id: taskId, ...denied }] },
  );
  expect(await asSystem(world, organizationId, (data) => data.get(task, taskId))).toMatchObject({ title: 'as it was' });
});
