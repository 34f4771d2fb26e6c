import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let taskId: string;
let groupId: string;
let foreignId: string;
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const make = async (by: TestClient) => {
    const { data } = await by.graphql(
      'mutation { createTask(input: { title: "a" }) { task { id } } createGroup(input: { name: "ab" }) { group { id } } }',
    );
    return [data.createTask.task.id, data.createGroup.group.id];
  };
  [taskId, groupId] = (await make(client)) as [string, string];
  [foreignId] = (await make(await signedIn(world, await buildPerson(world)))) as [string, string];
});
afterAll(() => world.close());

const node = `query ($id: ID!) { node(id: $id) { __typename id ... on Task { title parent { id } notes { totalCount } }
  ...G ... on Node { same: id } } } fragment G on Group { name }`;
const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Task { title } ... on User { email } } }';

test('a record is found by its id alone, with what is selected of its kind', async () => {
  expect((await client.graphql(node, { id: taskId })).data.node).toEqual({
    __typename: 'Task',
    id: taskId,
    title: 'a',
    parent: null,
    notes: { totalCount: 0 },
    same: taskId,
  });
  expect((await client.graphql(node, { id: groupId })).data.node).toEqual({
    __typename: 'Group',
    id: groupId,
    name: 'ab',
    same: groupId,
  });
});

test('many are found in one statement, in the order of their ids, with nothing where there is nothing', async () => {
  const ids = [groupId, newId(), taskId, foreignId, 'x', '', owner.user.id, taskId];
  statements.length = 0;
  const { data } = await client.graphql(nodes, { ids });
  const task = { __typename: 'Task', id: taskId, title: 'a' };
  expect(data.nodes).toEqual([
    { __typename: 'Group', id: groupId },
    null,
    task,
    null,
    null,
    null,
    { __typename: 'User', id: owner.user.id, email: owner.user.email },
    task,
  ]);
  expect(statements.filter((text) => text.includes('row_to_json'))).toHaveLength(1);
});

test('a record that the caller may not see is null', async () => {
  const message = (id: string) => `There is no record "${id}".${id.length < 26 ? ' This is not an id.' : ''}`;
  for (const id of [foreignId, newId(), 'x', '']) {
    const answer = await client.graphql(node, { id });
    expectGraphqlError(answer, 'not_found');
    expect(answer.errors[0].message).toBe(message(id));
  }
  expectGraphqlError(await world.client().graphql(node, { id: taskId }), 'unauthenticated');
});

test('nodes accepts no more ids than a page holds', async () => {
  const { maxresultlimit } = world.config.current.server;
  const ids = Array.from({ length: maxresultlimit + 1 }, () => taskId);
  expectGraphqlError(await client.graphql(nodes, { ids }), 'limit_exceeded');
  expect((await client.graphql(nodes, { ids: [] })).data.nodes).toEqual([]);
});
