import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OperationBudget } from '#api/graphql/documents/operation-budget.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { syntheticRegistry } from '../../kit/records/synthetic-kinds.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const count = 110;

let world: World;
let owner: Person;
let client: TestClient;
let stranger: TestClient;
/** One record of each kind. */
let ids: readonly string[];
let foreignId: string;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ registry: syntheticRegistry(count), observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  stranger = await signedIn(world, await buildPerson(world));
  const made: string[] = [];
  for (let index = 0; index < count; index++) {
    const create = `mutation { createThing${index}(input: { name: "thing ${index}" }) { thing${index} { id } } }`;
    const { data } = await client.graphql(create);
    made.push(data[`createThing${index}`][`thing${index}`].id);
  }
  ids = made;
  const { data } = await stranger.graphql('mutation { createThing3(input: { name: "foreign" }) { thing3 { id } } }');
  foreignId = data.createThing3.thing3.id;
});
afterAll(() => world.close(), 60_000);

/** Statements of a request that look up kinds, and those that read records. */
function countStatements() {
  const lookUps = statements.filter((text) => text.includes('kinds_of_records')).length;
  return { lookUps, reads: statements.filter((text) => text.includes('row_to_json')).length };
}

test('node finds a record of any of 110 kinds with one look-up and one read', async () => {
  const text = `query ($id: ID!) { node(id: $id) { __typename id ... on Thing7 { name status keeper { email } children { totalCount } } } }`;
  statements.length = 0;
  const { data, errors } = await client.graphql(text, { id: ids[7] });
  expect(errors).toBeUndefined();
  expect(data.node).toEqual({
    __typename: 'Thing7',
    id: ids[7],
    name: 'thing 7',
    status: 'OPEN',
    keeper: null,
    children: { totalCount: 0 },
  });
  expect(countStatements()).toEqual({ lookUps: 1, reads: 1 });
  expect((await client.graphql(text, { id: ids[108] })).data.node).toEqual({ __typename: 'Thing108', id: ids[108] });
});

test('nodes reads records of a hundred kinds in the same two statements, and those of one kind from its table alone', async () => {
  const text = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id } }';
  statements.length = 0;
  const { data } = await client.graphql(text, { ids: [...ids.slice(0, 99), newId()] });
  expect(data.nodes).toEqual([...ids.slice(0, 99).map((id, index) => ({ __typename: `Thing${index}`, id })), null]);
  expect(countStatements()).toEqual({ lookUps: 1, reads: 1 });
  statements.length = 0;
  await client.graphql(text, { ids: [ids[5], ids[5]] });
  const read = statements.find((statement) => statement.includes('row_to_json')) ?? '';
  expect([...read.matchAll(/from "(\w+)"/g)].map(([, table]) => table)).toEqual(['thing5s']);
});

test('a selection is charged for the most expensive kind, not for the sum of all kinds', async () => {
  const fragment = (index: number) =>
    `... on Thing${index} { name details priority isArchived dueAt doneAt tags createdAt updatedAt }`;
  const fragments = Array.from({ length: count }, (_none, index) => fragment(index)).join('\n');
  const { data, errors } = await client.graphql(`query ($id: ID!) { node(id: $id) { ${fragments} } }`, { id: ids[42] });
  expect(errors).toBeUndefined();
  expect(data.node.name).toBe('thing 42');
  // The default limit holds for the fields of one kind.
  const { complexitylimit } = world.config.current.server;
  const many = Array.from({ length: complexitylimit + 1 }, (_none, index) => `n${index}: name`).join(' ');
  const refused = await client.graphql(`query ($id: ID!) { node(id: $id) { id ... on Thing9 { ${many} } } }`, {
    id: ids[0],
  });
  expectGraphqlError(refused, 'limit_exceeded');
});

test('what is selected of all kinds together is limited before anything is looked up, shared fragments included', async () => {
  const { complexitylimit } = world.config.current.server;
  const names = Array.from({ length: complexitylimit - 10 }, (_none, index) => `n${index}: name`).join(' ');
  const read = async (kinds: number) => {
    const fragments = Array.from({ length: kinds }, (_none, index) => `... on Thing${index} { group { ...F } }`);
    const text = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${fragments.join(' ')} } } fragment F on Group { ${names} }`;
    statements.length = 0;
    return client.graphql(text, { ids: ids.slice(0, kinds) });
  };
  // Each kind has the reference and the fields of the fragment.
  const allowed = Math.floor((10 * complexitylimit) / (complexitylimit - 9));
  expect((await read(allowed)).data.nodes).toHaveLength(allowed);
  expect(countStatements()).toEqual({ lookUps: 1, reads: 1 });
  const refused = await read(allowed + 1);
  expectGraphqlError(refused, 'limit_exceeded');
  expect(refused.errors[0].message).toContain(`more than ${10 * complexitylimit} fields`);
  expect(countStatements()).toEqual({ lookUps: 0, reads: 0 });
  // Kinds that no fragment names share the selection of Node, which is compiled for each of them that is found.
  const typenames = Array.from({ length: 20 }, (_none, index) => `t${index}: __typename`).join(' ');
  const text = `query ($ids: [ID!]!) { nodes(ids: $ids) { ${typenames} } }`;
  expect((await client.graphql(text, { ids: ids.slice(0, 50) })).errors).toBeUndefined();
  expectGraphqlError(await client.graphql(text, { ids: ids.slice(0, 51) }), 'limit_exceeded');
});

test('response names may be the names that the statement uses itself', async () => {
  const names = Array.from({ length: 20 }, (_none, index) => `t${index}`);
  const selection = names.map((name) => `${name}: name`).join(' ');
  const { data, errors } = await client.graphql(`{ thing9s(first: 1) { edges { node { ${selection} } } } }`);
  expect(errors).toBeUndefined();
  expect(data.thing9s.edges[0].node).toEqual(Object.fromEntries(names.map((name) => [name, 'thing 9'])));
});

test('the conditions of all kinds together are limited as well', () => {
  const budget = new OperationBudget({ fields: 100, records: 100, values: 100, conditions: 5 });
  const kinds = Array.from({ length: 10 }, () => ({ kinds: 1 }));
  // Ten times the limit of one kind; records count for the most expensive kind only.
  budget.alternatives(kinds, () => budget.spend({ conditions: 4, records: 100 }));
  budget.alternatives(kinds, () => budget.spend({ conditions: 1 }));
  const another = new OperationBudget({ fields: 100, records: 100, values: 100, conditions: 5 });
  const spend = () => another.spend({ conditions: 5 });
  expect(() => another.alternatives([...kinds, { kinds: 1 }], spend)).toThrow('more than 50 conditions');
});

test('nothing tells whether a record of another organization exists', async () => {
  const expensive = Array.from({ length: 101 }, (_none, index) => `n${index}: name`).join(' ');
  const selections = [
    'id',
    '... on Thing3 { name }',
    '... on Thing3 { children(after: "no cursor") { totalCount edges { cursor } } }',
    `... on Thing3 { ${expensive} }`,
  ];
  for (const selection of selections) {
    const answers: unknown[] = [];
    for (const id of [foreignId, newId()]) {
      statements.length = 0;
      const { errors } = await client.graphql(`query ($id: ID!) { node(id: $id) { ${selection} } }`, { id });
      const [{ message, extensions }] = errors;
      answers.push([message.replace(id, 'ID'), extensions.code, countStatements()]);
    }
    expect(answers[0], selection).toEqual(answers[1]);
  }
});

test('a deleted record is not found', async () => {
  const { data } = await client.graphql('mutation { createThing1(input: { name: "a" }) { thing1 { id } } }');
  const { id } = data.createThing1.thing1;
  await client.graphql('mutation ($id: ID!) { deleteThing1(id: $id) { deletedId } }', { id });
  expectGraphqlError(await client.graphql('query ($id: ID!) { node(id: $id) { id } }', { id }), 'not_found');
});

test('records of kinds that are visible in several organizations are looked up from each of them', async () => {
  const text = 'query ($id: ID!) { node(id: $id) { __typename } }';
  expect((await client.graphql(text, { id: owner.user.id })).data.node).toEqual({ __typename: 'User' });
  expectGraphqlError(await stranger.graphql(text, { id: owner.user.id }), 'not_found');
  const rows = await asOwner<{ kind: string; organization_id: string | null }>(
    world,
    'select kind, organization_id from record_kinds where id = any($1)',
    [[owner.user.id, ids[0]]],
  );
  expect(rows).toContainEqual({ kind: 'user', organization_id: null });
  expect(rows).toContainEqual({ kind: 'thing0', organization_id: owner.organization.id });
});

test('lists, nested reads and the introspection query stay within the default limits', async () => {
  const nested = `{ thing9s(first: 10) { totalCount edges { node { id name parent { name } group { name }
    keeper { email displayName } children(first: 5) { edges { node { id name status keeper { email } } } }
    related10(first: 5) { edges { node { id name } } } } } } }`;
  const { data, errors } = await client.graphql(nested);
  expect(errors).toBeUndefined();
  expect(data.thing9s.totalCount).toBe(1);
  const { data: introspected } = await client.graphql(getIntrospectionQuery());
  expect(introspected.__schema.types.length).toBeGreaterThan(count * 15);
});

test('every kind has REST routes in the reference', async () => {
  const { body } = await client.get('/openapi.json');
  for (let index = 0; index < count; index++) expect(body.paths).toHaveProperty([`/v1/thing${index}s/{id}`, 'get']);
  expect((await client.get(`/v1/thing77s/${ids[77]}`)).body).toMatchObject({ id: ids[77], name: 'thing 77' });
});
