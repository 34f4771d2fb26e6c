import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership, registry, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { RightsStage } from '../kit/rights-stage.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-61: the history of a record is seen by whoever sees the record now, not then; what is hidden on it is hidden there. */
let world: World;
let owner: Person;
let member: Person;
let stage: RightsStage;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  stage = new RightsStage(world, owner);
  client = await signedIn(world, member);
});
afterAll(() => world.close());

const entries = async (id: string, by = client): Promise<number> => {
  const answer = await by.graphql(
    'query ($id: ID!) { taskHistories(where: { recordId: { eq: $id } }) { totalCount } }',
    { id },
  );
  expect(answer.errors).toBeUndefined();
  return answer.data.taskHistories.totalCount as number;
};

test('with the right on the record goes the right on its whole history, and comes back with it', async () => {
  const { id } = await stage.prop('task', 'assignee', member.user.id);
  expect(await entries(id)).toBe(1);
  await stage.asSystem((data) => data.update(task, id, { assigneeId: null, title: 'unseen' }));
  expect(await entries(id)).toBe(0);
  await stage.asSystem((data) => data.update(task, id, { assigneeId: member.user.id }));
  // Also what happened meanwhile: it is the record's.
  expect(await entries(id)).toBe(3);
});

test('who leaves the organization sees no history of it, whatever they did there', async () => {
  const leaver = await buildPerson(world, { organization: owner.organization, role: 'owner' });
  const theirs = await signedIn(world, leaver);
  const { id } = await stage.prop('task', 'assigner', leaver.user.id);
  expect(await entries(id, theirs)).toBe(1);
  await stage.asSystem(async (data) => {
    const held = await data.findOne(membership, { userId: { eq: leaver.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  expect(await entries(id, theirs)).toBe(0);
});

test('nothing that is hidden on records is in their history, nor in the names of changed fields', async () => {
  const secret = newId();
  await asOwner(world, 'update users set password_hash = $2 where id = $1', [member.user.id, secret]);
  const answer = await client.graphql(
    `query ($id: ID!) { userHistories(where: { recordId: { eq: $id } }) { edges { node { changedFields } } } }`,
    { id: member.user.id },
  );
  expect(answer.data.userHistories.edges).toHaveLength(1);
  expect(JSON.stringify(answer.data)).not.toMatch(/password/i);
  const { data } = await client.graphql('{ __type(name: "UserHistory") { fields { name } } }');
  const names = data.__type.fields.map(({ name }: { name: string }) => name);
  expect(names).toContain('displayName');
  for (const [name, { secret: isSecret }] of Object.entries(registry.byKind('user').fields))
    if (isSecret) expect(names).not.toContain(name);
});

test('who was kept from a record is kept from its history when it is gone', async () => {
  const { id } = await stage.prop('task', 'blocked above assignee', member.user.id);
  expect(await entries(id)).toBe(0);
  await stage.asSystem((data) => data.remove(task, id));
  expect(await entries(id)).toBe(0);
  expect(await entries(id, await signedIn(world, owner))).toBe(2);
});
