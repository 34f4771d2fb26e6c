// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { task } from '#entities/index.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  // One tuple a batch: what is held fills it.
  world = await openWorld({ environment: { CORE_AUTHZ_MAXBATCHWRITESIZE: '1' } });
});
afterAll(() => world.close());

const relay = () => world.runtime.tuples as NonNullable<typeof world.runtime.tuples>;

async function unapplied(): Promise<string[]> {
  const rows = await asOwner<{ object: string }>(
    world,
    'select object from desired_tuples where applied_version < version order by 1',
  );
  return rows.map(({ object }) => object);
}

test('a request that holds a tuple does not keep the others from the store', async () => {
  const { user, organization } = await buildPerson(world);
  const assigned = (title: string) =>
    asSystem(world, organization.id, (data) => data.create(task, { title, assigneeId: user.id }));
  const { id } = await assigned('held');
  // By the process itself, which then has none on its way that it would gather.
  await eventually(async () => (await unapplied()).length === 0);
  // After a full batch it looks for another one.
  await relay().apply();
  // Waits to be applied, and is being changed.
  await asOwner(world, `update desired_tuples set applied_version = 0 where object = $1`, [`task:${id}`]);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  onTestFinished(() => release());
  const { promise: written, resolve: write } = Promise.withResolvers<void>();
  const changing = asSystem(world, organization.id, async (data) => {
    await data.update(task, id, { assigneeId: null });
    // Sends the change and its tuples.
    await data.findOne(task, { id: { eq: id } });
    write();
    await released;
  });
  await written;
  const other = await assigned('other');
  await relay().apply();
  await expect(
    world.runtime.store?.check({ object: `task:${other.id}`, relation: 'assignee', subject: `user:${user.id}` }),
  ).resolves.toBe(true);
  expect(await unapplied()).toEqual([`task:${id}`]);
  release();
  await changing;
  await relay().apply();
  expect(await unapplied()).toEqual([]);
  await expect(
    world.runtime.store?.check({ object: `task:${id}`, relation: 'assignee', subject: `user:${user.id}` }),
  ).resolves.toBe(false);
});
