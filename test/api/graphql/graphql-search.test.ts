import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { searchFunctionOf } from '#entities/kit/storage/search-function.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let memberClient: TestClient;
let strangerClient: TestClient;
let tasks: { readonly id: string; readonly displayId: string }[];
const statements: string[] = [];

const inputs = [
  { title: 'Renew the certificate', details: 'before it ends' },
  { title: '100% done_or not', details: 'a back\\slash' },
  { title: 'ends with cert', details: 'ificate begins here' },
  { title: 'Größe prüfen' },
];

beforeAll(async () => {
  world = await openWorld({ observers: [requestStatements(statements)] });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  memberClient = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  strangerClient = await signedIn(world, await buildPerson(world));
  const create = `mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id displayId } } }`;
  tasks = (await client.graphql(create, { inputs })).data.createBulkTask.tasks;
  await strangerClient.graphql(create, { inputs });
  await client.graphql('mutation { createTag(input: { name: "certificates" }) { tag { id } } }');
});
afterAll(() => world.close());

const taskSearch = `query ($query: String!, $first: Int, $where: TaskWhere) { taskSearch(query: $query, first: $first, where: $where) {
  totalCount pageInfo { hasNextPage } edges { node { title } } } }`;

async function found(by: TestClient, query: string): Promise<string[]> {
  const { data, errors } = await by.graphql(taskSearch, { query });
  expect(errors).toBeUndefined();
  expect(data.taskSearch.totalCount).toBe(data.taskSearch.edges.length);
  return data.taskSearch.edges.map(({ node }: { node: { title: string } }) => node.title);
}

describe('a search', () => {
  test.each<[string, number[]]>([
    ['certificate', [0]],
    ['CERTIFICATE', [0]],
    // A whole word comes before the beginning of one, and the words as they were written before all others.
    ['cert', [2, 0]],
    ['the cert', [2, 0]],
    ['before', [0]],
    ['certificates renewed', [0]],
    ['cert ificate', [2]],
    ['tificat', [0]],
    // Misspelt.
    ['certifcate', [0, 2]],
    ['reneew', [0]],
    ['certificaet renew', [0]],
    ['zertifikat', []],
    ['100%', [1]],
    ['%%%', []],
    ['___', []],
    ['done_or', [1]],
    ['doneXor', [1]],
    ['back\\slash', [1]],
    ['\\\\\\', []],
    ['größe', [3]],
    [`' or true --`, []],
    // Without case and accents, in both directions.
    ['grosse', [3]],
    ['Prufen', [3]],
    ['rénèw', [0]],
    ['\u0301', []],
  ])('for %j finds what has it, the best first', async (query, places) => {
    expect(await found(client, query)).toEqual(places.map((place) => inputs[place]?.title));
  });

  test('finds a record by its id and its short name, in any case', async () => {
    const [{ id, displayId } = { id: '', displayId: '' }] = tasks;
    for (const query of [id, ` ${id} `, displayId, displayId.toLowerCase()])
      expect(await found(client, query)).toEqual([inputs[0]?.title]);
    expect(await found(client, displayId.slice(0, -1))).toEqual([]);
    expect(await found(strangerClient, id)).toEqual([]);
  });

  test('finds nothing that the caller may not see', async () => {
    expect(await found(memberClient, 'certificate')).toEqual([]);
    expect(await found(strangerClient, 'certificate')).toHaveLength(1);
  });

  test('finds nothing that is deleted', async () => {
    const { data } = await client.graphql('mutation { createTask(input: { title: "gone soon" }) { task { id } } }');
    expect(await found(client, 'gone soon')).toHaveLength(1);
    await client.graphql('mutation ($id: ID!) { deleteTask(id: $id) { deletedId } }', { id: data.createTask.task.id });
    expect(await found(client, 'gone soon')).toEqual([]);
  });

  test('is a list like any other', async () => {
    const { data } = await client.graphql(taskSearch, {
      query: 'cert',
      first: 1,
      where: { title: { startsWith: 'ends' } },
    });
    expect(data.taskSearch).toEqual({
      totalCount: 1,
      pageInfo: { hasNextPage: false },
      edges: [{ node: { title: inputs[2]?.title } }],
    });
  });

  test.each(['', '  ', 'x'.repeat(201)])('takes 1 to 200 characters, not %j', async (query) => {
    expectGraphqlError(await client.graphql(taskSearch, { query }), 'invalid_input');
    expectGraphqlError(
      await client.graphql('query ($query: String!) { search(query: $query) { __typename } }', { query }),
      'invalid_input',
    );
  });

  test('takes text that a record can hold', async () => {
    for (const name of ['taskSearch', 'search'])
      expectGraphqlError(await client.graphql(`{ ${name}(query: "abc\\u0000") { __typename } }`), 'invalid_input');
  });
});

test('the descriptions of searches say how many matches are considered, and the way around', async () => {
  const { data } = await client.graphql('{ __type(name: "Query") { fields { name description } } }');
  const fields = data.__type.fields as { name: string; description: string }[];
  const searches = fields.filter(({ name }) => /^search$|Search$/.test(name));
  expect(searches.length).toBeGreaterThan(10);
  for (const { name, description } of searches)
    expect(description, name).toMatch(
      /at most 5000 records of the organization that have the words.* may not view\. .*filter a list/s,
    );
});

test('a search in all kinds is one statement', async () => {
  statements.length = 0;
  const { data } = await client.graphql(`{ search(query: "certificate", first: 5) { __typename
    tasks { totalCount edges { node { title } } } tags { edges { node { name } } } found: users { totalCount } } }`);
  expect(data.search).toEqual({
    __typename: 'SearchResults',
    tasks: { totalCount: 1, edges: [{ node: { title: inputs[0]?.title } }] },
    tags: { edges: [{ node: { name: 'certificates' } }] },
    found: { totalCount: 0 },
  });
  expect(statements.filter((text) => text.includes('row_to_json'))).toHaveLength(1);
});

describe('the order of what is found', () => {
  let ranked: TestClient;
  const titles = ['policy on the policy', 'security', 'privacy policies', 'a police report', 'nothing of that'];
  const search = `query ($query: String!, $first: Int, $after: String) { noteSearch(query: $query, first: $first, after: $after) {
    edges { cursor node { title } } } }`;
  const pages = async (query: string, first: number) => {
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const { data, errors } = await ranked.graphql(search, { query, first, after });
      expect(errors).toBeUndefined();
      const { edges } = data.noteSearch;
      found.push(...edges.map(({ node }: { node: { title: string } }) => node.title));
      if (edges.length < first) return found;
      after = edges.at(-1).cursor;
    }
  };

  beforeAll(async () => {
    ranked = await signedIn(world, await buildPerson(world));
    for (const title of titles) {
      const text = title === 'security' ? 'what the policy says about it' : 'text';
      expect((await ranked.post('/v1/notes', { title, text })).status).toBe(201);
    }
  });

  test('is by how well it fits, and names and titles count more than texts', async () => {
    expect(await pages('policy', 10)).toEqual([titles[0], titles[2], titles[1]]);
    expect(await pages('policies', 10)).toEqual([titles[2], titles[0], titles[1]]);
    expect(await pages('polic', 10)).toHaveLength(4);
  });

  test('stays the same over pages, and from one request to the next', async () => {
    const whole = await pages('polic', 10);
    for (const size of [1, 2, 3]) expect(await pages('polic', size)).toEqual(whole);
    expect(await pages('polic', 10)).toEqual(whole);
  });

  test('can be another one', async () => {
    const { data } = await ranked.graphql(
      '{ noteSearch(query: "policy", orderBy: [{ field: CREATED_AT, direction: DESC }]) { edges { node { title } } } }',
    );
    expect(data.noteSearch.edges.map(({ node }: { node: { title: string } }) => node.title)).toEqual([
      titles[2],
      titles[1],
      titles[0],
    ]);
  });
});

describe('the functions of the database', () => {
  const functions = registry.modules.flatMap((module) => searchFunctionOf(module) ?? []);

  test('see the organization of the transaction only, and nobody can name another', async () => {
    const connection = new Client({ connectionString: world.databaseUrl });
    await connection.connect();
    await connection.query('set role core_app');
    const ids = async () => (await connection.query('select search_tasks($1) as id', ['certificate'])).rows;
    expect(await ids()).toEqual([]);
    await connection.query(`select set_config('core.organization_id', $1, false)`, [owner.organization.id]);
    expect(await ids()).toEqual([{ id: tasks[0]?.id }]);
    await connection.query(`select set_config('core.organization_id', $1, false)`, [newId()]);
    expect(await ids()).toEqual([]);
    await connection.end();
  });

  test('find by trigrams, not by looking at every row of the organization', async () => {
    const connection = new Client({ connectionString: world.databaseUrl });
    await connection.connect();
    try {
      await connection.query('begin');
      await connection.query(
        `insert into tasks select (jsonb_populate_record(t, jsonb_build_object(
           'id', lpad(n::text, 26, '0'), 'display_id', 'TSK-' || n, 'title', 'other ' || n, 'details', md5(n::text)))).*
         from tasks t, generate_series(1, 10000) as n where t.id = $1`,
        [tasks[0]?.id],
      );
      await connection.query('analyze tasks');
      await connection.query(`select set_config('core.organization_id', $1, true)`, [owner.organization.id]);
      const { text = '' } = functions.find(({ name }) => name === 'search_tasks') ?? {};
      const body = text.split('$$')[1]?.replaceAll('wanted', `'certificate'`);
      const { rows } = await connection.query<{ 'QUERY PLAN': string }>(`explain ${body}`);
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('tasks_search_index');
    } finally {
      // Nothing of it stays.
      await connection.end();
    }
  });
});
