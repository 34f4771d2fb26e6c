import { createHash } from 'node:crypto';
import { isInputObjectType, isListType, isNonNullType, type GraphQLInputType } from 'graphql';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { asOwner } from '../kit/as-owner.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { requestStatements } from '../kit/request-statements.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let person: Person;
let client: TestClient;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const times = (count: number, text: (n: number) => string) =>
  Array.from({ length: count }, (_each, n) => text(n)).join(' ');

describe('T-100: a document is refused before execution, within 20 ms', () => {
  /** The least of several: the machine may be busy with something else meanwhile. */
  async function leastMs(ask: () => Promise<TestAnswer>): Promise<number> {
    let least = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < 15; turn++) {
      const started = performance.now();
      await ask();
      least = Math.min(least, performance.now() - started);
    }
    return least;
  }

  test.each<[string, string]>([
    ['1,000 aliases', `{ ${times(1_000, (n) => `a${n}: self { id }`)} }`],
    ['1,000 aliases of the smallest field', `{ ${times(1_000, (n) => `a${n}: __typename`)} }`],
    ['1,000 times the same field', `{ ${'self { id } '.repeat(1_000)} }`],
    [
      '1,000 aliases of a mutation',
      `mutation { ${times(1_000, (n) => `a${n}: createTask(input: { title: "x" }) { createdId }`)} }`,
    ],
    ['50 levels', `${'{ self '.repeat(50)}{ id }${' }'.repeat(50)}`],
    ['a list of 20,000 items in the document', `{ nodes(ids: [${'1 '.repeat(20_000)}]) { id } }`],
  ])('%s', async (_about, query) => {
    statements.length = 0;
    expectGraphqlError(await client.graphql(query), 'limit_exceeded');
    expect(statements.filter((text) => /row_to_json|insert into/i.test(text))).toEqual([]);
    // On a slow machine, no more than a few times what the smallest operation takes there.
    const smallest = await leastMs(() => client.graphql('{ __typename }'));
    expect(await leastMs(() => client.graphql(query))).toBeLessThan(Math.max(20, 10 * smallest));
  });

  test('a list of 1,000,000 items, in the document and in a variable', async () => {
    const items = '1,'.repeat(1_000_000);
    const inDocument = JSON.stringify({ query: `{ nodes(ids: [${items}]) { id } }` });
    const inVariable = `{"query":"query ($ids: [ID!]!) { nodes(ids: $ids) { id } }","variables":{"ids":[${items}1]}}`;
    for (const payload of [inDocument, inVariable]) {
      const ask = () =>
        client.mutate({ method: 'POST', url: '/graphql', payload, headers: { 'content-type': 'application/json' } });
      expectProblem(await ask(), 'body_too_large');
      expect(await leastMs(ask)).toBeLessThan(20);
    }
  });
});

describe('T-102: nobody tries more passwords or codes than requests', () => {
  test('no argument of a GraphQL operation is checked as a credential', () => {
    const schema = productSchema();
    const found: string[] = [];
    const seen = new Set<string>();
    const look = (given: GraphQLInputType, path: string): void => {
      const type = isNonNullType(given) ? given.ofType : given;
      if (isListType(type)) return look(type.ofType, path);
      if (!isInputObjectType(type) || seen.has(type.name)) return;
      seen.add(type.name);
      for (const field of Object.values(type.getFields())) note(field.name, field.type, `${path}.${field.name}`);
    };
    const note = (name: string, type: GraphQLInputType, path: string): void => {
      if (/password|passphrase|otp|passcode|recoverycode|credential$|assertion|(?:^|[a-z])token$/i.test(name))
        found.push(path);
      look(type, path);
    };
    for (const field of Object.values(schema.getMutationType()?.getFields() ?? {}))
      for (const argument of field.args) note(argument.name, argument.type, `${field.name}.${argument.name}`);
    expect(seen.size).toBeGreaterThan(50);
    expect(found).toEqual([]);
  });

  test('a list of sign-ins, or of operations, is one request that is refused', async () => {
    const before = await asOwner(world, 'select * from sign_in_failures');
    const anonymous = world.client();
    const attempt = { username: person.user.email, password: 'wrong' };
    expectProblem(
      await anonymous.post(
        '/v1/login',
        Array.from({ length: 50 }, () => attempt),
      ),
      'invalid_input',
    );
    expectProblem(await anonymous.post('/v1/login', { ...attempt, password: ['a', 'b', 'c'] }), 'invalid_input');
    expect(await asOwner(world, 'select * from sign_in_failures')).toEqual(before);
    const operations = Array.from({ length: 50 }, () => ({ query: '{ self { id } }' }));
    expect((await client.post('/graphql', operations)).status).toBe(400);
  });

  test('each of so many attempts counts', async () => {
    const anonymous = world.client();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 12; attempt++) {
      const answer = await anonymous.post('/v1/login', { username: person.user.email, password: `wrong ${attempt}` });
      statuses.push(answer.status);
    }
    expect(statuses).toEqual([...Array.from({ length: 10 }, () => 401), 429, 429]);
  });
});

describe('T-103: without introspection, an answer names nothing of the schema', () => {
  let by: TestClient;

  beforeAll(async () => {
    const production = await world.openInstance({ environment: { CORE_SERVER_DEV: 'false' } });
    by = production.client();
    by.bearer = client.cookies.get('access_token');
  });

  test.each([
    ['__schema', '{ __schema { types { name } } }'],
    ['under an alias', '{ a: __type(name: "User") { fields { name } } }'],
    ['in a fragment', '{ ...F } fragment F on Query { __type(name: "User") { fields { name } } }'],
    [
      'in a fragment in a fragment',
      '{ ...F } fragment F on Query { ...G } fragment G on Query { __schema { directives { name } } }',
    ],
    ['in an inline fragment', '{ ... on Query { ... { __type(name: "Mutation") { name } } } }'],
    ['of a mutation', 'mutation { __schema { mutationType { name } } }'],
    ['beside another field', '{ self { id } __schema { queryType { name } } }'],
    ['in the other operation', 'query a { self { id } } query b { __schema { queryType { name } } }'],
    ['left out by a directive', '{ __schema @skip(if: true) { queryType { name } } }'],
  ])('%s', async (_about, query) => {
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };
    const operationName: Record<string, string> = query.includes('query b') ? { operationName: 'b' } : {};
    // By GET a mutation is refused for that.
    const inQuery = new URLSearchParams({ query: query.replace('mutation', 'query'), ...operationName });
    for (const answer of [
      await by.post('/graphql', { query, ...operationName }),
      await by.get(`/graphql?${inQuery}`, { accept: 'application/json' }),
      await by.post('/graphql', { query, extensions, ...operationName }),
    ]) {
      expectGraphqlError(answer, 'invalid_input');
      expect(JSON.stringify(answer.body)).not.toMatch(/fields"|"types"|queryType":/);
    }
    // It was not kept under its hash either.
    const again = await by.post('/graphql', { extensions });
    expect(again.body).toMatchObject({ errors: [{ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }] });
  });

  test.each([
    ['a field', '{ self { emial } }', 'email'],
    ['a root field', '{ taskz { totalCount } }', 'tasks'],
    ['an argument', '{ tasks(frist: 1) { totalCount } }', 'first'],
    ['a type', '{ self { ... on Usr { id } } }', 'User'],
    ['a type of a variable', 'query ($a: CreateTaskInputt) { self { id } }', 'CreateTaskInput'],
    // Names of input fields and choices are no secret: /openapi.json has them.
  ])('nor is the right name of %s given to whoever does not know it', async (_about, query, name) => {
    const names = new RegExp(String.raw`\b${name}\b`);
    expect(messagesOf(await client.graphql(query)), 'in development').toMatch(names);
    const answer = await by.graphql(query);
    expectGraphqlError(answer, 'invalid_input');
    expect(messagesOf(answer).replaceAll(query, '')).not.toMatch(names);
  });

  function messagesOf(answer: TestAnswer): string {
    return JSON.stringify(answer.body.errors);
  }
});

describe('T-104: filters that are nested without need are refused', () => {
  const nested = (depth: number, names: readonly string[]): object => {
    let filter: object = { title: { eq: 'x' } };
    for (let level = 0; level < depth; level++) {
      const name = names[level % names.length] as string;
      filter = { [name]: name === 'not' ? filter : [filter] };
    }
    return filter;
  };

  test.each([[['and']], [['or']], [['not']], [['and', 'or', 'not']]])('30 deep: %s', async (names) => {
    const query = 'query ($where: TaskWhere) { tasks(where: $where) { totalCount } }';
    expect((await client.graphql(query, { where: nested(2, names) })).errors).toBeUndefined();
    expectGraphqlError(await client.graphql(query, { where: nested(30, names) }), 'limit_exceeded');
  });
});

test('an object without a text where a choice belongs is a mistake of the caller', async () => {
  const query =
    'query ($groupBy: [NotificationPreferenceGrouping!]) { notificationPreferenceAggregates(groupBy: $groupBy) { count } }';
  for (const value of [{ toString: 1, valueOf: 2 }, { toString: null }, [[]], 1])
    expectGraphqlError(await client.graphql(query, { groupBy: [value] }), 'invalid_input', JSON.stringify(value));
});
