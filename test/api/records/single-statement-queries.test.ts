import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let groupId: string;
const texts: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(texts)] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  groupId = (await client.post('/v1/groups', { name: 'a "group" with \\ and é' })).body.id;
  await client.post('/v1/group-memberships', { group_id: groupId, user_id: owner.user.id });
  await client.post('/v1/tasks', { title: 'one', due_at: '2026-01-31T12:00:00Z', tags: ['x', 'y'], priority: 7 });
  await client.post('/v1/tasks', { title: 'two', status: 'in_review' });
  const metadata = { a: [1, 2.5, null, true, 'x\u2028'], b: { c: {} } };
  await client.post('/v1/files', { name: 'small', metadata, content: await uploadBy(world, owner) });
  await client.post('/v1/files', { name: 'large', content: await uploadBy(world, owner) });
  // As a migration would.
  await asOwner(world, `update files set size_bytes = case name when 'large' then 3000000000 else 12 end`);
  await asOwner(world, 'update stored_objects o set size_bytes = f.size_bytes from files f where f.content = o.id');
});
afterAll(() => world.close());

/** The same operation with a second root field, which the executor has to put together. */
const withMore = (document: string) => document.replace(/\}(\s*fragment[\s\S]*)?$/, 'executed: __typename }$1');

async function answers(document: string, variables: object, by: TestClient) {
  const seen = [];
  for (const query of [document, withMore(document)]) {
    texts.length = 0;
    const { status, data, errors } = await by.graphql(query, variables);
    // A read that stands alone ends its transaction by itself.
    const isAlone = !texts.includes('commit') && !texts.includes('rollback');
    if (data) delete data.executed;
    for (const error of errors ?? []) delete error.extensions.request_id;
    seen.push({ isAlone, answer: { status, data, errors } });
  }
  const [alone, executed] = seen as [(typeof seen)[number], (typeof seen)[number]];
  return { alone, executed };
}

const page =
  '{ edges { cursor node { id title dueAt status priority tags assigner { email } } } totalCount pageInfo { hasNextPage endCursor } }';

describe('a query of one derived field', () => {
  test.each<[string, string, object?]>([
    ['a list', `{ tasks ${page} }`],
    ['a list with arguments', `{ tasks(first: 1, orderBy: [{ field: TITLE, direction: DESC }]) ${page} }`],
    [
      'variables',
      `query ($n: Int!, $w: TaskWhere) { tasks(first: $n, where: $w) ${page} }`,
      { n: 2, w: { status: { in: ['OPEN'] } } },
    ],
    ['a variable with a default', `query ($n: Int = 1) { tasks(first: $n) ${page} }`],
    ['a look-up', 'query ($id: ID!) { group(id: $id) { id name displayName createdAt } }'],
    ['an alias', 'query ($id: ID!) { here: group(id: $id) { called: name name } }'],
    [
      '__typename at every level',
      'query ($id: ID!) { group(id: $id) { __typename groupMemberships { __typename edges { __typename node { __typename role } } } } }',
    ],
    [
      'fragments',
      'query ($id: ID!) { group(id: $id) { ...F ... on Group { name ... { id } } } } fragment F on Group { groupMemberships { edges { node { user { email } } } } }',
    ],
    [
      'directives below',
      'query ($id: ID!, $no: Boolean = false) { group(id: $id) { name @include(if: $no) id @skip(if: $no) } }',
    ],
    [
      'fields that are asked for twice',
      'query ($id: ID!) { group(id: $id) { groupMemberships { totalCount } groupMemberships { edges { node { role } } } } }',
    ],
    ['an operation by its name', 'query Named { tasks { totalCount } }'],
    ['a JSON document', '{ files(where: { name: { eq: "small" } }) { edges { node { name metadata contentType } } } }'],
    ['a number that Int does not reach', '{ files { edges { node { sizeBytes } } } }'],
    ['what is empty', 'query ($id: ID!) { group(id: $id) { groupSettings { edges { node { id } } totalCount } } }'],
    ['a record that does not exist', `{ group(id: "${newId()}") { name } }`],
  ])('says the same as the executor: %s', async (_name, document, variables) => {
    const { alone, executed } = await answers(document, variables ?? { id: groupId }, client);
    expect(alone.answer).toEqual(executed.answer);
    expect([alone.isAlone, executed.isAlone]).toEqual([true, false]);
  });

  test.each<[string, string, object?]>([
    ['what is no id', '{ group(id: "x") { name } }'],
    ['pages that are too large', '{ tasks(first: 1000) { totalCount } }'],
    ['first and last', '{ tasks(first: 1, last: 1) { totalCount } }'],
    ['a foreign cursor', '{ tasks(after: "x") { totalCount } }'],
    ['nothing to compare with', '{ tasks(where: { status: null }) { totalCount } }'],
    ['a variable that is missing', 'query ($n: Int!) { tasks(first: $n) { totalCount } }', {}],
    ['a variable of another type', 'query ($n: Int!) { tasks(first: $n) { totalCount } }', { n: 'x' }],
    ['a field that does not exist', '{ tasks { nothing } }'],
    ['a directive on the field', '{ tasks @skip(if: true) { totalCount } }'],
    ['a field written by hand', '{ self { email } }'],
    ['the schema', '{ __schema { queryType { name } } }'],
  ])('leaves to the executor: %s', async (_name, document, variables) => {
    const { alone, executed } = await answers(document, variables ?? {}, client);
    expect(alone.answer).toEqual(executed.answer);
  });

  test('shows a stranger nothing', async () => {
    const stranger = await signedIn(world, await buildPerson(world));
    const { alone, executed } = await answers(`{ tasks ${page} }`, {}, stranger);
    expect(alone.answer).toEqual(executed.answer);
    expect(alone.answer.data.tasks.totalCount).toBe(0);
  });
});

test('one plan serves callers of a sort, each with their own rows', async () => {
  const people = await Promise.all(Array.from({ length: 3 }, () => buildPerson(world)));
  for (const [index, person] of people.entries()) {
    const by = await signedIn(world, person);
    await by.post('/v1/tasks', { title: `of ${index}` });
    const { body } = await by.get('/v1/tasks?count=true');
    expect([body.total_count, body.data[0].title]).toEqual([1, `of ${index}`]);
  }
});
