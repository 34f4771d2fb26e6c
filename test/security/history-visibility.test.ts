import { afterAll, beforeAll, expect, test } from 'vitest';
import { membership, registry, task } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { AuthorizationFixtures } from '../kit/records/authorization-fixtures.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/** T-61: the history of a record is seen by whoever sees the record now, not then; what is hidden on it is hidden there. */
let world: World;
let owner: Person;
let member: Person;
let fixtures: AuthorizationFixtures;
let client: TestClient;
beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  fixtures = new AuthorizationFixtures(world, owner);
  client = await signedIn(world, member);
});
afterAll(() => world.close());

const history = (id: string, by = client) =>
  by.graphql('query ($id: ID!) { taskHistories(where: { recordId: { eq: $id } }) { totalCount } }', { id });

const entries = async (id: string, by = client): Promise<number> => {
  const answer = await history(id, by);
  expect(answer.errors).toBeUndefined();
  return answer.data.taskHistories.totalCount as number;
};

test('T-61: losing the right to a record loses its whole history, and regaining it restores both', async () => {
  const { id } = await fixtures.record('task', 'assignee', member.user.id);
  expect(await entries(id)).toBe(1);
  await fixtures.asSystem((data) => data.update(task, id, { assigneeId: null, title: 'unseen' }));
  expect(await entries(id)).toBe(0);
  await fixtures.asSystem((data) => data.update(task, id, { assigneeId: member.user.id }));
  // Also what happened meanwhile: it is the record's.
  expect(await entries(id)).toBe(3);
});

test('T-61: a person who left the organization sees no history of it', async () => {
  const leaver = await buildPerson(world, { organization: owner.organization, role: 'owner' });
  const theirs = await signedIn(world, leaver);
  const { id } = await fixtures.record('task', 'assigner', leaver.user.id);
  expect(await entries(id, theirs)).toBe(1);
  await fixtures.asSystem(async (data) => {
    const held = await data.findOne(membership, { userId: { eq: leaver.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  expectGraphqlError(await history(id, theirs), 'no_current_organization');
});

test('T-61: history contains no hidden field, neither its value nor its name', async () => {
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

test('T-61: a person blocked from a record is blocked from its history after its deletion', async () => {
  const { id } = await fixtures.record('task', 'blocked above assignee', member.user.id);
  expect(await entries(id)).toBe(0);
  await fixtures.asSystem((data) => data.remove(task, id));
  expect(await entries(id)).toBe(0);
  expect(await entries(id, await signedIn(world, owner))).toBe(2);
});
