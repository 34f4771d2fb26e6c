import { Type } from 'typebox';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { membership, user } from '#entities/index.ts';
import type { Role } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Roles of the caller in each attempt of `POST /test/roles`. */
const attempts: (string | null)[] = [];

const rolesRoute = defineRoute({
  method: 'POST',
  url: '/test/roles',
  operationId: 'rolesRoute',
  tag: 'Test',
  summary: 'Tells the role of the caller',
  description: 'Without a statement of its own.',
  access: 'required',
  answers: { 200: Type.Object({ role: Type.Any() }) },
  errors: [],
  handle: ({ request }) => {
    const { role } = request.core.caller;
    attempts.push(role);
    return { status: 200, body: { role } };
  },
});

let world: World;
let owner: Person;
let member: Person;
let client: TestClient;
let taskId: string;
const texts: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(texts)], routes: [rolesRoute] });
  owner = await buildPerson(world);
  const { body } = await (await signedIn(world, owner)).post('/v1/tasks', { title: 'seen by administrators' });
  taskId = String(body.id);
});
afterAll(() => world.close());

beforeEach(async () => {
  member = await buildPerson(world, { organization: owner.organization, role: 'super_admin' });
  client = await signedIn(world, member);
  // From here on the state of the caller is known.
  expect((await read()).status).toBe(200);
  texts.length = 0;
  attempts.length = 0;
});

const read = () => client.get(`/v1/tasks/${taskId}`);
const create = (title: string) => client.post('/v1/tasks', { title });
const titles = (title: string) => asOwner(world, 'select title from tasks where title = $1', [title]);
const changeMembership = (change: (data: DataClient, id: string) => Promise<unknown>) =>
  asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: member.user.id } });
    await change(data, held?.id ?? '');
  });
const setRole = (role: Role) => changeMembership((data, id) => data.update(membership, id, { role }));
const leave = () => changeMembership((data, id) => data.remove(membership, id));
const deactivate = () =>
  asSystem(world, owner.organization.id, (data) => data.update(user, member.user.id, { status: 'inactive' }));

test('a read sends the question who calls together with the read itself', async () => {
  expect((await read()).status).toBe(200);
  expect(texts.filter((text) => text.includes('request_context('))).toEqual([]);
  expect(texts).toHaveLength(1);
});

test('a create asks who calls in its transaction', async () => {
  expect((await create('one flight')).status).toBe(201);
  expect(texts.filter((text) => text.includes('request_context('))).toEqual([]);
});

test('rights that were lost since the last request give nothing', async () => {
  await leave();
  expectProblem(await read(), 'no_current_organization');
  expect((await create('after leaving')).status).toBeGreaterThanOrEqual(400);
  expect(await titles('after leaving')).toEqual([]);
});

test('a role that was gained since the last request counts', async () => {
  await setRole('auditor');
  expectProblem(await create('by an auditor'), 'permission_denied');
  await setRole('super_admin');
  expect((await create('by an administrator')).status).toBe(201);
  expect(await titles('by an auditor')).toEqual([]);
  expect(await titles('by an administrator')).toHaveLength(1);
});

test('a handler without a statement runs again for the caller of now', async () => {
  await setRole('auditor');
  expect((await client.post('/test/roles')).body).toEqual({ role: 'auditor' });
  expect(attempts).toEqual(['super_admin', 'auditor']);
});

const afterwards: Readonly<Record<string, () => Promise<TestAnswer>>> = {
  'a read': read,
  'a list': () => client.get('/v1/tasks?first=5'),
  'a create': () => create('by nobody'),
  'a body that is not valid': () => client.post('/v1/tasks', { unknown: 1 }),
  'a handler without a statement': () => client.post('/test/roles'),
};

test.for(Object.keys(afterwards))('whoever is deactivated is refused at once: %s', async (name) => {
  await deactivate();
  expectProblem((await afterwards[name]?.()) as TestAnswer, 'unauthenticated');
  expect(await titles('by nobody')).toEqual([]);
});

const operations: Readonly<Record<string, string>> = {
  'a query': '{ tasks(first: 5) { edges { node { title } } } }',
  'several root fields': '{ tasks(first: 5) { totalCount } groups(first: 5) { totalCount } }',
  'a query without a statement': '{ __typename }',
  'a mutation': 'mutation { createTask(input: { title: "by nobody" }) { task { id } } }',
  'a document that is not valid': '{ nothing }',
};

test.for(Object.keys(operations))('a bearer token that is revoked is refused at once: %s', async (name) => {
  const token = String(client.cookies.get('access_token'));
  const bearer = world.client();
  bearer.bearer = token;
  const ask = () => bearer.post('/graphql', { query: operations[name] });
  await ask();
  expect((await client.post('/v1/logout')).status).toBe(200);
  expectProblem(await ask(), 'unauthenticated');
});

test('a stale cookie makes an anonymous caller of a GraphQL operation', async () => {
  await deactivate();
  expect((await client.graphql('{ __typename }')).body).toEqual({ data: { __typename: 'Query' } });
  const tasks = await client.graphql('{ tasks(first: 5) { totalCount } }');
  expect(tasks.body).toMatchObject({ data: null, errors: [{ extensions: { code: 'unauthenticated' } }] });
  const { body } = await client.graphql(
    'mutation { createTask(input: { title: "by an anonymous caller" }) { task { id } } }',
  );
  expect(body.errors).toMatchObject([{ extensions: { code: 'unauthenticated' } }]);
  expect(await titles('by an anonymous caller')).toEqual([]);
});
