import { afterAll, beforeAll, expect, test } from 'vitest';
import { group, groupMembership, membership, registry, task } from '#entities/index.ts';
import { isId, newId } from '#entities/kit/base/ids.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

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
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const document = `query ($id: ID!, $operation: AccessOperation!, $userId: ID!) {
  explainAccess(kind: TASK, id: $id, operation: $operation, userId: $userId) {
    kind isAllowed decidedBy
    rules { rule doesApply relations above { kind id isAllowed rules { rule doesApply relations } } }
  }
}`;

const explain = (id: string, operation: string, { user }: Person, by = client) =>
  by.graphql(document, { id, operation, userId: user.id });

test('explainAccess names the rule that decided, its relation, and that the store was asked', async () => {
  const { id } = await fixtures.record('task', 'editor', member.user.id);
  const { explainAccess } = (await explain(id, 'EDIT', member)).data;
  expect(explainAccess).toMatchObject({ isAllowed: true, decidedBy: 'STORE' });
  expect(explainAccess.rules.at(-1)).toEqual({
    rule: 'allow(related as editor / assignee)',
    doesApply: true,
    relations: ['editor'],
    above: null,
  });
  expect(explainAccess.rules.slice(0, -1).every((rule: { doesApply: boolean }) => !rule.doesApply)).toBe(true);
  // Now it is remembered.
  expect((await explain(id, 'EDIT', member)).data.explainAccess.decidedBy).toBe('CACHE');
  expect((await explain(id, 'EDIT', owner)).data.explainAccess).toMatchObject({ isAllowed: true, decidedBy: 'RULES' });
  expect((await explain(id, 'VIEW', member)).data.explainAccess).toMatchObject({ isAllowed: true, decidedBy: 'ROWS' });
});

test('explainAccess follows a right to the record it comes from', async () => {
  const { id } = await fixtures.record('task', 'above assignee', member.user.id);
  const { parentId } = await fixtures.asSystem((data) => data.get(task, id));
  const { explainAccess } = (await explain(id, 'VIEW', member)).data;
  expect(explainAccess.rules.at(-1)).toMatchObject({
    rule: 'allow(through parentId)',
    above: { kind: 'TASK', id: parentId, isAllowed: true },
  });
  expect(explainAccess.rules.at(-1).above.rules.at(-1)).toMatchObject({ relations: ['assignee'] });
});

test('a refusal shows every rule that did not apply, or the one that refuses', async () => {
  const nothing = (await explain((await fixtures.record('task', 'any')).id, 'EDIT', member)).data.explainAccess;
  expect(nothing).toMatchObject({ isAllowed: false, decidedBy: 'STORE' });
  const rules = registry.byKind('task').policy?.edit ?? [];
  expect(nothing.rules.slice(0, -1).map(({ doesApply }: { doesApply: boolean }) => doesApply)).toEqual(
    rules.map(() => false),
  );
  expect(nothing.rules.at(-1)).toMatchObject({ rule: 'no rule applies: deny', doesApply: true });
  const kept = (await explain((await fixtures.record('task', 'blocked assignee', member.user.id)).id, 'EDIT', member))
    .data;
  expect(kept.explainAccess.rules.at(-1)).toMatchObject({ rule: 'deny(related as blocked)', relations: ['blocked'] });
});

test('explainAccess explains nothing of people of other organizations, or of nobody', async () => {
  const stranger = await buildPerson(world);
  const gone = await buildPerson(world, { organization: owner.organization, role: 'member' });
  await fixtures.asSystem(async (data) => {
    const [theirs] = await data.find(membership, { limit: 100, where: { userId: { eq: gone.user.id } } });
    await data.remove(membership, theirs?.id ?? '');
  });
  const asked = [stranger.user.id, gone.user.id, newId(), 'anonymous', ''];
  for (const userId of asked) {
    const about = document.replace('kind: TASK', 'kind: USER');
    const { data, errors } = await client.graphql(about, { id: owner.user.id, operation: 'VIEW', userId });
    expect(data, userId).toBeNull();
    const message = `There is no User "${userId}".${isId(userId) ? '' : ' This is not an id.'}`;
    expect(errors).toMatchObject([{ message, extensions: { code: 'not_found' } }]);
  }
});

test('explainAccess names the default when no rule speaks of a person', async () => {
  const about = document.replace('kind: TASK', 'kind: TAG');
  const tag = await client.graphql('mutation { createTag(input: { name: "open" }) { tag { id } } }');
  const { id } = tag.data.createTag.tag;
  const ask = (operation: string) => client.graphql(about, { id, operation, userId: member.user.id });
  const refused = (await ask('REMOVE')).data.explainAccess;
  expect(refused).toMatchObject({ kind: 'TAG', isAllowed: false });
  expect(refused.rules.at(-1)).toMatchObject({ rule: 'no rule applies: deny', doesApply: true });
  const seen = (await ask('VIEW')).data.explainAccess;
  expect(seen).toMatchObject({ kind: 'TAG', isAllowed: true });
  expect(seen.rules.at(-1)).toMatchObject({ doesApply: true });
});

test('explainAccess is for owners and administrators, about what they see', async () => {
  const { id } = await fixtures.record('task', 'assignee', member.user.id);
  const code = (answer: { errors?: { extensions: { code: string } }[] }) => answer.errors?.[0]?.extensions.code;
  expect(code(await explain(id, 'VIEW', member, await signedIn(world, member)))).toBe('permission_denied');
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  expect(code(await explain(id, 'VIEW', member, await signedIn(world, admin)))).toBe('not_found');
  const elsewhere = await signedIn(world, await buildPerson(world));
  expect(code(await explain(id, 'VIEW', member, elsewhere))).toBe('not_found');
  expect(code(await explain(newId(), 'VIEW', member))).toBe('not_found');
  expect(code(await explain(id, 'VIEW', member, world.client()))).toBe('unauthenticated');
});

test('explainAccess reveals to an administrator no parent record that they do not see', async () => {
  const { id } = await fixtures.record('task', 'above assignee', member.user.id);
  const administrator = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  await fixtures.asSystem((data) => data.update(task, id, { assigneeId: administrator.user.id }));
  const admin = await signedIn(world, administrator);
  const ask = (by: TestClient) => by.graphql(document, { id, operation: 'EDIT', userId: member.user.id });
  expect((await ask(client)).data.explainAccess.rules.at(-1)).toMatchObject({ above: { kind: 'TASK' } });
  const { explainAccess } = (await ask(admin)).data;
  expect(explainAccess).toMatchObject({ isAllowed: true });
  expect(explainAccess.rules.at(-1)).toMatchObject({ rule: 'allow(through parentId)', above: null });
});

test('whoever leaves a group loses what it gave them at once, in every process', async () => {
  const { id: groupId } = await fixtures.asSystem((data) => data.create(group, { name: newId() }));
  const joined = await fixtures.asSystem((data) => data.create(groupMembership, { groupId, userId: member.user.id }));
  const { id } = await fixtures.record('task', 'any');
  await fixtures.asSystem((data) =>
    data.create(registry.byKind('taskShare'), { taskId: id, groupId, relation: 'editor' }),
  );
  const other = await world.openInstance();
  const here = await signedIn(world, member);
  const there = other.client();
  for (const [name, value] of here.cookies) there.cookies.set(name, value);
  const rename = (by: TestClient) =>
    by.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: newId() } });
  expect([(await rename(here)).status, (await rename(there)).status]).toEqual([200, 200]);
  expect([(await rename(here)).status, (await rename(there)).status]).toEqual([200, 200]);
  await fixtures.asSystem((data) => data.remove(groupMembership, joined.id));
  expect([(await rename(there)).status, (await rename(here)).status]).toEqual([404, 404]);
});
