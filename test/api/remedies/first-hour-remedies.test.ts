import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { expectProblem, fieldProblems } from '../../kit/expect-problem.ts';
import { formOf } from '../../kit/files/multipart-form.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

/** The messages of an answer of GraphQL, in lines. */
async function messagesOf(query: string, variables?: object): Promise<string> {
  const { body } = await client.graphql(query, variables);
  return (body.errors ?? []).map(({ message }: { message: string }) => message).join('\n');
}

describe('an address that other products have', () => {
  test.each([
    ['/v1/webhooks', 'did you mean /v1/webhook-endpoints?'],
    ['/v1/webhooks/01J00000000000000000000000', 'did you mean /v1/webhook-endpoints/01J00000000000000000000000?'],
    ['/v1/comments', 'did you mean /v1/notes?'],
    ['/v1/invitations', 'did you mean /v1/invites?'],
    ['/invitations', 'did you mean /v1/invites?'],
    ['/v1/members', 'did you mean /v1/memberships?'],
    ['/v1/teams', 'did you mean /v1/groups?'],
    ['/v1/signup', 'did you mean /v1/register?'],
    ['/v1/auth/login', 'did you mean /v1/login?'],
    ['/v1/attachments', 'did you mean /v1/task-files?'],
    ['/v1/me', 'did you mean /v1/account/userinfo?'],
    ['/search', 'did you mean /v1/search?'],
  ])('%s is answered with that of this one', async (path, remedy) => {
    const answer = await client.get(path);
    expectProblem(answer, 'route_not_found');
    expect(answer.body.detail).toContain(remedy);
  });

  test('that this one does not have is not answered with a route that has only the version, or takes it as a value', async () => {
    for (const word of ['projects', 'statistics'])
      expect((await client.get(`/v1/${word}`)).body.detail).toBe(`There is no route GET /v1/${word}; see /docs.`);
  });

  test('in place of an id, me is answered with where the own id is', async () => {
    const hint = 'Your own id is "sub" of GET /v1/account/userinfo, in GraphQL { self { id } }.';
    expect((await client.get('/v1/users/me')).body.detail).toBe(`There is no User "me". ${hint}`);
    expect(fieldProblems(await client.get('/v1/tasks?assignee_id=me'))).toEqual([
      { path: '/assignee_id', message: `is not an id; it is "me". ${hint}` },
    ]);
  });
});

test('a record of another organization is answered with the organization in which one acts, as one that is nowhere', async () => {
  const { body: other } = await client.post('/v1/organizations', { name: `Other ${newId()}` });
  const { body: task } = await client.post('/v1/tasks', { title: 'here' });
  const elsewhere = await signedIn(world, owner);
  expect((await elsewhere.post('/v1/switch', { target_organization_id: other.id })).status).toBe(200);
  for (const id of [task.id, newId()]) {
    const said = `There is no Task "${id}" in the organization in which you act.`;
    expect((await elsewhere.get(`/v1/tasks/${id}`)).body.detail).toBe(said);
    expect((await elsewhere.post('/v1/notes', { text: 'x', task_id: id })).body.detail).toBe(said);
    const { body } = await elsewhere.graphql('query ($id: ID!) { task(id: $id) { id } }', { id });
    expect(body.errors[0].message).toBe(said);
  }
});

test('a sign-in of a program without the CSRF token is answered with the call that gives one', async () => {
  const login = { username: owner.user.email, password: testPassword };
  const answer = await world.client().request({ method: 'POST', url: '/v1/login', payload: login });
  expectProblem(answer, 'csrf_token_missing');
  expect(answer.body.detail).toContain('Programs do the same before they are signed in: GET /livez sets the cookie.');
  expect(answer.body.detail).not.toContain('send an access token');
});

test('an API token of which a part is missing is not answered with a sign-in', async () => {
  const { body } = await client.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] });
  const program = world.client();
  for (const token of [body.token.slice(0, 20), `${body.token.slice(0, 31)}`]) {
    program.bearer = token;
    const answer = await program.get('/v1/tasks');
    expectProblem(answer, 'unauthenticated');
    expect(answer.body.detail).toBe(
      'The token is not complete: send the whole value of "token" in the response that created it.',
    );
  }
  program.bearer = body.token;
  expect((await program.get('/v1/tasks')).status).toBe(200);
});

test('what GraphQL answers of kinds that the scopes of a token leave out is empty, as docs/sign-in.md says', async () => {
  const { body: task } = await client.post('/v1/tasks', { title: 'beside', assignee_id: owner.user.id });
  await client.post('/v1/notes', { text: 'x', task_id: task.id });
  const { body } = await client.post('/v1/personal-access-tokens', { name: 'tasks alone', scopes: ['task:read'] });
  const program = world.client();
  program.bearer = body.token;
  const query = `{ task(id: "${task.id}") { assigneeId assignee { id } notes { edges { node { id } } } } }`;
  const answer = await program.graphql(query);
  expect(answer.errors).toBeUndefined();
  expect(answer.data.task).toEqual({ assigneeId: owner.user.id, assignee: null, notes: { edges: [] } });
  const { errors } = await program.graphql('{ notes { edges { node { id } } } }');
  expect(errors?.[0]?.message).toBe('This token does not have the scope note:read.');
});

describe('a body that is almost JSON is answered with what is wrong at that place', () => {
  test.each([
    ['{"title":"x",}', 'a comma is followed by no further member; remove it'],
    ['{"tags":["x",]}', 'a comma is followed by no further member; remove it'],
    ["{'title':'x'}", 'names and texts are written in double quotes'],
    ['{title:"x"}', 'names and texts are written in double quotes'],
    ['{"title":"x"', 'the document ends before all of its brackets and texts are closed'],
    ['{"title":"x\ny"}', 'a line break in a text is written as \\n'],
  ])('%s', async (payload, reason) => {
    const answer = await client.mutate({
      method: 'POST',
      url: '/v1/tasks',
      payload,
      headers: { 'content-type': 'application/json' },
    });
    expectProblem(answer, 'malformed_body');
    expect(answer.body.detail).toContain(`: ${reason}. Send a JSON document in UTF-8.`);
  });
});

describe('an operation of GraphQL', () => {
  test.each([
    [
      '{ createTask(input: { title: "x" }) { task { id } } }',
      'It is a field of Mutation: write mutation { createTask … }.',
    ],
    ['mutation { tasks { totalCount } }', 'It is a field of Query: write query { tasks … }.'],
    ['{ me { id } }', 'Did you mean "self"?'],
    ['{ viewer { id } }', 'Did you mean "self"?'],
    ['mutation { shareTask { id } }', 'createTaskShare'],
    ['mutation { frobnicate { id } }', 'GraphiQL, at /graphql in a browser, lists its fields.'],
    ['{ tasks { nodes { title } } }', 'Its records are in edges { node { … } }.'],
    ['{ tasks { title } }', 'Write edges { node { title } }.'],
  ])('with an unknown field says where the right one is: %s', async (query, hint) => {
    expect(await messagesOf(query)).toContain(hint);
  });

  test('that ends before its braces are closed says so', async () => {
    for (const query of ['{ tasks { totalCount }', 'mutation { createTask(input: { title: "x" }) { createdId }'])
      expect(await messagesOf(query)).toMatch(/found <EOF>\. The document ends before all of its braces are closed\.$/);
    expect(await messagesOf('{ tasks { totalCount } } }')).not.toContain('all of its braces');
  });

  test('without a variable that it needs names the variable, and those that were sent in vain', async () => {
    const query = 'mutation ($i: CreateTaskInput!) { createTask(input: $i) { createdId } }';
    const answer = await client.graphql(query, { input: { title: 'x' } });
    expect(fieldProblems(answer)).toEqual([
      { path: '/i', message: 'is required: the operation has the variable $i, and "variables" has input' },
    ]);
    expect(fieldProblems(await client.graphql(query))).toEqual([
      { path: '/i', message: 'is required: the operation has the variable $i, and "variables" has no values' },
    ]);
  });

  test('with a constant of a long list in small letters names the one that is meant first', async () => {
    const said = await messagesOf(
      `{ explainAccess(kind: task, id: "${newId()}", operation: VIEW, userId: "${newId()}") { isAllowed } }`,
    );
    expect(said).toMatch(/kind must be another value \(did you mean "TASK"\?\): one of API_TOKEN, /);
  });
});

describe('a parameter of a list', () => {
  test.each([
    ['due_at_gte=2026-01-01T00:00:00Z', '/due_at_gte', 'is not a known field; did you mean "due_at[gte]"?'],
    ['due_at__lt=2026-01-01T00:00:00Z', '/due_at__lt', 'is not a known field; did you mean "due_at[lt]"?'],
    ['due_at>=2026-01-01T00:00:00Z', '/due_at>', 'is not a known field; did you mean "due_at[gte]"?'],
    ['q=policy', '/q', 'is not a known field; did you mean "search"?'],
    ['search_text=policy', '/search_text', 'is not a known field; did you mean "search"?'],
  ])('of another product is answered with that of this one: %s', async (query, path, message) => {
    expect(fieldProblems(await client.get(`/v1/tasks?${query}`))).toEqual([{ path, message }]);
  });

  test('for a search of records that are not searched is answered with where the others are', async () => {
    expect(fieldProblems(await client.get('/v1/notifications?q=policy'))).toEqual([
      {
        path: '/q',
        message:
          'is not a known field: these records are not searched; GET /v1/search?query=… searches all kinds that are',
      },
    ]);
  });
});

test('a missing field with few values is answered with them, over REST and GraphQL', async () => {
  const { body: task } = await client.post('/v1/tasks', { title: 'shared' });
  const { body: group } = await client.post('/v1/groups', { name: `Group ${newId()}` });
  expect(fieldProblems(await client.post('/v1/task-shares', { task_id: task.id, group_id: group.id }))).toEqual([
    { path: '/relation', message: 'is required: one of viewer, editor, blocked' },
  ]);
  const input = `{ taskId: "${task.id}", groupId: "${group.id}" }`;
  expect(await messagesOf(`mutation { createTaskShare(input: ${input}) { createdId } }`)).toContain(
    'relation is required: one of VIEWER, EDITOR, BLOCKED',
  );
});

describe('a file in a form', () => {
  test('to a route of records is answered with the way of files', async () => {
    const { payload, type } = formOf([{ field: 'content', content: 'Some notes.', name: 'notes.txt' }]);
    const answer = await client.mutate({
      method: 'POST',
      url: '/v1/files',
      payload,
      headers: { 'content-type': type },
    });
    expectProblem(answer, 'unsupported_media_type');
    expect(answer.body.detail).toMatch(
      /^The content type of the body is multipart\/form-data; send the header "Content-Type: application\/json"\. Files go to POST \/v1\/uploads first/,
    );
  });
});

test('a file that was sent without a form is answered with the form', async () => {
  const headers = { 'content-type': 'text/plain' };
  const answer = await client.mutate({ method: 'POST', url: '/v1/uploads', payload: 'Some notes.', headers });
  expectProblem(answer, 'unsupported_media_type');
  expect(answer.body.detail).toContain('With curl, it is -F uploadFile=@FILE');
});

test('an address that is invited is answered with both calls', async () => {
  const recipient = `${newId().toLowerCase()}@example.com`;
  const { body: invite } = await client.post('/v1/invites', { recipient });
  const again = await client.post('/v1/invites', { recipient });
  expectProblem(again, 'already_exists');
  expect(again.body.detail).toContain('POST /v1/invites/{id}/resend');
  expect((await client.post(`/v1/invites/${invite.id}/withdraw`)).status).toBe(200);
  expect((await client.post('/v1/invites', { recipient })).status).toBe(201);
});

describe('a task and a group', () => {
  test('that are linked alone share nothing, and the description of the input says so', async () => {
    const member = await buildPerson(world);
    const { body: group } = await client.post('/v1/groups', { name: `Linked ${newId()}` });
    const made = await client.post('/v1/tasks', { title: 'linked', add_group_ids: [group.id] });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    expect(member.user.id).not.toBe(owner.user.id);
    const { body: document } = await client.get('/openapi.json');
    const { $ref: reference } = document.paths['/v1/tasks'].post.requestBody.content['application/json'].schema;
    const { properties } = document.components.schemas[String(reference).split('/').at(-1) ?? ''];
    expect(properties.add_group_ids.description).toContain('A link gives nobody access: a task share does.');
    const { data } = await client.graphql('{ __type(name: "CreateTaskInput") { inputFields { name description } } }');
    const field = data.__type.inputFields.find(({ name }: { name: string }) => name === 'addGroupIds');
    expect(field.description).toContain('A link gives nobody access: a task share does.');
  });

  test('POST to the links is answered with both calls that may be meant', async () => {
    const answer = await client.post('/v1/task-groups', {});
    expectProblem(answer, 'method_not_allowed');
    for (const word of ['POST /v1/task-shares', 'add_group_ids']) expect(answer.body.detail).toContain(word);
  });
});
