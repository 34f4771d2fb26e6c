import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-120: what comes in as a value stays a value: no marker of the ORM, no operator and no SQL changes a statement's text.

let world: World;
let person: Person;
let client: TestClient;
const statements = new Set<string>();

beforeAll(async () => {
  world = await openWorld({
    observers: [
      {
        statement: ({ text, traceparent }) => {
          // Of requests: background work belongs to no trace, and has statements of its own.
          // How much of the deadline is left is sent only when work was slow.
          const isOwnLimit = /^set local statement_timeout = \d+$/.test(text);
          if (traceparent !== undefined && !isOwnLimit) statements.add(text);
        },
      },
    ],
  });
  person = await buildPerson(world);
  client = await signedIn(world, person);
});
afterAll(() => world.close());

const create =
  'mutation ($input: CreateOrganizationInput!) { createOrganization(input: $input) { organization { id name } } }';
const list =
  'query ($first: Int, $after: String) { organizations(first: $first, after: $after) { edges { node { id } } } }';
const one = 'query ($id: ID!) { organization(id: $id) { id } }';

/** Every input there is, with a value in one place. */
const inputs: Record<string, (value: unknown) => Promise<TestAnswer>> = {
  'address at sign-up': (email) => client.post('/v1/register', { email, password: testPassword }),
  'password at sign-up': (password) => client.post('/v1/register', { email: `p-${newId()}@example.com`, password }),
  'name at sign-up': (first_name) =>
    client.post('/v1/register', { email: `n-${newId()}@example.com`, password: testPassword, first_name }),
  'address to mail again': (email) => client.post('/v1/resend', { email }),
  'token of a mail': (token) => client.post('/v1/verify', { token, password: 'x' }),
  'address at sign-in': (username) => client.post('/v1/login', { username, password: 'x' }),
  'password at sign-in': (password) => client.post('/v1/login', { username: `x-${newId()}@example.com`, password }),
  'name of an organization': (name) => client.graphql(create, { input: { name } }),
  'description of an organization': (description) =>
    client.graphql(create, { input: { name: `described ${newId()}`, description } }),
  'input of a mutation': (input) => client.graphql(create, { input: input as object }),
  'id of a look-up': (id) => client.graphql(one, { id }),
  'size of a page': (first) => client.graphql(list, { first }),
  'cursor of a page': (after) => client.graphql(list, { after }),
  variables: (variables) => client.post('/graphql', { query: list, variables }),
  'name of an operation': (operationName) => client.post('/graphql', { query: list, operationName }),
};

const objects: unknown[] = [
  {},
  [],
  { $ne: null },
  { $gt: '' },
  { $in: ['a'] },
  { $like: '%' },
  { $re: '.*' },
  { $and: [] },
  { $not: {} },
  { ne: 'x' },
  { eq: { ne: null } },
  { __raw: true, sql: '1 = 1', params: [] },
  { __raw: '1 = 1' },
  { sql: 'select 1', params: [], key: '[raw]: 1=1 (#1)' },
  { '[raw]: 1=1 (#1)': [] },
  { __entity: true, __meta: {}, id: 'x' },
  { __helper: { __raw: true } },
  { __reference: true, unwrap: 1 },
  { toJSON: '1', toString: 'x', valueOf: 1 },
  { toPostgres: 'select 1', rows: [] },
  { length: 3, 0: 'a' },
  [['x']],
  [{ $ne: null }],
  [null],
];

const texts = [
  "' or '1'='1",
  "'; drop table users; --",
  "\\'; drop table users; --",
  '" or ""="',
  '$1',
  '?',
  '??',
  ':name',
  '$input$',
  '$$; select pg_sleep(10); $$',
  '[raw]: 1=1 (#1)',
  '%',
  '_',
  'x%27%20or%201=1',
  '{"$ne": null}',
  '{a,b}',
  '{NULL}',
  '(select password_hash from users limit 1)',
  'null',
  "E'\\x27'",
  'x\u02bc or 1=1',
  '\u{1F600}',
];

/** What the same inputs send to the database when the values are harmless, and when they are refused. */
async function harmless(): Promise<void> {
  for (const ask of Object.values(inputs)) {
    for (const value of ['harmless', `h-${newId()}@example.com`, newId(), 3, null]) await ask(value);
  }
  for (let again = 0; again < 2; again++) {
    await client.post('/v1/resend', { email: person.user.email });
    await client.graphql(create, { input: { name: 'taken by somebody' } });
    await client.graphql(one, { id: person.organization.id });
    await client.graphql(list, { first: 1, after: Buffer.from(`organization:${newId()}`).toString('base64url') });
    await client.post('/v1/register', { email: person.user.email, password: testPassword });
    const email = `again-${newId()}@example.com`;
    await client.post('/v1/register', { email, password: testPassword });
    world.clock.advance(61_000);
    await client.post('/v1/register', { email, password: testPassword, first_name: 'Again' });
  }
}

describe('T-120: statements with harmless values have the same texts as', () => {
  let known: Set<string>;

  beforeAll(async () => {
    await harmless();
    known = new Set(statements);
    expect(known.size).toBeGreaterThan(15);
  });

  test.each(Object.keys(inputs))('statements with hostile values: %s', async (name) => {
    const ask = inputs[name] as (value: unknown) => Promise<TestAnswer>;
    statements.clear();
    for (const value of objects) {
      const answer = await ask(value);
      const about = `${JSON.stringify(value)}: ${JSON.stringify(answer.body)}`;
      expect(answer.status, about).toBeLessThan(500);
      // Variables may hold anything that the document does not ask for.
      if (name !== 'variables') expect(answer.status >= 400 || answer.body.errors?.length > 0, about).toBe(true);
    }
    for (const value of texts) {
      const answer = await ask(value);
      expect(answer.status, `${value}: ${JSON.stringify(answer.body)}`).toBeLessThan(500);
      for (const error of answer.body.errors ?? []) expect(error.extensions?.code, value).not.toBe('internal');
    }
    expect([...statements].filter((text) => !known.has(text))).toEqual([]);
  });
});

test('T-120: hostile texts are stored unchanged', async () => {
  const stored = await asOwner<{ name: string }>(world, 'select name from organizations');
  const names = stored.map(({ name }) => name);
  for (const text of texts.filter(({ length }) => length >= 3)) expect(names).toContain(text);
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
});
