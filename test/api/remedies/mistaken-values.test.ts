import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem, fieldProblems } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

test.each([
  ['1', 'it is 1. Send "1".'],
  ["'1'", `it is '1'. Send "1".`],
  ['1, 2', 'it is 1, 2. Send "1", "2".'],
  ['"1', 'it is "1. Send "1".'],
  ['latest', 'it is latest.'],
])('If-Match: %s is answered with the header in quotes', async (header, end) => {
  const { body } = await client.post('/v1/tasks', { title: 'quoted' });
  const url = `/v1/tasks/${body.id}`;
  const change = (tag: string) =>
    client.mutate({ method: 'PATCH', url, headers: { 'if-match': tag }, payload: { title: 'changed' } });
  const answer = await change(header);
  expectProblem(answer, 'malformed_request');
  expect(answer.body.detail).toBe(`The header If-Match must be * or entity tags in double quotes, such as "3"; ${end}`);
  const [, meant] = /Send (.*)\.$/.exec(end) ?? [];
  expect((await change(meant ?? '*')).status).toBe(200);
});

describe('a misspelt scope is answered with the one that was meant', () => {
  test.each([
    ['/v1/personal-access-tokens', 'createPersonalAccessToken'],
    ['/v1/api-tokens', 'createApiToken'],
  ])('by %s', async (path, field) => {
    const scopes = ['tasks:read', 'task:raed', 'nothing like it'];
    const answer = await client.post(path, { name: 'mine', scopes });
    expectProblem(answer, 'invalid_input');
    const problems = [
      {
        path: '/scopes/0',
        message: expect.stringMatching(
          /^is not a scope that can be given here; it is "tasks:read" \(did you mean "task:read"\?\)\. Scopes are the topic of a kind, .*: .*task:read, /,
        ),
      },
      {
        path: '/scopes/1',
        message: 'is not a scope that can be given here; it is "task:raed" (did you mean "task:read"?)',
      },
      { path: '/scopes/2', message: 'is not a scope that can be given here; it is "nothing like it"' },
    ];
    expect(fieldProblems(answer)).toEqual(problems);
    const typeName = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
    const graphql = await client.graphql(`mutation ($input: ${typeName}!) { ${field}(input: $input) { token } }`, {
      input: { name: 'mine', scopes },
    });
    expect(fieldProblems(graphql)).toEqual(problems);
  });
});

test('a misspelt topic of a webhook endpoint is answered with the one that was meant', async () => {
  const input = { name: 'orders', url: 'https://example.com/hook', scopes: ['task:raed'] };
  const topics = ['task.create', 'tasks.*', 'nothing like it', 'task'];
  const answer = await client.post('/v1/webhook-endpoints', { ...input, topics });
  expectProblem(answer, 'invalid_input');
  const message = (hint: string, index: number) =>
    `is not a type of event that endpoints receive; it is "${topics[index]}"${hint}; GET /v1/event-types lists them`;
  expect(fieldProblems(answer)).toEqual(
    expect.arrayContaining([
      { path: '/topics/0', message: message(' (did you mean "task.created"?)', 0) },
      { path: '/topics/1', message: message(' (did you mean "task.*"?)', 1) },
      { path: '/topics/2', message: message('', 2) },
      { path: '/topics/3', message: message(' (did you mean "task.*"?)', 3) },
      { path: '/scopes/0', message: expect.stringContaining('did you mean "task:read"?') },
    ]),
  );
});

test('a plus sign in a timestamp of a query that was not percent-encoded is named', async () => {
  const written = '2026-01-31T12:00:00+02:00';
  for (const [query, path] of [
    [`due_at[gte]=${written}`, '/due_at[gte]'],
    [`created_at=${written}`, '/created_at'],
    [`due_at[in]=${written}`, '/due_at[in]/0'],
  ]) {
    const answer = await client.get(`/v1/tasks?${query}`);
    expectProblem(answer, 'invalid_input');
    expect(fieldProblems(answer)).toEqual([
      {
        path,
        message:
          'must be a timestamp such as 2026-01-31T12:00:00Z; it is "2026-01-31T12:00:00 02:00". A "+" in a URL stands for a space: write it as %2B, or write the timestamp in UTC: 2026-01-31T10:00:00.000Z',
      },
    ]);
  }
  expect((await client.get(`/v1/tasks?due_at[gte]=${encodeURIComponent(written)}`)).status).toBe(200);
  expect((await client.get('/v1/tasks?due_at[gte]=2026-01-31T10:00:00.000Z')).status).toBe(200);
  const other = await client.get('/v1/tasks?due_at[gte]=next%20week');
  expect(other.body.detail).not.toContain('%2B');
});

test.each([
  ['{ tasks(limit: 5) { totalCount } }', 'Its arguments are first, last, after, before, where, orderBy, view.'],
  ['{ tasks(order_by: []) { totalCount } }', 'Did you mean "orderBy"?'],
  ['mutation { createTask(title: "x") { task { id } } }', 'Its arguments are input.'],
  ['{ self(id: "x") { id } }', 'It has no arguments.'],
])('an unknown argument is answered with those that there are: %s', async (query, hint) => {
  const answer = await client.graphql(query);
  const messages = answer.body.errors.map(({ message }: { message: string }) => message);
  expect(messages).toContainEqual(expect.stringMatching(/^Unknown argument "\w+" on field "/));
  expect(messages.join('\n')).toContain(hint);
});

test.each([
  ['{ parentId: null }', '/where/parentId', /leave it out, or write \{ isNull: true \} for records without a value$/],
  ['{ title: null }', '/where/title', /^cannot be null; leave it out$/],
  ['{ parentId: { eq: null } }', '/where/parentId/eq', /isNull: true finds records without a value$/],
  ['{ title: { eq: null } }', '/where/title/eq', /leave it out: every record has a value$/],
  ['{ not: { or: [{ dueAt: { ne: null } }] } }', '/where/not/or/0/dueAt/ne', /isNull: true/],
])('null in a filter of GraphQL is answered with what to write: %s', async (where, path, message) => {
  const answer = await client.graphql(`{ tasks(where: ${where}) { totalCount } }`);
  expectGraphqlError(answer, 'invalid_input');
  expect(fieldProblems(answer)).toEqual([{ path, message: expect.stringMatching(message) }]);
});

test.each([
  ['secret-token', '; it has one word.'],
  ['Bearer', '; it has no token.'],
  ['Basic c2VjcmV0', '; it has the scheme Basic.'],
  ['Bearer Bearer secret-token', '; it has 3 words.'],
  ['Bearer "secret-token"', '; the token has characters that no token has, such as quotes.'],
])(
  'a header Authorization of another form is answered with what it has, never with the token: %s',
  async (sent, end) => {
    const headers = { authorization: sent };
    const answer = await world.client().request({ method: 'GET', url: '/v1/tasks', headers });
    expectProblem(answer, 'unauthenticated');
    expect(answer.body.detail).toBe(`The header Authorization must be the word Bearer, a space and a token${end}`);
  },
);

test('a header X-Organization-ID that is no id is named, with the way to the ids', async () => {
  const answer = await client.get('/v1/tasks', { 'x-organization-id': 'acme' });
  expectProblem(answer, 'invalid_input');
  expect(answer.body.detail).toMatch(/is not an id; it is "acme"; GET \/v1\/organizations lists your organizations/);
});
