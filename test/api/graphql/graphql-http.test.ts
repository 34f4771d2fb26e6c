import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { expectProblem, fieldProblems, messageOf } from '../../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let person: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(async () => {
  // Whatever was sent here, it was no failure of ours.
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  await world.close();
});

const standard = { accept: 'application/graphql-response+json' };

const get = (query: string, headers = {}): Promise<TestAnswer> =>
  client.get(`/graphql?query=${encodeURIComponent(query)}`, headers);

const create = (name: string) => `mutation { createOrganization(input: { name: "${name}" }) { organization { id } } }`;

async function organizationsNamed(name: string): Promise<number> {
  return (await asOwner(world, 'select 1 from organizations where name = $1', [name])).length;
}

function nested(open: string, depth: number, inner: string, close: string): string {
  return `${open.repeat(depth)}${inner}${close.repeat(depth)}`;
}

describe('a document that cannot be executed is refused before anything is asked for', () => {
  test.each([
    ['half a document', '{ self {'],
    ['nothing', ' '],
    ['a comment', '# nothing'],
    ['no GraphQL', 'select * from users'],
    ['a lone surrogate as an escape', String.raw`{ user(id: "\uD800") { id } }`],
    ['an unknown field', '{ selv { id } }'],
    ['a field that is not exposed', '{ self { passwordHash } }'],
    ['a field that is not exposed, in its database spelling', '{ self { password_hash } }'],
    ['an unknown argument', '{ users(having: { email: "x" }) { edges { cursor } } }'],
    ['an object without fields', '{ self }'],
    ['a scalar with fields', '{ self { id { x } } }'],
    ['a number for an id', '{ user(id: 3.5) { id } }'],
    ['a text for a number', '{ users(first: "3") { edges { cursor } } }'],
    ['a list for a number', '{ users(first: [3]) { edges { cursor } } }'],
    ['an object for a text', '{ users(after: { eq: "x" }) { edges { cursor } } }'],
    ['a missing argument', '{ user { id } }'],
    ['a definition', 'type User { id: ID }'],
    ['a fragment that contains itself', '{ ...F } fragment F on Query { ...F }'],
    ['an unknown fragment', '{ ...F }'],
    ['an unused fragment', '{ self { id } } fragment F on User { id }'],
    ['a fragment on another type', '{ self { ... on Organization { id } } }'],
    ['an unknown directive', '{ self @export { id } }'],
    ['fields that conflict', '{ a: self { id } a: organizations { edges { cursor } } }'],
    ['an unknown variable', '{ user(id: $id) { id } }'],
    ['two operations without a choice', 'query a { self { id } } query b { self { id } }'],
  ])('%s', async (about, query) => {
    for (const answer of [await client.graphql(query), await get(query, standard)]) {
      expectGraphqlError(answer, 'invalid_input', about);
      expect(answer.body).not.toHaveProperty('data');
    }
    expect((await client.post('/graphql', { query }, standard)).status).toBe(400);
  });

  test('a subscription, while they are off, for that reason first', async () => {
    const answer = await client.graphql('subscription { self { id } }');
    expectGraphqlError(answer, 'subscriptions_disabled', 'server.enablegraphsubscriptions');
  });

  test('an input with a field that it does not have', async () => {
    const answer = await client.graphql(create('personal').replace('name:', 'isPersonal: true, name:'));
    expectGraphqlError(answer, 'invalid_input');
    expect(await organizationsNamed('personal')).toBe(0);
  });

  test('a hundred mistakes are not listed a thousand times over', async () => {
    const answer = await client.graphql(`{ ${'nope '.repeat(1_900)} }`);
    expectGraphqlError(answer, 'invalid_input');
    expect(JSON.stringify(answer.body).length).toBeLessThan(50_000);
  });
});

describe('variables', () => {
  const query = 'query ($first: Int!) { users(first: $first) { edges { cursor } } }';

  test.each([
    ['missing', {}],
    ['null', { first: null }],
    ['a text', { first: '3' }],
    ['a fraction', { first: 3.5 }],
    ['too large for an Int', { first: 1e12 }],
    ['an object', { first: { valueOf: 3 } }],
  ])('%s where a number belongs', async (_about, variables) => {
    const answer = await client.post('/graphql', { query, variables }, standard);
    expectGraphqlError(answer, 'invalid_input');
    expect(answer.body).not.toHaveProperty('data');
    expect(answer.status).toBe(400);
  });

  test('that nothing asks for are ignored', async () => {
    expect((await client.graphql(query, { first: 1, last: 'x' })).data.users.edges).toHaveLength(1);
  });

  test('are not repeated at length', async () => {
    const long = 'x'.repeat(500_000);
    const wrong = await client.graphql(query, { first: long });
    expectGraphqlError(wrong, 'invalid_input');
    const missing = await client.graphql('query ($id: ID!) { user(id: $id) { id } }', { id: long });
    expectGraphqlError(missing, 'not_found');
    for (const { body } of [wrong, missing]) expect(JSON.stringify(body).length).toBeLessThan(1_000);
  });
});

describe('a document that is only there to hurt is refused before anything recurses along it', () => {
  const refusals: [string, string][] = [
    ['fields in fields', `{ ${nested('self { ', 40, 'id', ' }')} }`],
    ['lists in lists', `{ users(after: ${nested('[', 40, '', ']')}) { edges { cursor } } }`],
    ['objects in objects', create('x').replace('"x"', nested('{ name: ', 40, '"x"', ' }'))],
    ['types in types', `query ($a: ${nested('[', 40, 'Int', ']')}) { self { id } }`],
    ['all of that without an end', '{ a('.repeat(10_000)],
    ['a thousand aliases', `{ ${Array.from({ length: 1_000 }, (_, n) => `a${n}: self { id }`).join(' ')} }`],
    ['a thousand times the same', `{ ${'self { id } '.repeat(1_000)} }`],
    ['a list of very many', `{ users(after: [${'1 '.repeat(10_000)}]) { edges { cursor } } }`],
    ['very many operations', Array.from({ length: 1_000 }, (_, n) => `query q${n} { self { id } }`).join(' ')],
    ['a very long value', `{ user(id: "${'x'.repeat(60_000)}") { id } }`],
    ['a very long comment', `{ self { id } } # ${'x'.repeat(60_000)}`],
  ];

  test.each(refusals)('%s', async (about, query) => {
    const answer = await client.graphql(query);
    expectGraphqlError(answer, 'limit_exceeded', about);
    expect(answer.body.errors[0].message).toMatch(/nested deeper than 32|more than 2000|longer than 50000/);
    expect(JSON.stringify(answer.body).length).toBeLessThan(1_000);
  });

  test('fragments that contain the next one twice cost no more than their text', async () => {
    const fragments = Array.from(
      { length: 60 },
      (_, n) => `fragment f${n} on User { ${n < 59 ? `...f${n + 1} ...f${n + 1}` : 'id'} }`,
    );
    const { data } = await client.graphql(`{ self { ...f0 } } ${fragments.join(' ')}`);
    expect(data).toEqual({ self: { id: person.user.id } });
  });

  test('while the questions of tools pass', async () => {
    const { data } = await client.graphql(getIntrospectionQuery({ descriptions: true }));
    expect(data.__schema.queryType.name).toBe('Query');
  });

  test('documents are kept, but only so many: the same answer comes before and after', async () => {
    const query = '{ self { id } } # kept';
    const ask = async () => (await client.graphql(query)).data.self.id as string;
    expect(await ask()).toBe(person.user.id);
    for (let n = 0; n < 120; n++) await client.graphql(`{ self { id } } # ${n}`);
    expect(await ask()).toBe(person.user.id);
  });
});

describe('names from the prototype', () => {
  test('are names like others', async () => {
    const { data } = await client.graphql('{ constructor: self { toString: id } hasOwnProperty: self { id } }');
    expect(data).toEqual({ constructor: { toString: person.user.id }, hasOwnProperty: { id: person.user.id } });
    for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty'])
      expectGraphqlError(await client.graphql(`{ ${name} { id } }`), 'invalid_input', name);
    expectGraphqlError(
      await client.graphql('query ($constructor: Int!) { users(first: $constructor) { edges { cursor } } }'),
      'invalid_input',
    );
  });
});

describe('GET', () => {
  test('asks, by query, variables and name of the operation', async () => {
    const query = 'query a($id: ID!) { user(id: $id) { id } } query b { self { id } }';
    const parameters = new URLSearchParams({ query, operationName: 'a', variables: `{"id":"${person.user.id}"}` });
    const answer = await client.get(`/graphql?${parameters}`, standard);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/graphql-response+json; charset=utf-8');
    expect(answer.body).toEqual({ data: { user: { id: person.user.id } } });
  });

  test('changes nothing, whatever is accepted in return', async () => {
    for (const [number, accept] of [
      'application/json',
      standard.accept,
      'text/event-stream',
      'multipart/mixed',
      '*/*',
      'text/html',
    ].entries()) {
      const answer = await get(create(`by-get-${number}`), { accept });
      if (accept.includes('json')) {
        expect(answer.status).toBe(405);
        expectGraphqlError(answer, 'method_not_allowed', accept);
      }
      expect(await organizationsNamed(`by-get-${number}`), accept).toBe(0);
    }
  });

  test('changes nothing when the mutation is the other operation of the document', async () => {
    const query = `query a { self { id } } ${create('by-name').replace('mutation', 'mutation b')}`;
    const ask = (operationName: string) =>
      client.get(`/graphql?${new URLSearchParams({ query, operationName })}`, standard);
    expect((await ask('a')).body.data.self.id).toBe(person.user.id);
    expectGraphqlError(await ask('b'), 'method_not_allowed');
    expectGraphqlError(await ask('c'), 'invalid_input');
    expect(await organizationsNamed('by-name')).toBe(0);
  });

  test('takes each parameter once, and JSON objects where they belong', async () => {
    for (const query of [
      'query={self{id}}&query={self{id}}',
      'query={self{id}}&variables=x',
      'query={self{id}}&variables=[]',
      'query={self{id}}&variables={"__proto__":{}}',
      'query={self{id}}&extensions=1',
    ]) {
      const answer = await client.get(`/graphql?${query}`);
      expectProblem(answer, 'invalid_input', query);
    }
  });

  test('without a query is refused', async () => {
    for (const url of ['/graphql', '/graphql?', '/graphql?query=']) {
      const answer = await client.get(url, standard);
      expectGraphqlError(answer, 'invalid_input', url);
      expect(messageOf(answer)).toContain('query is required: an operation such as { self { id } }');
    }
  });

  test('HEAD is GET without a body', async () => {
    const ask = (query: string) =>
      client.request({ method: 'HEAD', url: `/graphql?query=${encodeURIComponent(query)}`, headers: standard });
    expect(await ask('{ self { id } }')).toMatchObject({ status: 200, body: '' });
    expect(await ask('{ nope }')).toMatchObject({ status: 400, body: '' });
    expect(await ask(create('by-head'))).toMatchObject({ status: 405, body: '' });
    expect(await organizationsNamed('by-head')).toBe(0);
  });
});

describe('POST', () => {
  test('takes one operation, not a list of them', async () => {
    const operation = { query: '{ self { id } }' };
    for (const body of [[], [operation], [operation, operation]])
      expectProblem(await client.post('/graphql', body), 'invalid_input', JSON.stringify(body));
  });

  test.each([
    ['no query', {}],
    ['a query that is no text', { query: ['{ self { id } }'] }],
    ['an empty query', { query: '' }],
    ['variables that are no object', { query: '{ self { id } }', variables: [1] }],
    ['a name that is no text', { query: '{ self { id } }', operationName: { a: 1 } }],
    ['an unknown member', { query: '{ self { id } }', doc_id: '1' }],
  ])('refuses %s', async (_about, body) => {
    expectProblem(await client.post('/graphql', body), 'invalid_input');
  });

  test.each([
    'text/html',
    'application/xml, text/*',
    'text/event-stream',
    'multipart/mixed',
    'application/json; q=0',
    'application/json; charset=latin1',
    'application/json; charset = "utf-8"',
  ])('changes nothing for who accepts no JSON but %s', async (accept) => {
    const answer = await client.post('/graphql', { query: create('unreadable') }, { accept });
    expectProblem(answer, 'not_acceptable');
    expect(await organizationsNamed('unreadable')).toBe(0);
  });

  test.each(['', '*/*', 'text/event-stream, application/*;q=0.1', 'Application/JSON ; charset=UTF-8'])(
    'answers with JSON who accepts "%s"',
    async (accept) => {
      const answer = await client.post('/graphql', { query: '{ self { id } }' }, { accept });
      expect(answer.body).toEqual({ data: { self: { id: person.user.id } } });
    },
  );

  test('to other methods the address says which it has', async () => {
    for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
      const answer = await client.mutate({ method, url: '/graphql?query={self{id}}' });
      expectProblem(answer, 'method_not_allowed', method);
      expect(answer.headers['allow']).toBe('GET, HEAD, POST');
    }
  });
});

describe('an operation that fails', () => {
  test('has no data, although other fields had answers', async () => {
    const answer = await client.graphql('{ self { id } user(id: "01ARZ3NDEKTSV4RRFFQ69G5FAV") { id } }');
    expectGraphqlError(answer, 'not_found');
    expect(answer.body.data).toBeNull();
    expect(answer.body.errors).toMatchObject([{ path: ['user'] }]);
  });

  test('has the code of each field that failed', async () => {
    const answer = await client.graphql('{ a: users(first: -1) { edges { cursor } } b: self { id } }');
    expect(answer.body.errors).toMatchObject([{ path: ['a'], extensions: { code: 'limit_exceeded' } }]);
  });

  test('changes nothing when the document is wrong behind the mutation', async () => {
    expectGraphqlError(await client.graphql(create('half-wrong').replace('id }', 'id nope }')), 'invalid_input');
    expectGraphqlError(
      await client.graphql(
        `mutation { a: createOrganization(input: { name: "half-wrong" }) { organization { id } } b: createOrganization(input: { name: "x" }) { organization { id } } }`,
      ),
      'invalid_input',
    );
    expect(await organizationsNamed('half-wrong')).toBe(0);
  });
});

describe('somebody who is not signed in', () => {
  const asks = [
    '{ tasks { totalCount } }',
    '{ organizations(first: 1) { totalCount } __typename }',
    'query { ...F } fragment F on Query { self { id } tasks { totalCount } }',
    '{ ... on Query { node(id: "01HZZZZZZZZZZZZZZZZZZZZZZZ") { id } } }',
    'mutation { createTask(input: { title: "a" }) { task { id } } }',
  ];
  test.each(asks)('is told so, and does not see empty lists: %s', async (query) => {
    const { body } = await world.client().post('/graphql', { query });
    expect(body).toMatchObject({ data: null, errors: [{ extensions: { code: 'unauthenticated' } }] });
  });

  test('may ask who they are', async () => {
    expect((await world.client().post('/graphql', { query: '{ self { id } }' })).body).toEqual({
      data: { self: null },
    });
  });

  test('may read the schema', async () => {
    const query = '{ __typename ...F } fragment F on Query { __schema { queryType { name } } }';
    expect((await world.client().post('/graphql', { query })).body).toEqual({
      data: { __typename: 'Query', __schema: { queryType: { name: 'Query' } } },
    });
  });
});

describe('a request says what is wrong with it', () => {
  const ask = (payload: object, type = 'application/json') =>
    world
      .client()
      .mutate({ method: 'POST', url: '/graphql', payload: JSON.stringify(payload), headers: { 'content-type': type } });

  test('variables that are a text', async () => {
    for (const name of ['variables', 'extensions']) {
      const answer = await ask({ query: '{ __typename }', [name]: '{}' });
      expect(fieldProblems(answer)).toEqual([{ path: `/${name}`, message: 'must be an object; it is "{}"' }]);
    }
    expect((await ask({ query: '{ __typename }', variables: null, operationName: null })).status).toBe(200);
  });

  test('a list of operations', async () => {
    expect(messageOf(await ask([{ query: '{ __typename }' }]))).toBe(
      'The input is not valid: the body must be a JSON object; it is a list.',
    );
  });

  test('another content type, or none', async () => {
    const answer = await ask({ query: '{ __typename }' }, 'application/graphql');
    expectProblem(answer, 'unsupported_media_type');
    expect(messageOf(answer)).toMatch(/^The content type of the body is application\/graphql; .*application\/json/);
  });
});

test('what a literal or a missing variable is wrong about is named', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const said = async (query: string, variables = {}) => messageOf(await client.graphql(query, variables));
  expect(await said('{ tasks(first: "10") { totalCount } }')).toBe(
    'The input is not valid: first must be a whole number; it is "10". Write it without quotes: 10.',
  );
  expect(await said('query ($id: ID!) { task(id: $id) { id } }', { idd: 'x' })).toBe(
    'The input is not valid: id is required; the operation has no variable "idd".',
  );
  expect(await said('{ tasks(where: { status: DONE }) { totalCount } }')).toContain(
    'status must be comparisons, such as { eq: … }; it is "DONE"',
  );
  expect(await said('mutation { updateTask(id: "x", input: { recordVersion: 1 }) { task { id } } }')).toContain(
    'recordVersion is an argument beside input',
  );
  expect(await said('mutation { createTask(input: { title: "x", status: "OPEN" }) { task { id } } }')).toBe(
    'The input is not valid: status must be written without quotes: OPEN.',
  );
  const named = await client.post('/graphql', {
    query: 'query a { __typename } query b { __typename }',
    operationName: 'c',
  });
  expect(fieldProblems(named)).toEqual([{ path: '/operationName', message: 'must be one of a, b; it is "c"' }]);
});

test('a field that a type does not have is answered with those that it has', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const said = async (query: string) => messageOf(await client.graphql(query));
  expect(await said('{ tasks { id } }')).toBe(
    'Cannot query field "id" on type "TaskConnection". Write edges { node { id } }.',
  );
  expect(await said('{ tasks { edges { node { titel } } } }')).toBe(
    'Cannot query field "titel" on type "Task". Did you mean "title"?',
  );
  expect(await said('{ node(id: "x") { dueAt } }')).toBe(
    'Cannot query field "dueAt" on type "Node". Ask for it in a fragment, such as ... on Task { dueAt }.',
  );
  expect(await said('mutation { addTask(title: "x") { id } }')).toBe(
    'Cannot query field "addTask" on type "Mutation". GraphiQL, at /graphql in a browser, lists its fields.',
  );
});

describe('one answer names what the types and what the data layer say', () => {
  const paths = (answer: TestAnswer): string[] =>
    (fieldProblems(answer) as readonly { readonly path: string }[]).map(({ path }) => path).toSorted();
  const creation = 'mutation ($input: CreateTaskInput!) { createTask(input: $input) { task { id } } }';
  const title = 'x'.repeat(10_000);

  test('of a variable', async () => {
    const input = { title, priority: 'high', status: 'OPENED', dueAt: '2026-02-30', tags: ['fine', ''], wrong: 1 };
    const answer = await client.graphql(creation, { input });
    expect(paths(answer)).toEqual(['/dueAt', '/priority', '/status', '/tags/1', '/title', '/wrong']);
    expect(answer.body.data ?? null).toBeNull();
    // Without mistakes of types, the data layer says the same of the rest.
    expect(paths(await client.graphql(creation, { input: { title, tags: ['fine', ''] } }))).toEqual([
      '/tags/1',
      '/title',
    ]);
  });

  test('of a literal, of a change, of each record of many, and of records below', async () => {
    const literal = `mutation { createTask(input: { title: " ", priority: "high", createNotes: [{ text: "fine" }, { text: "", more: 1 }] }) { task { id } } }`;
    expect(paths(await client.graphql(literal))).toEqual([
      '/createNotes/1/more',
      '/createNotes/1/text',
      '/priority',
      '/title',
    ]);
    const change = 'mutation ($input: UpdateTaskInput!) { updateTask(id: "x", input: $input) { task { id } } }';
    expect(paths(await client.graphql(change, { input: { title: null, status: 'OPENED' } }))).toEqual([
      '/status',
      '/title',
    ]);
    const many = 'mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }';
    const rows = [{ title }, { title: 'fine', priority: 'high' }, { title: 'fine' }];
    expect(paths(await client.graphql(many, { inputs: rows }))).toEqual(['/0/title', '/1/priority']);
  });

  test('and nothing of values that stand in variables, nor of those that are right', async () => {
    const mixed = `mutation ($title: String!, $tag: String!) { createTask(input: { title: $title, tags: [$tag], priority: "high" }) { task { id } } }`;
    expect(paths(await client.graphql(mixed, { title, tag: '' }))).toEqual(['/priority']);
    const right = { title: 'fine', tags: ['fine'], dueAt: '2026-02-28T00:00:00Z', status: 'OPEN', priority: 'high' };
    expect(paths(await client.graphql(creation, { input: right }))).toEqual(['/priority']);
  });
});
