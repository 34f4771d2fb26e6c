import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { holdRow, waitForLocks } from '../../kit/records/held-row.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

// What surrounds the execution of operations: what they may cost, whose turn it is, how documents are named.

let world: World;
let person: Person;
let stranger: Person;
let client: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  person = await buildPerson(world);
  stranger = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

/** A client of another process that has the session of somebody. */
async function clientOf(instance: Pick<Instance, 'client'>, who: Person): Promise<TestClient> {
  const other = instance.client();
  other.bearer = (await signedIn(world, who)).cookies.get('access_token');
  return other;
}

async function taskOf(by: TestClient): Promise<string> {
  const { data } = await by.graphql('mutation { createTask(input: { title: "a task" }) { createdId } }');
  return data.createTask.createdId;
}

describe('enablegraphextensions', () => {
  let instance: Instance;
  let by: TestClient;

  beforeAll(async () => {
    instance = await world.openInstance({ environment: { CORE_SERVER_ENABLEGRAPHEXTENSIONS: 'true' } });
    by = await clientOf(instance, person);
  });

  test('results with errors have the request id with each error, and nothing of the cost', async () => {
    for (const query of [`{ task(id: "${newId()}") { id } }`, '{ nope }', '{ self {']) {
      const answer = await by.graphql(query);
      expect(answer.errors[0].extensions.request_id).toBe(answer.headers['x-request-id']);
      expect(answer.body).not.toHaveProperty('extensions');
    }
  });

  test('the result of a change has no number of statements', async () => {
    const { body } = await by.graphql('mutation { createTask(input: { title: "x" }) { createdId } }');
    expect(Object.keys(body.extensions).toSorted()).toEqual(['cost', 'request_id', 'timing']);
  });

  test.each(['of another organization', 'of the same organization'])(
    'the number of statements does not tell whether a record exists that the caller cannot view, %s',
    async (where) => {
      const member = await buildPerson(world, { organization: person.organization, role: 'member' });
      const hidden = await taskOf(where.includes('another') ? await signedIn(world, stranger) : client);
      const viewer = await clientOf(instance, member);
      expect((await viewer.graphql(`{ task(id: "${hidden}") { id } }`)).errors).toHaveLength(1);
      const own = await taskOf(viewer);
      const countOf = async (document: string, ids: readonly string[]) => {
        const { body } = await viewer.graphql(document, { ids });
        expect(body, document).toMatchObject({
          data: expect.anything(),
          extensions: { statements: expect.any(Number) },
        });
        return body.extensions.statements as number;
      };
      for (const document of [
        'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
        'query ($ids: [ID!]!) { tasks(where: { id: { in: $ids } }) { edges { node { id } } } }',
      ]) {
        for (const besides of [[], [own]]) {
          // The first time may read what is cached afterwards.
          await countOf(document, [...besides, newId()]);
          expect(await countOf(document, [...besides, hidden]), document).toBe(
            await countOf(document, [...besides, newId()]),
          );
        }
      }
    },
  );
});

test('enablegraphextensions: answers say what they have cost', async () => {
  shows('server.enablegraphextensions');
  const page = '{ tasks(first: 10) { edges { node { id title } } } }';
  expect(Object.keys((await client.graphql(page)).body)).toEqual(['data']);
  const instance = await world.openInstance({ environment: { CORE_SERVER_ENABLEGRAPHEXTENSIONS: 'true' } });
  const by = await clientOf(instance, person);
  const timing = { waited_ms: expect.any(Number), duration_ms: expect.any(Number) };
  // One statement returns the text of the answer; with a second field the executor makes it.
  for (const [query, cost] of [
    [page, { fields: 4, fields_limit: 100, records: 10, conditions: 0 }],
    [page.replace('{ tasks', '{ __typename tasks'), { fields: 4, fields_limit: 100, records: 10, conditions: 0 }],
    ['{ __typename }', { fields: 0, fields_limit: 100, records: 0, values: 0, conditions: 0 }],
  ] as const) {
    await by.graphql(query);
    statements.length = 0;
    const { body, headers } = await by.graphql(query);
    expect(body.data, query).toBeTruthy();
    expect(body.extensions, query).toMatchObject({
      request_id: headers['x-request-id'],
      cost,
      timing,
      statements: expect.any(Number),
    });
    if (!query.includes('__typename }')) expect(body.extensions.statements).toBeGreaterThanOrEqual(statements.length);
  }
});

test('graphpool.maxworkers: so many operations run, and organizations take turns', async () => {
  shows('server.graphpool.maxworkers');
  const instance = await world.openInstance({ environment: { CORE_SERVER_GRAPHPOOL_MAXWORKERS: '1' } });
  const many = await clientOf(instance, person);
  const few = await clientOf(instance, stranger);
  const id = await taskOf(many);
  const ended: string[] = [];
  const ask = async (name: string, by: TestClient, query: string) => {
    const { errors } = await by.graphql(query);
    expect(errors).toBeUndefined();
    ended.push(name);
  };
  const inState = async (state: 'running' | 'waiting') => {
    const { values } = await (instance.api.services.metrics.registry
      .getSingleMetric('core_graphql_operations')
      ?.get() ?? Promise.reject(new Error('there is no such metric')));
    return values.find(({ labels }) => labels['status'] === state)?.value;
  };
  const release = await holdRow(world, 'tasks', id);
  const all = [ask('many 1', many, `mutation { updateTask(id: "${id}", input: { title: "y" }) { updatedId } }`)];
  await waitForLocks(world, 1);
  for (const [index, name] of ['many 2', 'many 3', 'many 4', 'few 1'].entries()) {
    all.push(ask(name, name.startsWith('many') ? many : few, '{ self { id } }'));
    await eventually(async () => (await inState('waiting')) === index + 1);
  }
  // Other processes, and REST, have turns of their own.
  expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
  expect((await few.get('/v1/tasks')).status).toBe(200);
  expect(ended).toEqual([]);
  await release();
  await Promise.all(all);
  expect(ended).toEqual(['many 1', 'many 2', 'few 1', 'many 3', 'many 4']);
  expect([await inState('running'), await inState('waiting')]).toEqual([0, 0]);
});

describe('an operation that costs too much is refused before anything is resolved, and says what it costs', () => {
  const times = (count: number, field: string) => Array.from({ length: count }, (_, n) => `f${n}: ${field}`).join(' ');

  test.each<[string, string, string]>([
    [
      'one list',
      `{ tasks { edges { node { ${times(120, 'title')} } } } }`,
      'selects more than 100 fields of records: 122',
    ],
    ['many lists', `{ ${times(120, 'tasks { totalCount }')} }`, 'selects more than 100 fields of records: 120'],
    [
      'a mutation whose last field is too much',
      `mutation { a: createTask(input: { title: "expensive" }) { createdId } b: createTask(input: { title: "expensive" }) { task { ${times(101, 'title')} } } }`,
      'selects more than 100 fields of records: 101',
    ],
    [
      'lists in lists',
      '{ tasks(first: 100) { edges { node { notes(first: 100) { edges { node { task { notes(first: 100) { edges { cursor } } } } } } } } } }',
      'can return or count more than 100000 records: 1010100 or more',
    ],
    [
      'what fragments repeat',
      `{ self { ...f0 } } ${Array.from(
        { length: 40 },
        (_, n) =>
          `fragment f${n} on User { ${n < 39 ? ['a', 'b'].map((as) => `${as}: memberships { edges { node { user { ...f${n + 1} } } } }`).join(' ') : 'id'} }`,
      ).join(' ')}`,
      ' or more',
    ],
  ])('%s', async (_about, query, figure) => {
    statements.length = 0;
    const answer = await client.graphql(query);
    expectGraphqlError(answer, 'limit_exceeded');
    expect(messageOf(answer)).toContain(`${figure};`);
    expect(statements.filter((text) => /row_to_json|insert into/i.test(text))).toEqual([]);
    expect(await asOwner(world, `select 1 from tasks where title = 'expensive'`)).toEqual([]);
  });

  test('fragments of the root that contain the next one twice cost no more than their text', async () => {
    const fragments = Array.from(
      { length: 60 },
      (_, n) => `fragment f${n} on Query { ${n < 59 ? `...f${n + 1} ...f${n + 1}` : 'self { id }'} }`,
    ).join(' ');
    expect((await client.graphql(`{ ...f0 } ${fragments}`)).data.self.id).toBe(person.user.id);
    // Nobody has to be signed in to send it.
    expect((await world.client().graphql(`{ ...f0 } ${fragments}`)).data).toEqual({ self: null });
    const changes = fragments
      .replaceAll('Query', 'Mutation')
      .replace('self { id }', 'deleteTask(id: "x") { deletedId }');
    expectGraphqlError(await client.graphql(`mutation { ...f0 } ${changes}`), 'not_found');
  });

  test('directives without end', async () => {
    const query = (count: number) => `{ self { ${'... @include(if: true) { id } '.repeat(count)} } }`;
    expect((await client.graphql(query(40))).errors).toBeUndefined();
    const answer = await client.graphql(query(60));
    expectGraphqlError(answer, 'limit_exceeded');
    expect(messageOf(answer)).toContain('has more than 50 directives');
  });

  test.each<[string, number, 'limit_exceeded' | 'body_too_large']>([
    ['a million items', 1_000_000, 'body_too_large'],
    ['a hundred thousand items', 100_000, 'limit_exceeded'],
  ])('variables with a list of %s', async (_about, length, code) => {
    const ids = Array.from({ length }, () => 1);
    const answer = await client.graphql('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', { ids });
    expectProblem(answer, code);
    const again = await client.graphql('{ self { id } }');
    expect(again.data.self.id).toBe(person.user.id);
  });
});

describe('a document that is named by its hash', () => {
  const hashOf = (query: string) => createHash('sha256').update(query).digest('hex');
  const extensionsOf = (query: string, more = {}) => ({
    persistedQuery: { version: 1, sha256Hash: hashOf(query), ...more },
  });
  const ask = (body: object) => client.post('/graphql', body);

  function expectUnknown({ status, body, headers }: Awaited<ReturnType<typeof ask>>): void {
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        errors: [
          {
            message: 'PersistedQueryNotFound',
            extensions: { code: 'PERSISTED_QUERY_NOT_FOUND', request_id: headers['x-request-id'] },
          },
        ],
      },
    });
  }

  test('is asked for once', async () => {
    const query = 'query ($id: ID!) { user(id: $id) { id } } # kept';
    const variables = { id: person.user.id };
    const extensions = extensionsOf(query);
    expectUnknown(await ask({ variables, extensions }));
    const data = { user: { id: person.user.id } };
    expect((await ask({ query, variables, extensions })).body).toEqual({ data });
    expect((await ask({ variables, extensions })).body).toEqual({ data });
    const parameters = new URLSearchParams({
      variables: JSON.stringify(variables),
      extensions: JSON.stringify(extensions),
    });
    expect((await client.get(`/graphql?${parameters}`)).body).toEqual({ data });
    // It gives no rights: who asks is decided for each request.
    const other = await (await signedIn(world, stranger)).post('/graphql', { variables, extensions });
    expectGraphqlError(other, 'not_found');
  });

  test('is never a mutation by GET', async () => {
    const query = 'mutation { createTask(input: { title: "by hash" }) { createdId } }';
    const extensions = extensionsOf(query);
    expect((await ask({ query, extensions })).body.data.createTask).toBeTruthy();
    const byGet = await client.get(`/graphql?${new URLSearchParams({ extensions: JSON.stringify(extensions) })}`, {
      accept: 'application/json',
    });
    expectGraphqlError(byGet, 'method_not_allowed');
    expect(await asOwner(world, `select 1 from tasks where title = 'by hash'`)).toHaveLength(1);
  });

  test('is kept only under its own hash, and only if it can be executed', async () => {
    const query = '{ self { id } } # another';
    const wrong = await ask({ query: '{ self { email } }', extensions: extensionsOf(query) });
    expectGraphqlError(wrong, 'invalid_input');
    expect(messageOf(wrong)).toContain('sha256Hash is not the SHA-256 hash of the query');
    expectUnknown(await ask({ extensions: extensionsOf(query) }));
    for (const invalid of ['{ nope }', '{ self {', `{ ${'self { id } '.repeat(1_000)} }`]) {
      expect((await ask({ query: invalid, extensions: extensionsOf(invalid) })).body.errors).toBeTruthy();
      expectUnknown(await ask({ extensions: extensionsOf(invalid) }));
    }
    for (const more of [
      { version: 2 },
      { version: '1' },
      { sha256Hash: 'x' },
      { sha256Hash: hashOf(query).toUpperCase() },
    ])
      expectGraphqlError(await ask({ query, extensions: extensionsOf(query, more) }), 'invalid_input');
  });

  test('is forgotten when many others come after it', async () => {
    const query = (n: number) => `{ __typename } # ${n}`;
    const register = (n: number) => ask({ query: query(n), extensions: extensionsOf(query(n)) });
    for (let n = 0; n <= 1_000; n++) await register(n);
    expectUnknown(await ask({ extensions: extensionsOf(query(0)) }));
    expect((await ask({ extensions: extensionsOf(query(1_000)) })).body).toEqual({ data: { __typename: 'Query' } });
  });
});

test('introspection is answered in development only, and __typename always', async () => {
  const production = await world.openInstance({ environment: { CORE_SERVER_DEV: 'false' } });
  const by = await clientOf(production, person);
  for (const query of ['{ __schema { queryType { name } } }', '{ a: __type(name: "Task") { name } }']) {
    expect((await client.graphql(query)).errors).toBeUndefined();
    const answer = await by.graphql(query);
    expectGraphqlError(answer, 'invalid_input');
    expect(messageOf(answer)).toContain('server.dev is off');
  }
  expect((await by.graphql('{ __typename self { __typename } }')).data).toEqual({
    __typename: 'Query',
    self: { __typename: 'User' },
  });
});
