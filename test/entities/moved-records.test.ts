import { afterAll, beforeAll, expect, test } from 'vitest';
import { group, groupMembership, registry, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asPerson, asSystem } from '../kit/as-person.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let editor: Person;
let organizationId: string;
beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  organizationId = owner.organization.id;
  editor = await buildPerson(world, { organization: owner.organization, role: 'member' });
});
afterAll(() => world.close());

const denied = { code: 'permission_denied' };

/** A task of the owner, which the editor may edit, and a task of the editor. */
async function scene() {
  const shared = await asSystem(world, organizationId, async (data) => {
    const team = await data.create(group, { name: `team ${newId()}` });
    await data.create(groupMembership, { groupId: team.id, userId: editor.user.id });
    const { id: taskId } = await data.create(task, { title: 'theirs', assignerId: owner.user.id });
    const share = { groupId: team.id, relation: 'editor' };
    await data.create(registry.byKind('taskShare'), { taskId, ...share });
    return { taskId };
  });
  const own = await asPerson(world, editor, organizationId, (data) => data.create(task, { title: 'own' }));
  return { ...shared, ownId: own.id };
}

test('a person who may only edit a record cannot move it to a parent where they could delete it', async () => {
  const { taskId, ownId } = await scene();
  const move = { parentId: ownId };
  const one = asPerson(world, editor, organizationId, (data) => data.update(task, taskId, move));
  await expect(one).rejects.toMatchObject(denied);
  const many = await asPerson(world, editor, organizationId, (data) => data.updateAll(task, [taskId], move));
  expect(many).toMatchObject({ changed: [], refused: [{ id: taskId, ...denied }] });
  await asPerson(world, editor, organizationId, (data) => data.update(task, taskId, { title: 'edited' }));
});

test('a person who may delete records can move one or many', async () => {
  const { taskId, ownId } = await scene();
  const moved = await asPerson(world, owner, organizationId, (data) =>
    data.updateAll(task, [taskId], { parentId: ownId }),
  );
  expect(moved).toEqual({ changed: [taskId], refused: [] });
  const made = await asPerson(world, editor, organizationId, (data) => data.create(task, { title: 'own too' }));
  await asPerson(world, editor, organizationId, (data) => data.update(task, made.id, { parentId: ownId }));
});

test('every reference by which records are deleted with others says who may change it', () => {
  const open = registry.modules.flatMap(({ kind, fields }) =>
    Object.entries(fields)
      .filter(([, field]) => field.onDelete === 'cascade' && !field.immutable && !field.moves)
      .map(([name]) => `${kind}.${name}`),
  );
  expect(open).toEqual([]);
});
