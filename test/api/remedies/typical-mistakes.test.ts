import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectProblem, fieldProblems } from '../../kit/expect-problem.ts';
import { formOf } from '../../kit/files/multipart-form.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  client = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

const exampleTime = 'must be a timestamp such as 2026-01-31T12:00:00Z; it is';
const noZone = '. It names no time zone: add Z for UTC, or its offset';
const noTime = '. A timestamp has a time, too: "2026-12-01T00:00:00Z" is the beginning of that day in UTC';
const noDay = '. The calendar has no 2026-02-30';

describe('a timestamp that lacks a part is answered with what is missing', () => {
  test.each([
    ['2026-12-01T00:00:00', noZone],
    ['2026-12-01', noTime],
    ['2026-02-30', noDay],
    ['2026-02-30T00:00:00Z', noDay],
  ])('%s', async (dueAt, hint) => {
    const message = `${exampleTime} "${dueAt}"${hint}`;
    const inBody = await client.post('/v1/tasks', { title: 'x', due_at: dueAt });
    expect(fieldProblems(inBody)).toEqual([{ path: '/due_at', message }]);
    const inQuery = await client.get(`/v1/tasks?due_at[gte]=${dueAt}`);
    expect(fieldProblems(inQuery)).toEqual([{ path: '/due_at[gte]', message }]);
    const inDocument = await client.graphql(
      `mutation { createTask(input: { title: "x", dueAt: "${dueAt}" }) { createdId } }`,
    );
    expect(fieldProblems(inDocument)).toEqual([{ path: '/dueAt', message }]);
    const inFilters = await client.post('/v1/exports', { record_kind: 'task', filters: { due_at: { gte: dueAt } } });
    expect(fieldProblems(inFilters)).toEqual([{ path: '/filters/due_at/gte', message }]);
    const inCell = await client.graphql('mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { id } } }', {
      csv: `title,dueAt\nx,${dueAt}\n`,
    });
    expect(fieldProblems(inCell)).toEqual([{ path: '/0/dueAt', message: `line 2, column "dueAt": ${message}` }]);
  });

  test('also a number, which is not asked for as a text', async () => {
    const answer = await client.post('/v1/tasks', { title: 'x', due_at: 1_795_470_863 });
    expect(fieldProblems(answer)).toEqual([{ path: '/due_at', message: `${exampleTime} 1795470863` }]);
  });
});

test('null in place of a constant is answered once, with the constants', async () => {
  const { body } = await client.post('/v1/tasks', { title: 'x' });
  const answer = await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload: { status: null } });
  expectProblem(answer, 'invalid_input');
  expect(fieldProblems(answer)).toEqual([
    { path: '/status', message: 'must be one of open, in_progress, in_review, completed, wont_do; it is null' },
  ]);
});

test('an e-mail address or small letters in place of an id are answered with the way to the id', async () => {
  const assignee = (id: string) => client.post('/v1/tasks', { title: 'x', assignee_id: id });
  const { body: created } = await client.post('/v1/tasks', { title: 'x' });
  const hint = 'the filter "email" of the list of users finds the person with the id.';
  for (const answer of [
    await assignee('ada@example.com'),
    await client.get('/v1/tasks?assignee_id=ada@example.com'),
    await client.graphql('{ tasks(where: { assigneeId: { eq: "ada@example.com" } }) { totalCount } }'),
  ])
    expect(fieldProblems(answer)).toEqual([
      { path: expect.stringMatching(/assignee/), message: expect.stringContaining(hint) },
    ]);
  const small = String(created.id).toLowerCase();
  expect(fieldProblems(await assignee(small))).toEqual([
    { path: '/assignee_id', message: `is not an id; it is "${small}". The letters of ids are capital letters.` },
  ]);
  expect((await client.get(`/v1/tasks/${small}`)).body.detail).toBe(
    `There is no Task "${small}". The letters of ids are capital letters.`,
  );
});

test.each([
  ['/v1/login', { email: 'ada@example.com', password: 'wrong' }, 'username'],
  ['/v1/invites', { email: 'ada@example.com' }, 'recipient'],
])('the field email, which %s does not have, is answered with the one that is meant', async (path, body, meant) => {
  const answer = await client.post(path, body);
  expect(fieldProblems(answer)).toContainEqual({
    path: '/email',
    message: `is not a known field; did you mean "${meant}"?`,
  });
});

test('an order that is no object is answered with its fields', async () => {
  const answer = await client.graphql('{ tasks(orderBy: ["title"]) { totalCount } }');
  expect(fieldProblems(answer)).toEqual([
    {
      path: '/orderBy/0',
      message: expect.stringMatching(/^must be an object such as \{ \w+: …, \w+: … \}; it is "title"$/),
    },
  ]);
});

test('ids that are none are refused by the messages and attempts of a webhook endpoint, and by its replay', async () => {
  const { body: endpoint } = await client.post('/v1/webhook-endpoints', {
    name: 'orders',
    url: 'https://93.184.216.34/hook',
    topics: ['task.*'],
    scopes: ['task:read'],
  });
  const path = `/v1/webhook-endpoints/${endpoint.id}`;
  const known = '01M856EA0100SCGGA8P8JN60T7';
  const replay = await client.post(`${path}/replay`, { event_ids: [known, 'x'] });
  expectProblem(replay, 'invalid_input');
  expect(fieldProblems(replay)).toEqual([{ path: '/event_ids/1', message: 'is not an id; it is "x"' }]);
  for (const list of ['messages', 'attempts'])
    for (const name of ['event_id', 'after']) {
      const answer = await client.get(`${path}/${list}?${name}=x`);
      expectProblem(answer, 'invalid_input');
      expect(fieldProblems(answer)).toEqual([{ path: `/${name}`, message: 'is not an id; it is "x"' }]);
      expect((await client.get(`${path}/${list}?${name}=${known}`)).status).toBe(200);
    }
  expect((await client.post(`${path}/replay`, { event_ids: [known] })).status).toBe(202);
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect(fieldProblems(await client.post(`${path}/replay`, { since: later }))).toEqual([
    { path: '/since', message: `must not be in the future; it is "${later}"` },
  ]);
});

test('a kind that belongs to no organization is not called unknown', async () => {
  const answer = await client.post('/v1/exports', { record_kind: 'user' });
  expectProblem(answer, 'invalid_input');
  expect(fieldProblems(answer)).toEqual([
    {
      path: '/record_kind',
      message: expect.stringMatching(
        /^is a kind that belongs to no organization, so it cannot be chosen here; kinds are /,
      ),
    },
  ]);
});

describe('an upload', () => {
  const text = [{ field: 'uploadFile', content: 'notes.txt' }];
  const send = (url: string, payload: Buffer | string | undefined, headers: Record<string, string>) =>
    client.mutate({ method: 'POST', url, headers, ...(payload === undefined ? {} : { payload }) });

  test('with the name of a file in place of the file says how to send the file', async () => {
    const { payload, type } = formOf(text);
    const answer = await send('/v1/uploads', payload, { 'content-type': type });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.detail).toBe(
      'The field "uploadFile" has a text and no file. A file is a part with a file name; with curl, write @ before the path of the file.',
    );
    const query = 'mutation ($file: Upload!) { createFile(input: { content: $file }) { createdId } }';
    const form = formOf([
      { field: 'operations', content: JSON.stringify({ query, variables: { file: null } }) },
      { field: 'map', content: '{"0":["variables.file"]}' },
      { field: '0', content: 'notes.txt' },
    ]);
    const inGraphql = await send('/graphql', form.payload, { 'content-type': form.type });
    expect(inGraphql.body.errors[0].message).toContain('with curl, write @ before the path of the file');
  });

  test('without a content type, or with one that the client did not write, says so', async () => {
    const missing = await send('/v1/uploads', undefined, {});
    expectProblem(missing, 'malformed_body');
    expect(missing.body.detail).toContain('the header Content-Type is missing; send a form');
    const noBoundary = await send('/v1/uploads', 'x', { 'content-type': 'multipart/form-data' });
    expectProblem(noBoundary, 'malformed_body');
    expect(noBoundary.body.detail).toContain('the Content-Type has no boundary; leave the header to the client');
  });

  test('that is resumable is not called missing when it is completed as a direct one', async () => {
    const begun = await send('/v1/uploads/resumable', undefined, {
      'tus-resumable': '1.0.0',
      'upload-length': '11',
      'upload-metadata': `filename ${btoa('notes.txt')}`,
    });
    const url = String(begun.headers['location']);
    const answer = await client.post(`${url}/complete`);
    expectProblem(answer, 'rule_violated');
    expect(answer.body.detail).toContain(`GET ${url} returns its status.`);
    expectProblem(await (await signedIn(world, await buildPerson(world))).post(`${url}/complete`), 'not_found');
  });
});

describe('what a task says about itself', () => {
  const change = (id: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });

  test.each(['nonsense', 'example.com/1', 'javascript:alert(1)', 'ftp://example.com/1', 'https://'])(
    'the URL %s is none that a browser opens',
    async (url) => {
      const message = `must be a URL with http or https, such as https://example.com/path; it is "${url}"`;
      const urls = ['https://example.com/1?a=b#c', url];
      const answer = await client.post('/v1/tasks', { title: 'x', external_urls: urls });
      expect(fieldProblems(answer)).toEqual([{ path: '/external_urls/1', message }]);
      const query =
        'mutation ($urls: [String!]) { createTask(input: { title: "x", externalUrls: $urls }) { createdId } }';
      const inGraphql = await client.graphql(query, { urls });
      expect(fieldProblems(inGraphql)).toEqual([{ path: '/externalUrls/1', message }]);
    },
  );

  test('it was completed when it is completed, and not in the future', async () => {
    const past = '2026-01-31T12:00:00Z';
    const later = new Date(Date.now() + 86_400_000).toISOString();
    const message = 'needs the status completed; it is "open"; send the status too, or leave this out';
    const problems = [{ path: '/completed_at', message }];
    expect(fieldProblems(await client.post('/v1/tasks', { title: 'x', completed_at: past }))).toEqual(problems);
    const { body } = await client.post('/v1/tasks', { title: 'x' });
    expect(fieldProblems(await change(body.id, { completed_at: past }))).toEqual(problems);
    const inFuture = await change(body.id, { status: 'completed', completed_at: later });
    expect(fieldProblems(inFuture)).toEqual([
      { path: '/completed_at', message: `must not be in the future; it is "${later}"` },
    ]);
    expect((await change(body.id, { status: 'completed', completed_at: past })).status).toBe(200);
    expect((await change(body.id, { status: 'open' })).body.completed_at).toBeNull();
  });

  test('null and an empty text in place of a title are the same mistake', async () => {
    const problems = [{ path: '/title', message: 'must not be empty' }];
    for (const title of [null, '', ' ']) {
      expect(fieldProblems(await client.post('/v1/tasks', { title }))).toEqual(problems);
      const query = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { createdId } }';
      expect(fieldProblems(await client.graphql(query, { input: { title } }))).toEqual(problems);
    }
  });
});

test('a document of only a header is refused, with what to write', async () => {
  const { errors } = await client.graphql('mutation { createBulkCSVTask(csv: "title,status\\n") { tasks { id } } }');
  expect(errors?.[0]?.message).toBe(
    'The CSV cannot be read: it has only a header; write a line for each record below it.',
  );
});

describe('a filter that compares with nothing', () => {
  const empty = 'must not be empty: every text has an empty one in it; leave the filter out for all records';
  const noNull = (instead: string) => `cannot be compared with null; ${instead} finds records without a value`;

  test.each([
    ['title[contains]=', '/title[contains]', empty],
    ['title[starts_with]=', '/title[starts_with]', empty],
    ['parent_id[ne]=null', '/parent_id[ne]', noNull('parent_id[is_null]=true')],
    ['due_at[ne]=null', '/due_at[ne]', noNull('due_at[is_null]=true')],
  ])('in a list: %s', async (query, path, message) => {
    expect(fieldProblems(await client.get(`/v1/tasks?${query}`))).toEqual([{ path, message }]);
  });

  test.each([
    [{ title: { contains: '' } }, '/title/contains', empty],
    [{ parentId: { ne: null } }, '/parentId/ne', noNull('isNull: true')],
  ])('in GraphQL and in the filter of an export: %j', async (where, path, message) => {
    const answer = await client.graphql('query ($where: TaskWhere) { tasks(where: $where) { totalCount } }', { where });
    expect(fieldProblems(answer)).toEqual([{ path: `/where${path}`, message }]);
    const exported = await client.post('/v1/exports', { record_kind: 'task', filters: where });
    // Over REST, operators have the names of REST.
    expect(fieldProblems(exported)).toEqual([
      { path: `/filters${path}`, message: message.replace('isNull', 'is_null') },
    ]);
  });
});

test('a switch to the name of an organization says what is needed', async () => {
  const answer = await client.post('/v1/switch', { target_organization_id: 'Acme and its daughters, Incorporated' });
  expect(fieldProblems(answer)).toEqual([
    {
      path: '/target_organization_id',
      message:
        'is not an id; it is "Acme and its daughters, Incorporated"; GET /v1/organizations lists your organizations with their ids',
    },
  ]);
});

test('the name of a file in place of an upload is answered with where the id comes from', async () => {
  const message =
    'must be the id of an upload; it is "notes.txt"; POST /v1/uploads takes a file and answers with the id of its upload';
  const problems = [{ path: '/content', message }];
  expect(fieldProblems(await client.post('/v1/files', { content: 'notes.txt' }))).toEqual(problems);
  const query = 'mutation { createFile(input: { content: "notes.txt" }) { createdId } }';
  expect(fieldProblems(await client.graphql(query))).toEqual(problems);
});

test.each([
  ['/v1/memberships', 'POST /v1/invites'],
  ['/v1/users', 'POST /v1/register'],
  ['/v1/sessions', 'POST /v1/login'],
])('POST %s is answered with what is meant', async (path, meant) => {
  const answer = await client.post(path, {});
  expectProblem(answer, 'method_not_allowed');
  expect(answer.body.detail).toContain(meant);
});

test('what is changed in another way is answered with that way', async () => {
  const patch = (path: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/${path}`, payload });
  const { body: self } = await client.get('/v1/account/userinfo');
  expect(fieldProblems(await patch(`users/${self.sub}`, { email: 'other@example.com' }))).toEqual([
    { path: '/email', message: 'is read-only: people change their own with POST /v1/account/email' },
  ]);
  const { body: token } = await client.post('/v1/personal-access-tokens', { name: 'mine', scopes: ['task:read'] });
  expect(fieldProblems(await patch(`personal-access-tokens/${token.id}`, { scopes: ['task:write'] }))).toEqual([
    { path: '/scopes', message: 'is read-only: it is given when the token is created; create another token' },
  ]);
  const invitation = await patch('invites/01M856EA0100SCGGA8P8JN60T7', { role: 'admin' });
  expectProblem(invitation, 'method_not_allowed');
  expect(invitation.body.detail).toContain('DELETE it and send another one with POST /v1/invites');
});

test('a number in place of a text, or a text in place of a number, is answered with how to write it', async () => {
  const answer = await client.post('/v1/tasks', { title: 5, priority: '5' });
  expect(fieldProblems(answer)).toEqual([
    { path: '/title', message: 'must be a text, in quotes; it is 5' },
    { path: '/priority', message: 'must be a whole number; it is "5". Write it without quotes: 5' },
  ]);
  // What is secret is not repeated.
  const login = await client.post('/v1/login', { username: 'ada@example.com', password: 123_456_789_012 });
  expect(fieldProblems(login)).toEqual([{ path: '/password', message: 'must be a text, in quotes' }]);
  const zeros = await client.post('/v1/tasks', { title: 'x', priority: '007' });
  expect(fieldProblems(zeros)).toEqual([{ path: '/priority', message: 'must be a whole number; it is "007"' }]);
});

test('several constants in one filter are answered with the filter that takes a list', async () => {
  const answer = await client.get('/v1/tasks?status=open,completed');
  const near = await client.get('/v1/tasks?status=open,done');
  expect(fieldProblems(near)).toEqual([{ path: '/status', message: expect.stringMatching(/"open,done"$/) }]);
  expect(fieldProblems(answer)).toEqual([
    { path: '/status', message: expect.stringMatching(/\. Several values: status\[in\]=open,completed$/) },
  ]);
});

test('a GraphQL document that is sent as it is, is answered with the form of a request', async () => {
  const headers = { 'content-type': 'application/json' };
  const answer = await client.mutate({ method: 'POST', url: '/graphql', headers, payload: '{ tasks { totalCount } }' });
  expect(answer.body.errors[0].message).toContain('Send a GraphQL document as {"query":"…"}');
});

test('a browser that asks for a page of another origin is told that it may not call', async () => {
  const answer = await world.client().request({
    method: 'OPTIONS',
    url: '/v1/tasks',
    headers: { origin: 'http://localhost:3000', 'access-control-request-method': 'POST' },
  });
  expectProblem(answer, 'method_not_allowed');
  expect(answer.body.detail).toContain('Pages of the origin http://localhost:3000 may not call this address');
});

test('the trace of a request that changed nothing says what can be seen', async () => {
  const answer = await client.get('/trace/unknown-request');
  expectProblem(answer, 'not_found');
  expect(answer.body.detail).toContain('Traces show only the organization in which you act');
});

test('a tag whose name differs from that of another in the case of its letters is the same tag', async () => {
  expect((await client.post('/v1/tags', { name: 'Red' })).status).toBe(201);
  const again = await client.post('/v1/tags', { name: 'rED' });
  expectProblem(again, 'already_exists');
  expect(fieldProblems(again)).toMatchObject([{ path: '/name' }]);
  const query = 'mutation { createBulkTag(inputs: [{ name: "Blue" }, { name: "blue" }]) { tags { id } } }';
  const both = await client.graphql(query);
  expect(both.errors?.[0]?.extensions).toMatchObject({ code: 'already_exists' });
});
