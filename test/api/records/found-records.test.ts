import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
});
afterAll(() => world.close());

async function created(by: TestClient, path: string, input: object): Promise<TestAnswer['body']> {
  const { status, body } = await by.post(`/v1/${path}`, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body;
}

const titlesIn = ({ data }: { readonly data: readonly { readonly title: string }[] }) => data.map(({ title }) => title);

/** Titles of the tasks that a search finds in the list, the best first. */
async function found(by: TestClient, text: string, more = ''): Promise<string[]> {
  const { status, body } = await by.get(`/v1/tasks?search=${encodeURIComponent(text)}${more}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return titlesIn(body);
}

describe('a search finds', () => {
  const inputs = [
    { title: 'HR: new contracts' },
    { title: 'Moves of the S3-buckets' },
    { title: 'Rewrite in C#, not Java' },
    { title: 'IT/AI budget' },
    { title: '東京都の計画', details: '大阪' },
    { title: 'カタカナとひらがな' },
    { title: '서울은 회의' },
    { title: 'Chris three thirsty', external_id: 'JIRA-4711' },
  ];
  beforeAll(async () => {
    owner = await buildPerson(world);
    client = await signedIn(world, owner);
    for (const input of inputs) await created(client, 'tasks', input);
  });

  test.each<[string, number[]]>([
    // Whole words, but no parts of longer ones.
    ['HR', [0]],
    ['hr', [0]],
    ['S3', [1]],
    ['C#', [2]],
    ['c', [2]],
    ['IT', [3]],
    ['ai', [3]],
    ['th', []],
    ['#', []],
    // One or two characters of languages without spaces, anywhere.
    ['東', [4]],
    ['京都', [4]],
    ['大阪', [4]],
    ['東京 計画', [4]],
    ['東京 大学', []],
    ['京都の計', [4]],
    ['カタ', [5]],
    ['ﾅ', [5]],
    ['な', [5]],
    ['서울', [6]],
    ['울', [6]],
    ['회의', [6]],
    // Ids in other systems.
    ['JIRA-4711', [7]],
    ['jira-47', [7]],
    ['4711', [7]],
  ])('what has %j', async (text, places) => {
    expect(await found(client, text)).toEqual(places.map((place) => inputs[place]?.title));
  });

  test('a record by its display id', async () => {
    const [{ display_id: displayId }] = (await client.get('/v1/tasks?first=1')).body.data;
    expect(displayId).toMatch(/^TSK-/);
    for (const text of [displayId.toLowerCase(), ` ${displayId}\t`])
      expect(await found(client, text)).toEqual([inputs[0]?.title]);
  });
});

describe('the names of attached files', () => {
  let task: TestAnswer['body'];
  let attached: TestAnswer['body'];
  const title = 'with a file';

  beforeEach(async () => {
    owner = await buildPerson(world);
    client = await signedIn(world, owner);
    task = await created(client, 'tasks', { title });
    await created(client, 'tasks', { title: 'accounts without a file' });
    const content = await uploadBy(world, owner, { declared: { name: 'Größte Bilanz 2026.txt' } });
    attached = await created(client, 'task-files', { task_id: task.id, content });
  });

  test('find their record, after what is found by its own fields', async () => {
    expect(await found(client, 'bilanz')).toEqual([title]);
    expect(await found(client, 'grosste bil')).toEqual([title]);
    await created(client, 'tasks', { title: 'Bilanz' });
    expect(await found(client, 'bilanz')).toEqual(['Bilanz', title]);
    expect(await found(client, 'bilanz', '&first=1&status=open')).toEqual(['Bilanz']);
    const { data } = await client.graphql(
      '{ taskSearch(query: "bilanz", first: 1) { totalCount pageInfo { endCursor } } search(query: "bilanz") { tasks { totalCount } taskFiles { edges { node { name } } } } }',
    );
    expect(data.taskSearch.totalCount).toBe(2);
    expect(data.search).toEqual({
      tasks: { totalCount: 2 },
      taskFiles: { edges: [{ node: { name: 'Größte Bilanz 2026.txt' } }] },
    });
    expect(await found(client, 'bilanz', `&after=${data.taskSearch.pageInfo.endCursor}`)).toEqual([title]);
  });

  test('find it by what they are called now', async () => {
    const url = `/v1/task-files/${attached.id}`;
    expect((await client.mutate({ method: 'PATCH', url, payload: { name: 'Inventory.txt' } })).status).toBe(200);
    expect(await found(client, 'bilanz')).toEqual([]);
    expect(await found(client, 'inventory')).toEqual([title]);
    expect((await client.mutate({ method: 'DELETE', url })).status).toBe(204);
    expect(await found(client, 'inventory')).toEqual([]);
  });

  test('show nobody more than they may see', async () => {
    const colleague = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const theirs = await signedIn(world, colleague);
    const stranger = await signedIn(world, await buildPerson(world));
    expect(await found(theirs, 'bilanz')).toEqual([]);
    expect(await found(stranger, 'bilanz')).toEqual([]);
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${task.id}`, payload: { assignee_id: colleague.user.id } });
    expect(await found(theirs, 'bilanz')).toEqual([title]);
  });

  test('are of no use to a token that reads tasks and no files', async () => {
    const tokenWith = async (scopes: readonly string[]) => {
      const { token } = await created(client, 'api-tokens', { name: scopes.join(), scopes });
      const program = world.client();
      program.bearer = token;
      return program;
    };
    expect(await found(await tokenWith(['task:read']), 'bilanz')).toEqual([]);
    expect(await found(await tokenWith(['task:read', 'task_file:read']), 'bilanz')).toEqual([title]);
  });
});

describe('GET /v1/search', () => {
  beforeAll(async () => {
    owner = await buildPerson(world);
    client = await signedIn(world, owner);
    for (const title of ['Audit one', 'Audit two', 'nothing']) await created(client, 'tasks', { title });
    await created(client, 'notes', { title: 'Notes of the audit', text: 'text' });
    await created(client, 'tags', { name: 'audits' });
  });

  test('returns a page of each kind, which lists continue', async () => {
    const { status, body } = await client.get('/v1/search?query=audit&first=1');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(
      expect.arrayContaining(['tasks', 'notes', 'tags', 'users', 'custom_enum_values']),
    );
    expect(titlesIn(body.tasks)).toEqual(['Audit two']);
    expect(body.tasks.page_info.has_next_page).toBe(true);
    expect(titlesIn(body.notes)).toEqual(['Notes of the audit']);
    expect(body.tags.data[0]).toMatchObject({ name: 'audits' });
    expect(body.groups.data).toEqual([]);
    const next = await client.get(`/v1/tasks?search=audit&after=${body.tasks.page_info.end_cursor}&count=true`);
    expect(titlesIn(next.body)).toEqual(['Audit one']);
    expect(next.body.total_count).toBe(2);
    expect(await found(client, 'audit', `&last=1&before=${next.body.page_info.end_cursor}`)).toEqual(['Audit two']);
    expect(await found(client, 'audit', '&order_by=title')).toEqual(['Audit one', 'Audit two']);
  });

  test('can be limited to some kinds', async () => {
    const { body } = await client.get('/v1/search?query=audit&kinds=tags,notes');
    expect(Object.keys(body)).toEqual(['notes', 'tags']);
  });

  test.each([
    '/v1/search',
    '/v1/search?query=',
    '/v1/search?query=%20',
    `/v1/search?query=${'x'.repeat(201)}`,
    '/v1/search?query=audit&kinds=pigeons',
    '/v1/tasks?search=%20',
  ])('refuses %s', async (url) => {
    expectProblem(await client.get(url), 'invalid_input');
  });

  test('shows what its caller may see', async () => {
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'member' }),
    );
    const { body } = await member.get('/v1/search?query=audit');
    expect(body.tasks.data).toEqual([]);
    expect(body.tags.data).toHaveLength(1);
    expectProblem(await world.client().get('/v1/search?query=audit'), 'unauthenticated');
    expectProblem(await client.get('/v1/saved-views?search=x&first=100000'), 'limit_exceeded');
  });
});
