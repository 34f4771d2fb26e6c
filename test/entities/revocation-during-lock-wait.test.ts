import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { group, groupMembership, membership, registry, task } from '#entities/index.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asPerson, asSystem } from '../kit/as-person.ts';
import { eventually } from '../kit/eventually.ts';
import { isWaiting } from '../kit/is-waiting.ts';
import { buildPerson } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const taskShare = registry.byKind('taskShare');

/** Somebody who may change a task: by a share with their group, or by their role. Somebody with less sees it all the same. */
async function changerOfTask(by: 'share' | 'role') {
  const owner = await buildPerson(world);
  const { organization } = owner;
  const changer = await buildPerson(world, { organization, role: by === 'role' ? 'super_admin' : 'member' });
  const made = await asSystem(world, organization.id, async (data) => {
    const [team, everybody] = [await data.create(group, { name: 'team' }), await data.create(group, { name: 'all' })];
    const ofTeam = await data.create(groupMembership, { groupId: team.id, userId: changer.user.id });
    await data.create(groupMembership, { groupId: everybody.id, userId: changer.user.id });
    const { id: taskId } = await data.create(task, { title: 'as it was', assignerId: owner.user.id });
    await data.create(taskShare, { taskId, groupId: everybody.id, relation: 'viewer' });
    const share = await data.create(taskShare, { taskId, groupId: team.id, relation: 'editor' });
    const held = await data.findOne(membership, { userId: { eq: changer.user.id } });
    return { taskId, share: share.id, ofTeam: ofTeam.id, membership: (held as { id: string }).id };
  });
  return { organizationId: organization.id, changer, ...made };
}

type Scene = Awaited<ReturnType<typeof changerOfTask>>;
type Revocation = (data: DataClient, scene: Scene) => Promise<unknown>;

const removals: Revocation = (data, { membership: id }) => data.remove(membership, id);

/** How the right is taken back, and whether the task is seen afterwards. */
const revocations: readonly [string, 'share' | 'role', Revocation, 'seen' | 'hidden'][] = [
  ['the share is removed', 'share', (data, { share }) => data.remove(taskShare, share), 'seen'],
  ['they leave the group', 'share', (data, { ofTeam }) => data.remove(groupMembership, ofTeam), 'seen'],
  ['they leave the organization', 'share', removals, 'hidden'],
  [
    'they get a lower role',
    'role',
    (data, scene) => data.update(membership, scene.membership, { role: 'member' }),
    'seen',
  ],
  ['they lose role and organization', 'role', removals, 'hidden'],
];

describe.each(revocations)('a change that waits for a lock, when meanwhile %s', (_how, by, revoke, afterwards) => {
  test.each(['one', 'many'] as const)('a change of %s that waited for a record is refused', async (count) => {
    const scene = await changerOfTask(by);
    const { organizationId, changer, taskId } = scene;
    if (by === 'role')
      await asSystem(world, organizationId, async (data) => {
        // The role alone lets them change it.
        await data.remove(taskShare, scene.share);
      });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const holding = asSystem(world, organizationId, async (data) => {
      await data.findLocked(task, taskId);
      lock();
      await released;
    });
    await locked;
    const changing = asPerson(world, changer, organizationId, async (data): Promise<unknown> =>
      count === 'one'
        ? data.update(task, taskId, { title: 'changed' })
        : data.updateAll(task, [taskId], { title: 'changed' }),
    ).catch((error: unknown) => error);
    await eventually(() => isWaiting(world));
    await asSystem(world, organizationId, (data) => revoke(data, scene));
    release();
    await holding;
    const refused = { code: afterwards === 'seen' ? 'permission_denied' : 'not_found' };
    expect(await changing).toMatchObject(
      count === 'one' ? refused : { changed: [], refused: [{ id: taskId, ...refused }] },
    );
    expect(await asSystem(world, organizationId, (data) => data.get(task, taskId))).toMatchObject({
      title: 'as it was',
    });
  });
});
