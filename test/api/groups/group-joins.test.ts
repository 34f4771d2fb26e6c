import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../kit/eventually.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let ownerClient: TestClient;
let manager: TestClient;
let person: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  person = await buildPerson(world, { organization: owner.organization, role: 'member' });
  [ownerClient, manager, client] = [
    await signedIn(world, owner),
    await signedIn(world, admin),
    await signedIn(world, person),
  ];
});

/** A group whose manager is an admin, who is its only member. */
async function newGroup(join_policy?: string, visibility = 'public'): Promise<string> {
  const { body } = await manager.post('/v1/groups', { name: `group ${Math.random()}` });
  if (join_policy !== undefined) {
    const made = await manager.post('/v1/group-settings', { group_id: body.id, visibility, join_policy });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
  }
  return body.id as string;
}
const join = (id: string, by = client, body: object = {}) => by.post(`/v1/groups/${id}/join`, body);
const answer = (verb: string, id: string, by = manager) => by.post(`/v1/group-join-requests/${id}/${verb}`, {});
const membersOf = async (id: string) =>
  (await manager.get(`/v1/group-memberships?group_id=${id}`)).body.data.map(
    ({ user_id }: { user_id: string }) => user_id,
  ) as string[];
const topicsOf = async (by: TestClient) =>
  (await by.get('/v1/notifications')).body.data.map(({ topic }: { topic: string }) => topic) as string[];

test('groups by invitation, without settings, hidden and managed by the server are not joined', async () => {
  expectProblem(await join(await newGroup('invite_only')), 'permission_denied');
  expectProblem(await join(await newGroup()), 'not_found');
  expectProblem(await join(await newGroup('open', 'private')), 'not_found');
  const { data } = (await ownerClient.get('/v1/groups')).body;
  const managed = data.find(({ managed_as }: { managed_as: string | null }) => managed_as === 'admins');
  expectProblem(await join(managed.id), 'permission_denied');
  const open = await newGroup('open');
  expectProblem(await join(open, await signedIn(world, await buildPerson(world))), 'not_found');
  expectProblem(await join(open, world.client()), 'unauthenticated');
  const token = await client.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['group:write'] });
  const program = world.client();
  program.bearer = token.body.token;
  expectProblem(await join(open, program), 'permission_denied');
  expect(await membersOf(open)).not.toContain(person.user.id);
});

test('an open group is joined at once, and left', async () => {
  const id = await newGroup('open');
  expect((await join(id)).body).toEqual({ status: 'joined', request_id: null });
  expect(await membersOf(id)).toContain(person.user.id);
  expectProblem(await join(id), 'already_exists');
  const own = (await client.get(`/v1/group-memberships?group_id=${id}&user_id=${person.user.id}`)).body.data[0];
  expect(own.role).toBe('member');
  expect((await client.mutate({ method: 'DELETE', url: `/v1/group-memberships/${own.id}` })).status).toBe(204);
  expect(await membersOf(id)).not.toContain(person.user.id);
});

test('a request is decided by managers of the group, once, and its person is told', async () => {
  const id = await newGroup('apply');
  const { body } = await join(id, client, { message: 'Hello,\nI work on this' });
  expect(body).toEqual({ status: 'requested', request_id: expect.any(String) });
  const requestId = body.request_id as string;
  expect(await membersOf(id)).not.toContain(person.user.id);
  expectProblem(await join(id), 'already_exists');
  await eventually(async () => (await topicsOf(manager)).includes('group.join_requested'));

  // Neither the person nor others decide, or see requests of others.
  const other = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  expectProblem(await answer('accept', requestId, client), 'permission_denied');
  expectProblem(await answer('accept', requestId, other), 'not_found');
  expectProblem(await answer('withdraw', requestId, other), 'not_found');
  expectProblem(await other.get(`/v1/group-join-requests/${requestId}`), 'not_found');
  expectProblem(await other.get(`/v1/groups/${id}/join-requests`), 'permission_denied');
  expect((await manager.get(`/v1/groups/${id}/join-requests`)).body.data).toEqual([
    { id: requestId, user_id: person.user.id, message: 'Hello,\nI work on this', created_at: expect.any(String) },
  ]);

  expect((await answer('accept', requestId)).status).toBe(200);
  expect(await membersOf(id)).toContain(person.user.id);
  expect((await client.get(`/v1/group-join-requests/${requestId}`)).body).toMatchObject({ status: 'accepted' });
  expectProblem(await answer('decline', requestId), 'rule_violated');
  expectProblem(await answer('withdraw', requestId, client), 'rule_violated');
  await eventually(async () => (await topicsOf(client)).includes('group.join_decided'));
});

test('whoever is declined or withdraws can ask again', async () => {
  const id = await newGroup('apply');
  const first = (await join(id)).body.request_id as string;
  expect((await answer('decline', first)).status).toBe(200);
  const second = (await join(id)).body.request_id as string;
  expectProblem(await answer('withdraw', second, ownerClient), 'permission_denied');
  expect((await answer('withdraw', second, client)).status).toBe(200);
  expectProblem(await answer('accept', second), 'rule_violated');
  expect((await join(id)).body.status).toBe('requested');
  const { data } = (await client.get('/v1/group-join-requests?order_by=created_at')).body;
  expect(data.map(({ status }: { status: string }) => status)).toEqual(['declined', 'withdrawn', 'pending']);
  expect(await membersOf(id)).not.toContain(person.user.id);
});

test('of an acceptance, a refusal and a withdrawal at the same time one succeeds, and the others break a rule', async () => {
  const id = await newGroup('apply');
  const requestId = (await join(id)).body.request_id as string;
  const answers = await Promise.all([
    answer('accept', requestId),
    answer('decline', requestId, ownerClient),
    answer('withdraw', requestId, client),
  ]);
  const status = ['accepted', 'declined', 'withdrawn'].find((_, at) => answers[at]?.status === 200);
  const refused = answers.filter((each) => each.status !== 200);
  expect(refused).toHaveLength(2);
  for (const each of refused) {
    expectProblem(each, 'rule_violated');
    expect(each.body.detail).toBe(`This request is ${status}; only pending requests can be answered or withdrawn.`);
  }
  expect((await client.get(`/v1/group-join-requests/${requestId}`)).body).toMatchObject({ status });
  expect((await membersOf(id)).includes(person.user.id)).toBe(status === 'accepted');
});

test('rights are those of the moment: a manager who is none any more does not decide, and who has left is not admitted', async () => {
  const id = await newGroup('apply');
  const requestId = (await join(id)).body.request_id as string;
  const [held] = (await ownerClient.get(`/v1/group-memberships?group_id=${id}`)).body.data;
  const url = `/v1/group-memberships/${held.id}`;
  await ownerClient.mutate({ method: 'PATCH', url, payload: { role: 'member' } });
  expectProblem(await answer('accept', requestId), 'not_found');
  await ownerClient.mutate({ method: 'PATCH', url, payload: { role: 'admin' } });
  const [membership] = (await ownerClient.get(`/v1/memberships?user_id=${person.user.id}`)).body.data;
  await ownerClient.mutate({ method: 'DELETE', url: `/v1/memberships/${membership.id}` });
  expectProblem(await answer('accept', requestId), 'not_found');
  expect(await membersOf(id)).not.toContain(person.user.id);
});

test('GraphQL does the same', async () => {
  const id = await newGroup('apply');
  const asked = await client.graphql(`mutation { joinGroup(id: "${id}") { status requestId group { id } } }`);
  expect(asked.data.joinGroup).toMatchObject({ status: 'REQUESTED', requestId: expect.any(String) });
  const { requestId } = asked.data.joinGroup;
  const accept = `mutation { acceptGroupJoinRequest(id: "${requestId}") { group { id } } }`;
  expectGraphqlError(await client.graphql(accept), 'permission_denied');
  const listed = await manager.graphql(`{ openGroupJoinRequests(id: "${id}") { id userId message } }`);
  expect(listed.data.openGroupJoinRequests).toEqual([{ id: requestId, userId: person.user.id, message: null }]);
  // Tokens see no requests, over either interface.
  const token = await manager.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['group:write'] });
  const program = world.client();
  program.bearer = token.body.token;
  expectProblem(await program.get(`/v1/groups/${id}/join-requests`), 'permission_denied');
  expectGraphqlError(await program.graphql(`{ openGroupJoinRequests(id: "${id}") { id } }`), 'permission_denied');
  const kindsFor = async (by: TestClient) => JSON.stringify((await by.get('/v1/kinds')).body);
  expect(await kindsFor(manager)).toContain('"openGroupJoinRequests"');
  expect(await kindsFor(program)).not.toContain('"openGroupJoinRequests"');
  const withdrawn = await client.graphql(
    `mutation { withdrawGroupJoinRequest(id: "${requestId}") { groupJoinRequest { status } } }`,
  );
  expect(withdrawn.data.withdrawGroupJoinRequest.groupJoinRequest.status).toBe('WITHDRAWN');
  const again = await client.graphql(`mutation { joinGroup(id: "${id}", message: "please") { requestId } }`);
  const second = again.data.joinGroup.requestId as string;
  expect(
    (await manager.graphql(`mutation { declineGroupJoinRequest(id: "${second}") { group { id } } }`)).errors,
  ).toBeUndefined();
  expectGraphqlError(await manager.graphql(accept.replace(requestId, second)), 'rule_violated');
});
