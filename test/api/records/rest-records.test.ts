import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { snakeCase } from '#entities/kit/base/snake-case.ts';
import { resolved } from '../../kit/http/described-api.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let member: TestClient;
let stranger: TestClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  stranger = await signedIn(world, await buildPerson(world));
});
afterAll(() => world.close());

const patch = (url: string, payload: object, by = client) => by.mutate({ method: 'PATCH', url, payload });
const remove = (url: string, by = client) => by.mutate({ method: 'DELETE', url });

async function create(path: string, body: object, by = client): Promise<TestAnswer['body']> {
  const answer = await by.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

describe('a create', () => {
  test('answers with the record and says where it is', async () => {
    const answer = await client.post('/v1/tasks', { title: 'Write it down', due_at: '2026-01-31T12:00:00+01:00' });
    expect(answer.status).toBe(201);
    expect(answer.headers['location']).toBe(`/v1/tasks/${answer.body.id}`);
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      created_at: instant,
      updated_at: instant,
      record_version: 1,
      organization_id: owner.organization.id,
      display_id: expect.stringMatching(/^TSK-/),
      title: 'Write it down',
      details: null,
      status: 'open',
      priority: 0,
      due_at: '2026-01-31T11:00:00.000Z',
      completed_at: null,
      tags: [],
      assignee_id: null,
      assigner_id: owner.user.id,
      environment_id: null,
      has_open_proposal: false,
      external_id: null,
      external_urls: [],
      metadata: null,
      scope_id: null,
      type_id: null,
      parent_id: null,
    });
    expect((await client.get(String(answer.headers['location']))).body).toEqual(answer.body);
    const requestId = answer.headers['x-request-id'];
    expect(await asOwner(world, 'select topic from events where request_id = $1', [requestId])).toEqual([
      { topic: 'task.created' },
    ]);
  });

  test.each<[string, object, string]>([
    ['an unknown key', { title: 'a', colour: 'red' }, '/colour'],
    ['a field that only the server sets', { title: 'a', display_id: 'TSK-1' }, '/display_id'],
    ['another organization', { title: 'a', organization_id: newId() }, '/organization_id'],
    ['a name that is not in snake case', { title: 'a', dueAt: null }, '/dueAt'],
    ['nothing where something has to be', {}, '/title'],
    ['a word that is no choice', { title: 'a', status: 'OPEN' }, '/status'],
    ['another type', { title: 1 }, '/title'],
    ['a number that is too large', { title: 'a', priority: 101 }, '/priority'],
    ['a day that does not exist', { title: 'a', due_at: '2026-02-31T00:00:00Z' }, '/due_at'],
    ['too many members', { title: 'a', tags: Array.from({ length: 51 }, String) }, '/tags'],
    ['null where a value has to be', { title: null }, '/title'],
  ])('refuses %s', async (_name, body, path) => {
    const answer = await client.post('/v1/tasks', body);
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors.map((each: { path: string }) => each.path)).toContain(path);
  });

  test('refuses what exists already, and leaves nothing of it', async () => {
    const name = `tag-${newId()}`;
    await create('/v1/tags', { name });
    const answer = await client.post('/v1/tags', { name });
    expectProblem(answer, 'already_exists');
    expect(answer.body.errors).toEqual([{ path: '/name', message: 'This tag already exists.' }]);
    expect((await client.get(`/v1/tags?name=${name}&count=true`)).body.total_count).toBe(1);
  });

  test.each([
    [{ title: '' }, { path: '/title', message: 'must not be empty' }],
    [{ title: ' ' }, { path: '/title', message: 'must not be empty' }],
    [
      { title: 'a', tags: ['a', '\t'] },
      { path: '/tags/1', message: 'must not be empty' },
    ],
    [
      { title: 'a', parent_id: 'x' },
      { path: '/parent_id', message: 'is not an id; it is "x"' },
    ],
  ])('says in words what is wrong with %j', async (body, problem) => {
    expect((await client.post('/v1/tasks', body)).body.errors).toEqual([problem]);
  });

  test('is for those whom the rules let', async () => {
    expectProblem(await member.post('/v1/invites', { recipient: 'a@example.com' }), 'permission_denied');
    // No e-mail is sent for it, and it does not say so.
    const { body: invite } = await client.post('/v1/invites', { recipient: 'b@example.com' });
    expect(invite).toMatchObject({ status: 'pending', send_attempts: 0 });
    expectProblem(await world.client().post('/v1/tasks', { title: 'a' }), 'unauthenticated');
  });

  test('needs the CSRF token of the session', async () => {
    const answer = await client.request({ method: 'POST', url: '/v1/tasks', payload: { title: 'a' } });
    expectProblem(answer, 'csrf_token_missing');
  });
});

describe('an input says what is wrong with it, and what it should be', () => {
  const long = 'x'.repeat(600);

  test.each<[object, string, string]>([
    [{ display_id: 'TSK-1' }, '/display_id', 'is read-only: the server sets it'],
    [{ record_version: 1 }, '/record_version', 'is read-only: the server sets it'],
    [{ titel: 'a' }, '/titel', 'is not a known field; did you mean "title"?'],
    [
      { colour: 'red' },
      '/colour',
      'is not a known field; known are add_group_ids, assignee_id, assigner_id, completed_at, details, due_at, environment_id, external_id, external_urls, metadata, parent_id, priority, scope_id, status, tags, title, type_id',
    ],
    [{ title: 1 }, '/title', 'must be a text, in quotes; it is 1'],
    [{ title: null }, '/title', 'must not be empty'],
    [{ title: long }, '/title', 'must have at most 500 characters; it has 600'],
    [{ priority: 101 }, '/priority', 'must be at most 100; it is 101'],
    [{ priority: 'high' }, '/priority', 'must be a whole number; it is "high"'],
    [{ priority: -1 }, '/priority', 'must be at least 0; it is -1'],
    [{ due_at: 'soon' }, '/due_at', 'must be a timestamp such as 2026-01-31T12:00:00Z; it is "soon"'],
    [{ due_at: long }, '/due_at', `must be a timestamp such as 2026-01-31T12:00:00Z; it is "${long.slice(0, 64)}…"`],
    [{ tags: Array.from({ length: 51 }, String) }, '/tags', 'must have at most 50 items; it has 51'],
    [{ tags: 'a' }, '/tags', 'must be a list; it is "a"'],
  ])('%j', async (input, path, message) => {
    const { body } = await client.post('/v1/tasks', { title: 'a', ...input });
    expect(body.errors).toContainEqual({ path, message });
    expect(body.detail).toContain(`${path.slice(1)} ${message}`);
  });

  test('a change of what never changes', async () => {
    const { id } = await create('/v1/tasks', { title: 'a' });
    const { body } = await patch(`/v1/tasks/${id}`, { assigner_id: newId() });
    expect(body.errors).toEqual([{ path: '/assigner_id', message: 'cannot be changed after creation' }]);
  });

  test('but repeats no password and no token', async () => {
    const secret = 'hunter2'.repeat(300);
    for (const [url, body] of [
      ['/v1/login', { username: 'a@example.com', password: secret }],
      ['/v1/register', { email: 'a@example.com', password: secret }],
      ['/v1/verify', { token: secret }],
      ['/v1/verify', { token: [7_654_321] }],
      ['/v1/login', { username: 'a@example.com', password: 7_654_321 }],
    ] as const) {
      const answer = await client.post(url, body);
      expectProblem(answer, 'invalid_input', url);
      expect(JSON.stringify(answer.body), url).not.toMatch(/hunter2|7654321/);
    }
  });
});

describe('the same problem has the same code and the same words over REST and GraphQL', () => {
  const createTask = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id } } }';
  const change = `mutation ($id: ID!, $input: UpdateTaskInput!, $recordVersion: Int) {
    updateTask(id: $id, input: $input, recordVersion: $recordVersion) { task { id } } }`;
  const tasks = `query ($first: Int, $last: Int, $after: String) {
    tasks(first: $first, last: $last, after: $after) { totalCount } }`;
  type Request = () => Promise<TestAnswer>;
  const creation = (rest: object, graphql: object): [Request, Request] => [
    () => client.post('/v1/tasks', rest),
    () => client.graphql(createTask, { input: graphql }),
  ];
  const page = (query: string, variables: object): [Request, Request] => [
    () => client.get(`/v1/tasks?${query}`),
    () => client.graphql(tasks, variables),
  ];
  const missing = newId();
  let taskId: string;

  beforeAll(async () => {
    taskId = (await create('/v1/tasks', { title: 'the same' })).id;
    await create('/v1/tags', { name: 'the same' });
  });

  const problems: Record<string, [Request, Request]> = {
    'an unknown field': creation({ title: 'a', titel: 'b' }, { title: 'a', titel: 'b' }),
    'a read-only field': creation({ title: 'a', display_id: 'b' }, { title: 'a', displayId: 'b' }),
    'a missing value': creation({}, {}),
    'null for a value': creation({ title: null }, { title: null }),
    'an empty text': creation({ title: '' }, { title: '' }),
    'a long text': creation({ title: 'x'.repeat(501) }, { title: 'x'.repeat(501) }),
    'another type': creation({ title: 1 }, { title: 1 }),
    'a word for a number': creation({ title: 'a', priority: 'high' }, { title: 'a', priority: 'high' }),
    'a number out of range': creation({ title: 'a', priority: 101 }, { title: 'a', priority: 101 }),
    'an unknown word': creation({ title: 'a', status: 'done' }, { title: 'a', status: 'done' }),
    'no instant': creation({ title: 'a', due_at: 'soon' }, { title: 'a', dueAt: 'soon' }),
    'no id': creation({ title: 'a', parent_id: 'x' }, { title: 'a', parentId: 'x' }),
    'a missing reference': creation({ title: 'a', parent_id: missing }, { title: 'a', parentId: missing }),
    'a large page': page('first=1000', { first: 1000 }),
    'two ends of a page': page('first=1&last=1', { first: 1, last: 1 }),
    'a malformed cursor': page('after=x', { after: 'x' }),
    'a missing record': [
      () => client.get(`/v1/tasks/${missing}`),
      () => client.graphql('query ($id: ID!) { task(id: $id) { id } }', { id: missing }),
    ],
    'a stale version': [
      () => patch(`/v1/tasks/${taskId}`, { title: 'b', record_version: 7 }),
      () => client.graphql(change, { id: taskId, input: { title: 'b' }, recordVersion: 7 }),
    ],
    'a part of itself': [
      () => patch(`/v1/tasks/${taskId}`, { parent_id: taskId }),
      () => client.graphql(change, { id: taskId, input: { parentId: taskId } }),
    ],
    'a field that never changes': [
      () => patch(`/v1/tasks/${taskId}`, { assigner_id: missing }),
      () => client.graphql(change, { id: taskId, input: { assignerId: missing } }),
    ],
    'a taken name': [
      () => client.post('/v1/tags', { name: 'the same' }),
      () => client.graphql('mutation { createTag(input: { name: "the same" }) { tag { id } } }'),
    ],
    'a missing right': [
      () => member.post('/v1/invites', { recipient: 'a@example.com' }),
      () => member.graphql('mutation { createInvite(input: { recipient: "a@example.com" }) { invite { id } } }'),
    ],
    'nobody signed in': [
      () => world.client().post('/v1/tasks', { title: 'a' }),
      () => world.client().graphql(createTask, { input: { title: 'a' } }),
    ],
  };
  // What differs is only what the APIs call the same thing: fields and words of enums.
  const alike = (text: string) => snakeCase(text).toLowerCase();

  test.each(Object.keys(problems))('%s', async (name) => {
    const [rest, graphql] = problems[name] as [Request, Request];
    const { body } = await rest();
    const [error, ...more] = (await graphql()).body.errors;
    expect(more).toEqual([]);
    expect(error.extensions.code, JSON.stringify([body, error])).toBe(body.code);
    expect(alike(error.message)).toBe(alike(body.detail));
    expect(JSON.parse(alike(JSON.stringify(error.extensions.errors ?? null)))).toEqual(
      JSON.parse(alike(JSON.stringify(body.errors ?? null))),
    );
  });
});

test('a slash at the end of an address is no record without an id', async () => {
  for (const answer of [await client.get('/v1/tasks/?first=1'), await client.post('/v1/tasks/', { title: 'a' })]) {
    expectProblem(answer, 'route_not_found');
    expect(answer.body.detail).toMatch(
      /^There is no route (?:GET|POST) \/v1\/tasks\/; remove the slash at its end: \/v1\/tasks\.$/,
    );
  }
});

describe('a read', () => {
  test('of what is foreign is the same as of what does not exist', async () => {
    const { id } = await create('/v1/tasks', { title: 'ours' });
    const missing = newId();
    const gone = (await create('/v1/tasks', { title: 'gone' })).id;
    expect((await remove(`/v1/tasks/${gone}`)).status).toBe(204);
    const answers = await Promise.all([
      stranger.get(`/v1/tasks/${id}`),
      stranger.get(`/v1/tasks/${missing}`),
      stranger.get('/v1/tasks/what-is-no-id'),
      client.get(`/v1/tasks/${gone}`),
      patch(`/v1/tasks/${id}`, { title: 'theirs' }, stranger),
      remove(`/v1/tasks/${id}`, stranger),
    ]);
    const asked = [id, missing, 'what-is-no-id', gone, id, id];
    for (const [index, answer] of answers.entries()) {
      expectProblem(answer, 'not_found');
      expect(answer.body.detail).toBe(
        `There is no Task "${asked[index]}"${asked[index] === 'what-is-no-id' ? '. This is not an id.' : ' in the organization in which you act.'}`,
      );
      expect(
        Object.keys(answer.headers)
          .filter((name) => !/^(?:set-cookie)$/.test(name))
          .toSorted(),
      ).toEqual(
        Object.keys(answers[0]?.headers ?? {})
          .filter((name) => !/^(?:set-cookie)$/.test(name))
          .toSorted(),
      );
    }
    expect((await client.get(`/v1/tasks/${id}`)).body.title).toBe('ours');
  });

  test('shows no secret of any kind', async () => {
    const { body } = await client.get(`/v1/users/${owner.user.id}`);
    expect(body).toMatchObject({ email: owner.user.email, status: 'active' });
    expect(JSON.stringify(body)).not.toContain('argon2');
    expect(Object.keys(body).filter((name) => name.includes('password'))).toEqual([]);
  });

  test('is there for every kind that exposes something, and for no other', async () => {
    for (const module of registry.modules) {
      const path = `/v1/${module.table.replaceAll('_', '-')}`;
      const isExposed = Object.keys(module.expose).length > 0;
      const list = await client.get(`${path}?first=1&count=true`);
      expect(list.status, path).toBe(isExposed ? 200 : 404);
      if (isExposed) expect(Object.keys(list.body), path).toEqual(['data', 'page_info', 'total_count']);
      expectProblem(await client.get(`${path}/${newId()}`), isExposed ? 'not_found' : 'route_not_found');
    }
  });
});

test('an unknown key in the query is refused at every address of a record', async () => {
  const url = `/v1/tasks/${(await create('/v1/tasks', { title: 'asked for' })).id}?colour=red`;
  for (const answer of [
    await client.get(url),
    await client.post('/v1/tasks?colour=red', { title: 'not made' }),
    await patch(url, { title: 'not changed' }),
    await remove(url),
  ]) {
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors).toMatchObject([{ path: '/colour' }]);
  }
});

describe('a list', () => {
  let titles: string[];

  beforeAll(async () => {
    titles = ['b', 'a', 'd', 'c', 'e'].map((letter) => `list ${letter}`);
    for (const [index, title] of titles.entries())
      await create('/v1/tasks', {
        title,
        priority: 50 + (index % 2),
        status: index === 0 ? 'in_progress' : 'in_review',
        tags: index === 1 ? ['urgent', 'list'] : ['list'],
      });
  });

  const list = async (query: string) => {
    const answer = await client.get(`/v1/tasks?tags=list&${query}`);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return { ...answer.body, titles: answer.body.data.map(({ title }: { title: string }) => title) };
  };

  test('holds the records themselves, in the order they were made', async () => {
    const { data, page_info, titles: found } = await list('');
    expect(found).toEqual(titles);
    expect(data[0]).toEqual((await client.get(`/v1/tasks/${data[0].id}`)).body);
    expect(page_info).toEqual({
      has_next_page: false,
      has_previous_page: false,
      start_cursor: expect.any(String),
      end_cursor: expect.any(String),
    });
  });

  test.each([
    ['title', 'abcde'],
    ['-title', 'edcba'],
    ['priority,title', 'bdeac'],
    ['-priority,-title', 'caedb'],
    ['-created_at', 'ecdab'],
  ])('in the order %s, page by page both ways', async (order, expected) => {
    const letters = (found: string[]) => found.map((title) => title.at(-1)).join('');
    const forwards: string[] = [];
    for (let after = '', more = true; more;) {
      const { titles: found, page_info } = await list(`order_by=${order}&first=2${after}`);
      expect(page_info.has_previous_page).toBe(after !== '');
      forwards.push(...found);
      after = `&after=${page_info.end_cursor}`;
      more = page_info.has_next_page;
    }
    expect(letters(forwards)).toBe(expected);
    const backwards: string[] = [];
    for (let before = '', more = true; more;) {
      const { titles: found, page_info } = await list(`order_by=${order}&last=2${before}`);
      backwards.unshift(...found);
      before = `&before=${page_info.start_cursor}`;
      more = page_info.has_previous_page;
    }
    expect(letters(backwards)).toBe(expected);
  });

  test('in an order that names a field again and again, with cursors that are not longer', async () => {
    const by = await signedIn(world, await buildPerson(world));
    for (const last of ['a', 'b']) await by.post('/v1/tasks', { title: '€'.repeat(499) + last });
    const order = 'order_by=title,-title,title,-title,title&first=1';
    const { body } = await by.get(`/v1/tasks?${order}`);
    const next = await by.get(`/v1/tasks?${order}&after=${body.page_info.end_cursor}`);
    expect(next.status, JSON.stringify(next.body)).toBe(200);
    expect(next.body.data[0].title.at(-1)).toBe('b');
  });

  test('counts all that match when asked', async () => {
    expect(await list('first=2&count=true')).toMatchObject({ total_count: 5, titles: titles.slice(0, 2) });
    expect(await list('first=0&count=true')).toMatchObject({ total_count: 5, data: [] });
    expect(await list('count=false')).not.toHaveProperty('total_count');
  });

  test.each([
    ['status=in_progress', 'b'],
    ['priority=51', 'ac'],
    ['priority=51&title=list%20c', 'c'],
    ['status=completed', ''],
    ["title=list'%20or%20true", ''],
  ])('holds what fits %s', async (query, expected) => {
    const { titles: found } = await list(`${query}&order_by=title`);
    expect(found.map((title: string) => title.at(-1)).join('')).toBe(expected);
  });

  test.each([
    ['status[in]=in_progress,completed', 'b'],
    ['status[not_in]=in_progress,completed', 'acde'],
    ['status[ne]=in_review', 'b'],
    ['priority[gt]=50', 'ac'],
    ['priority[gte]=50&priority[lt]=51', 'bde'],
    ['priority[lte]=50', 'bde'],
    // A comma is part of a text, and separates what can have none.
    ['title[in]=list%20a,list%20e', ''],
    ['title[not_in]=list%20a,list%20e', 'abcde'],
    ['title[in]=list%20a&title[in]=list%20b', 'ab'],
    ['title[starts_with]=list%20&title[contains]=c', 'c'],
    ['tags[has]=urgent', 'a'],
    ['created_at[lt]=2000-01-01T00:00:00Z', ''],
    ['created_at[gte]=2000-01-01T00:00:00Z&id[ne]=01ARZ3NDEKTSV4RRFFQ69G5FAV', 'abcde'],
    ['parent_id[is_null]=true', 'abcde'],
    ['parent_id[is_null]=false', ''],
    ['parent_id=null&due_at=null', 'abcde'],
    ['status=in_progress&status[ne]=in_progress', ''],
  ])('is filtered with operators by %s', async (query, expected) => {
    const { titles: found } = await list(`${query}&order_by=title`);
    expect(found.map((title: string) => title.at(-1)).join('')).toBe(expected);
  });

  test('finds records without a value, and a text that is the word null', async () => {
    const parent = (await create('/v1/tasks', { title: 'null', tags: ['nulls'] })).id;
    const child = (await create('/v1/tasks', { title: 'child', tags: ['nulls'], parent_id: parent })).id;
    const ids = async (query: string) =>
      (await client.get(`/v1/tasks?tags=nulls&${query}`)).body.data.map(({ id }: { id: string }) => id);
    expect(await ids('parent_id=null')).toEqual([parent]);
    expect(await ids('parent_id[is_null]=false')).toEqual([child]);
    expect(await ids(`id[in]=${parent},${child}&title=null`)).toEqual([parent]);
  });

  test('has the filters of GraphQL, each with its operators, and describes them', async () => {
    const { data } = await client.graphql(
      '{ __type(name: "TaskWhere") { inputFields { name type { kind inputFields { name } } } } }',
    );
    const fields = data.__type.inputFields as {
      name: string;
      type: { inputFields: { name: string }[] | null };
    }[];
    const declared = fields
      .filter(({ type }) => type.inputFields?.some(({ name }) => ['eq', 'has'].includes(name)))
      .flatMap(({ name, type }) =>
        (type.inputFields ?? []).map((operator) => `${snakeCase(name)}[${snakeCase(operator.name)}]`),
      );
    expect(declared).toContain('due_at[gte]');
    const { body } = await client.get('/openapi.json');
    const { parameters = [] } = resolved(body, body.paths['/v1/tasks'].get);
    const described = parameters.filter(({ name, description = '' }) => name.includes('[') && description.length > 0);
    expect(described.map(({ name }) => name).toSorted()).toEqual(declared.toSorted());
  });

  test('of what belongs to nobody is empty, whether the person exists elsewhere or not', async () => {
    for (const id of [newId(), (await stranger.get('/v1/users')).body.data[0].id]) {
      const { status, body } = await client.get(`/v1/tasks?assignee_id=${id}&count=true`);
      expect([status, body.total_count], id).toEqual([200, 0]);
      const { data } = await client.graphql(
        'query ($id: ID!) { tasks(where: { assigneeId: { eq: $id } }) { totalCount } }',
        { id },
      );
      expect(data.tasks.totalCount, id).toBe(0);
    }
  });

  test('compares with what is stored of a value', async () => {
    const { body } = await client.get(`/v1/users?email=${owner.user.email.toUpperCase()}`);
    expect(body.data).toMatchObject([{ id: owner.user.id, email: owner.user.email }]);
    // Other texts are stored as they are.
    expect((await list('title=LIST%20c')).titles).toEqual([]);
  });

  test('is filtered by the members of a list of texts', async () => {
    const { body } = await client.get('/v1/tasks?tags=urgent');
    expect(body.data.map(({ title }: { title: string }) => title)).toEqual(['list a']);
  });

  test.each([
    ['colour=red', 'invalid_input'],
    ['details=long', 'invalid_input'],
    ['status=OPEN', 'invalid_input'],
    ['status=open&status=completed', 'invalid_input'],
    ['priority=much', 'invalid_input'],
    ['first=all', 'invalid_input'],
    ['first=1&last=1', 'invalid_input'],
    ['count=maybe', 'invalid_input'],
    ['order_by=status', 'invalid_input'],
    ['order_by=title;drop', 'invalid_input'],
    ['due_at=yesterday', 'invalid_input'],
    ['due_at[gte]=yesterday', 'invalid_input'],
    ['due_at[like]=2026', 'invalid_input'],
    ['priority[in]=1,many', 'invalid_input'],
    ['title[is_null]=true', 'invalid_input'],
    ['parent_id[is_null]=maybe', 'invalid_input'],
    ['status[in]=', 'invalid_input'],
    [`priority[in]=${'1,'.repeat(1_000)}1`, 'invalid_input'],
    ['first=-1', 'limit_exceeded'],
    ['first=101', 'limit_exceeded'],
    ['after=nonsense', 'invalid_cursor'],
  ] as const)('refuses %s', async (query, code) => {
    expectProblem(await client.get(`/v1/tasks?${query}`), code);
  });

  test.each([
    ['status=done', '/status', 'must be one of open, in_progress, in_review, completed, wont_do; it is "done"'],
    [
      'status=open&status=completed',
      '/status',
      'was sent several times; send it once, and several values as name[in]=a&name[in]=b where there is such a filter',
    ],
    ['first=-1', '/first', 'must be between 0 and 100; it is -1'],
    ['last=101', '/last', 'must be between 0 and 100; it is 101'],
    ['stauts=open', '/stauts', 'is not a known field; did you mean "status"?'],
    [
      'due_at[get]=x',
      '/due_at[get]',
      'has no operator "get"; its operators are eq, gt, gte, in, is_null, lt, lte, ne, not_in',
    ],
    ['created_it[gte]=x', '/created_it[gte]', 'is not a known field; did you mean "created_at"?'],
    ['filter=title', '/filter', expect.stringMatching(/^is not a known field; known are .*order_by/)],
    ['sort=title', '/sort', 'is not a known field; did you mean "order_by"?'],
    ['limit=5', '/limit', 'is not a known field; did you mean "first"?'],
    ['offset=5', '/offset', 'is not a known field; did you mean "after"?'],
    ['priority=much', '/priority', 'must be a whole number; it is "much"'],
    ['count=maybe', '/count', 'must be true or false; it is "maybe"'],
    ['priority[in]=1,101', '/priority[in]/1', 'must be at most 100; it is 101'],
    ['due_at[lt]=yesterday', '/due_at[lt]', 'must be a timestamp such as 2026-01-31T12:00:00Z; it is "yesterday"'],
    ['after=nonsense', '/after', 'is not a cursor of this list in this order'],
    ['before=nonsense', '/before', 'is not a cursor of this list in this order'],
  ])('says what is wrong with %s', async (query, path, message) => {
    const { body } = await client.get(`/v1/tasks?${query}`);
    expect(body.errors).toEqual([{ path, message }]);
    expect(body.detail).not.toMatch(/\?\.$/);
  });

  test('says what it can be ordered by', async () => {
    const { body } = await client.get('/v1/tasks?order_by=foo');
    expect(body.errors).toEqual([
      {
        path: '/order_by',
        message: expect.stringMatching(/Fields to sort by, .*title, priority, due_at, created_at.*; it is "foo"$/),
      },
    ]);
    expect(body.detail).not.toContain('must match pattern');
  });

  test('refuses the cursor of another order', async () => {
    const { page_info } = await list('order_by=title&first=1');
    expectProblem(await client.get(`/v1/tasks?after=${page_info.end_cursor}`), 'invalid_cursor');
  });

  test('shows nothing of another organization', async () => {
    expect((await stranger.get('/v1/tasks?count=true')).body).toMatchObject({ data: [], total_count: 0 });
    expectProblem(await world.client().get('/v1/tasks'), 'unauthenticated');
  });
});

describe('an update', () => {
  test('changes what is given, empties with null, and leaves the rest', async () => {
    const { id, ...before } = await create('/v1/tasks', { title: 'before', details: 'some', priority: 3 });
    world.clock.advance(1_000);
    const answer = await patch(`/v1/tasks/${id}`, { title: 'after', details: null, status: 'completed' });
    expect(answer.status).toBe(200);
    const { held, ...changed } = answer.body;
    expect(held).toEqual([]);
    expect(changed).toEqual({
      ...before,
      id,
      title: 'after',
      details: null,
      status: 'completed',
      completed_at: answer.body.updated_at,
      updated_at: expect.any(String),
      record_version: before.record_version + 1,
    });
    expect(answer.body.updated_at > before.updated_at).toBe(true);
    expect((await client.get(`/v1/tasks/${id}`)).body).toEqual(changed);
  });

  test('may name the version that it is made for', async () => {
    const { id, record_version } = await create('/v1/tasks', { title: 'first' });
    expect((await patch(`/v1/tasks/${id}`, { title: 'second', record_version })).body.record_version).toBe(2);
    const late = await patch(`/v1/tasks/${id}`, { title: 'too late', record_version });
    expectProblem(late, 'stale_record');
    expect(late.body.detail).toContain('at version 2, not 1');
    expect((await client.get(`/v1/tasks/${id}`)).body).toMatchObject({ title: 'second', record_version: 2 });
    expect((await patch(`/v1/tasks/${id}`, { title: 'whichever' })).status).toBe(200);
    for (const wrong of [0, '3', null, 2 ** 31])
      expectProblem(await patch(`/v1/tasks/${id}`, { record_version: wrong }), 'invalid_input');
  });

  const conditional = (method: 'PATCH' | 'DELETE', url: string, tag: string, payload?: object) =>
    client.mutate({ method, url, headers: { 'if-match': tag }, ...(payload ? { payload } : {}) });

  test('may be made for the entity tag that answers have', async () => {
    const created = await client.post('/v1/tasks', { title: 'first' });
    const url = String(created.headers['location']);
    expect([created.headers['etag'], (await client.get(url)).headers['etag']]).toEqual(['"1"', '"1"']);
    const second = await conditional('PATCH', url, '"1"', { title: 'second' });
    expect([second.status, second.headers['etag'], second.body.record_version]).toEqual([200, '"2"', 2]);
    expect((await conditional('PATCH', url, '*', { title: 'third' })).headers['etag']).toBe('"3"');
    expect((await conditional('PATCH', url, '"7" ,"a,b", "3"', { title: 'fourth' })).status).toBe(200);
    for (const tag of ['"1"', '"1", "3"', 'W/"4"', '"x"', '"04"', 'W/"4", "3"']) {
      for (const late of [
        await conditional('PATCH', url, tag, { title: 'late' }),
        await conditional('DELETE', url, tag),
      ]) {
        expectProblem(late, 'precondition_failed', tag);
        expect(late.status).toBe(412);
        expect(late.body.detail).toContain('The Task is at version 4, not ');
        expect(late.headers['etag']).toBeUndefined();
      }
    }
    for (const malformed of ['4', '"4', '', '"4" "5"', '*, "4"', '"4",,', 'w/"4"'])
      expectProblem(await conditional('PATCH', url, malformed, { title: 'late' }), 'malformed_request', malformed);
    expectProblem(await conditional('PATCH', url, '"4"', { title: 'x', record_version: 3 }), 'precondition_failed');
    expect((await client.get(url)).body).toMatchObject({ title: 'fourth', record_version: 4 });
    expect((await conditional('DELETE', url, '"4"')).status).toBe(204);
    expectProblem(await conditional('DELETE', url, '*'), 'not_found');
  });

  test('takes the version of the record for its entity tag, not one in its JSON', async () => {
    const { id } = await create('/v1/files', {
      name: 'a',
      metadata: { record_version: 9 },
      content: await uploadBy(world, owner),
    });
    expect((await client.get(`/v1/files/${id}`)).headers['etag']).toBe('"1"');
  });

  test.each([
    ['what never changes', { assigner_id: newId() }],
    ['an unknown key', { colour: 'red' }],
    ['null where a value has to be', { title: null }],
  ])('refuses %s', async (_name, body) => {
    const { id } = await create('/v1/tasks', { title: 'stays' });
    expectProblem(await patch(`/v1/tasks/${id}`, body), 'invalid_input');
    expect((await client.get(`/v1/tasks/${id}`)).body.title).toBe('stays');
  });
});

test('a problem that the data layer finds is told by the names that the body has', async () => {
  const { id } = await create('/v1/tasks', { title: 'part of nothing' });
  const circle = await patch(`/v1/tasks/${id}`, { parent_id: id });
  expectProblem(circle, 'invalid_input');
  expect(circle.body).toMatchObject({
    detail: 'The Task would be part of itself.',
    errors: [{ path: '/parent_id', message: 'The Task would be part of itself.' }],
  });
  const large = await client.post('/v1/files', { content: newId(), metadata: 'x'.repeat(20_000) });
  expectProblem(large, 'invalid_input');
  expect(large.body.errors).toHaveLength(1);
  expect(large.body.detail).toBe(
    'The input is not valid: metadata must have at most 16384 bytes as JSON; it has 20002.',
  );
});

test('what is visible is not for everybody to change', async () => {
  const { id } = await create('/v1/tags', { name: 'ours' });
  expect((await member.get(`/v1/tags/${id}`)).status).toBe(200);
  expectProblem(await patch(`/v1/tags/${id}`, { color: '#000000' }, member), 'permission_denied');
  expectProblem(await remove(`/v1/tags/${id}`, member), 'permission_denied');
});

test('a refusal says to whom the rules give the right, and promises no way to get it', async () => {
  const url = `/v1/users/${owner.user.id}`;
  const answer = await patch(url, { display_name: 'mine' }, member);
  expectProblem(answer, 'permission_denied');
  expect(answer.body.detail).toBe(
    'You may not edit this User. The rules allow it for the user itself. Owners and administrators can ask explainAccess (GraphQL) which rule decides.',
  );
  expect((await member.post('/v1/invites', { recipient: 'a@example.com' })).body.detail).toBe(
    'You may not create a record of type Invite here. The rules allow it for the roles owner, super_admin, or admin.',
  );
});

describe('a delete', () => {
  test('answers without a body, and the record is gone', async () => {
    const { id } = await create('/v1/tasks', { title: 'short-lived' });
    expectProblem(await remove(`/v1/tasks/${id}`, member), 'not_found');
    const answer = await remove(`/v1/tasks/${id}`);
    expect([answer.status, answer.body]).toEqual([204, '']);
    expectProblem(await remove(`/v1/tasks/${id}`), 'not_found');
  });
});

test('a delete may name the version that it is made for', async () => {
  const { id, record_version } = await create('/v1/tasks', { title: 'first' });
  await patch(`/v1/tasks/${id}`, { title: 'second' });
  expectProblem(await remove(`/v1/tasks/${id}?record_version=${record_version}`), 'stale_record');
  expectProblem(await remove(`/v1/tasks/${id}?record_version=any`), 'invalid_input');
  expect((await remove(`/v1/tasks/${id}?record_version=2`)).status).toBe(204);
});

test('what a kind does not offer is no method of its address', async () => {
  expectProblem(await client.post('/v1/users', {}), 'method_not_allowed');
  expectProblem(await remove(`/v1/organization-settings/${newId()}`), 'method_not_allowed');
});
