import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

async function created(by: TestClient, path: string, input: object): Promise<string> {
  const { status, body } = await by.post(`/v1/${path}`, input);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const titles = ({ body }: TestAnswer) => body.data.map(({ title }: { title: string }) => title);

describe('a saved view', () => {
  test('says how a list is read, over REST and GraphQL', async () => {
    for (const [title, priority, status] of [
      ['a', 1, 'open'],
      ['b', 9, 'open'],
      ['c', 5, 'completed'],
      ['d', 7, 'open'],
    ] as const)
      await created(client, 'tasks', { title, priority, status });
    const view = await created(client, 'saved-views', {
      name: 'urgent',
      record_kind: 'task',
      filter: { status: { eq: 'OPEN' }, or: [{ priority: { gte: 7 } }, { title: { eq: 'a' } }], not: { assignee: {} } },
      order_by: ['-priority', 'title'],
      columns: ['title', 'dueAt'],
      page_size: 2,
    });
    const page = await client.get(`/v1/tasks?view=${view}`);
    expect(titles(page)).toEqual(['b', 'd']);
    expect(page.body.page_info.has_next_page).toBe(true);
    expect(titles(await client.get(`/v1/tasks?view=${view}&after=${page.body.page_info.end_cursor}`))).toEqual(['a']);
    // What the request says itself counts; filters add up.
    expect(titles(await client.get(`/v1/tasks?view=${view}&order_by=title&first=10`))).toEqual(['a', 'b', 'd']);
    expect(titles(await client.get(`/v1/tasks?view=${view}&priority[lt]=9`))).toEqual(['d', 'a']);
    const { data } = await client.graphql(
      'query ($view: ID!) { tasks(view: $view, where: { title: { ne: "d" } }) { totalCount edges { node { title } } } savedView(id: $view) { filter orderBy columns } }',
      { view },
    );
    expect(data.tasks).toEqual({ totalCount: 2, edges: [{ node: { title: 'b' } }, { node: { title: 'a' } }] });
    expect(data.savedView).toMatchObject({ orderBy: ['-priority', 'title'], columns: ['title', 'dueAt'] });
    const wrong = await client.get(`/v1/notes?view=${view}`);
    expectProblem(wrong, 'invalid_input');
    expect(wrong.body.errors).toEqual([{ path: '/view', message: 'is a view of Task records' }]);
    expectProblem(await client.get('/v1/tasks?view=nothing'), 'not_found');
  });

  test('is its owner’s alone until it is shared, and shows each reader what they may see', async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const theirs = await signedIn(world, person);
    const stranger = await signedIn(world, await buildPerson(world));
    await created(client, 'tasks', { title: 'hidden' });
    await created(client, 'tasks', { title: 'shown', assignee_id: person.user.id });
    const view = await created(client, 'saved-views', { name: 'all', record_kind: 'task' });
    expectProblem(await theirs.get(`/v1/tasks?view=${view}`), 'not_found');
    expectGraphqlError(
      await theirs.graphql('query ($view: ID!) { tasks(view: $view) { totalCount } }', { view }),
      'not_found',
    );
    const share = await client.mutate({
      method: 'PATCH',
      url: `/v1/saved-views/${view}`,
      payload: { visibility: 'organization' },
    });
    expect(share.status).toBe(200);
    expect(titles(await theirs.get(`/v1/tasks?view=${view}`))).toEqual(['shown']);
    const change = { method: 'PATCH', url: `/v1/saved-views/${view}`, payload: { name: 'mine' } } as const;
    expectProblem(await theirs.mutate(change), 'permission_denied');
    expectProblem(await stranger.get(`/v1/tasks?view=${view}`), 'not_found');
  });

  test('shows its columns and the id alone over REST', async () => {
    const task = await created(client, 'tasks', { title: 'a', priority: 3 });
    const columns = ['priority', 'title', 'id'];
    const view = await created(client, 'saved-views', { name: 'narrow', record_kind: 'task', columns });
    const { body } = await client.get(`/v1/tasks?view=${view}&count=true`);
    expect(body).toMatchObject({ data: [{ id: task, priority: 3, title: 'a' }], total_count: 1 });
    expect(Object.keys(body.data[0]).toSorted()).toEqual(['id', 'priority', 'title']);
    const wide = await created(client, 'saved-views', { name: 'wide', record_kind: 'task' });
    expect((await client.get(`/v1/tasks?view=${wide}`)).body.data[0]).toHaveProperty('record_version');
    const { data } = await client.graphql('query ($view: ID!) { tasks(view: $view) { edges { node { status } } } }', {
      view,
    });
    expect(data.tasks.edges).toEqual([{ node: { status: 'OPEN' } }]);
  });

  test('is found by its name, one’s own first', async () => {
    const theirs = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'super_admin' }),
    );
    const others = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'super_admin' }),
    );
    for (const title of ['a', 'b', 'c']) await created(client, 'tasks', { title });
    const titled = (title: string) => ({ record_kind: 'task', filter: { title: { eq: title } } });
    await created(client, 'saved-views', { name: 'My view', ...titled('a'), visibility: 'organization' });
    await created(client, 'saved-views', { name: 'My view', record_kind: 'note' });
    expect(titles(await client.get('/v1/tasks?view=%20My%20%20view'))).toEqual(['a']);
    expect(titles(await theirs.get('/v1/tasks?view=My%20view'))).toEqual(['a']);
    const { data } = await theirs.graphql('{ tasks(view: "My view") { edges { node { title } } } }');
    expect(data.tasks.edges).toEqual([{ node: { title: 'a' } }]);
    await created(theirs, 'saved-views', { name: 'My view', ...titled('b'), visibility: 'organization' });
    expect(titles(await theirs.get('/v1/tasks?view=My%20view'))).toEqual(['b']);
    const ambiguous = await others.get('/v1/tasks?view=My%20view');
    expectProblem(ambiguous, 'invalid_input');
    expect(ambiguous.body.errors[0].message).toContain('is the name of 2 shared views');
    await created(others, 'saved-views', { name: 'hidden', ...titled('c') });
    expectProblem(await client.get('/v1/tasks?view=hidden'), 'not_found');
  });

  test('is found by its name among more than a thousand', async () => {
    await created(client, 'tasks', { title: 'a' });
    await created(client, 'saved-views', { name: 'the  One', record_kind: 'task', filter: { title: { eq: 'a' } } });
    await asOwner(
      world,
      `insert into saved_views select (jsonb_populate_record(v, jsonb_build_object('id', '0' || substr(v.id, 2, 21) || lpad(n::text, 4, '0'),
         'name', 'view ' || n, 'name_form', 'view ' || n))).* from saved_views v, generate_series(1, 1001) as n
       where v.organization_id = $1 and v.name_form = 'the one'`,
      [owner.organization.id],
    );
    expect(titles(await client.get('/v1/tasks?view=The%20one'))).toEqual(['a']);
    await asOwner(world, `delete from saved_views where organization_id = $1 and name_form like 'view %'`, [
      owner.organization.id,
    ]);
  });

  test('orders a search only where the request does', async () => {
    for (const title of ['renewal of b', 'renew', 'other']) await created(client, 'tasks', { title });
    await created(client, 'saved-views', {
      name: 'all',
      record_kind: 'task',
      order_by: ['-title'],
      columns: ['title'],
    });
    expect(titles(await client.get('/v1/tasks?view=all&search=renew'))).toEqual(['renew', 'renewal of b']);
    expect(titles(await client.get('/v1/tasks?view=all&search=renew&order_by=-title'))).toEqual([
      'renewal of b',
      'renew',
    ]);
  });

  test.each([
    [{ record_kind: 'pigeon' }, '/record_kind'],
    [{ record_kind: 'webhook_event' }, '/record_kind'],
    [{ order_by: ['-details'] }, '/order_by/0'],
    [{ columns: ['title', 'secretHash'] }, '/columns/1'],
    [{ filter: { details: { eq: 'x' } } }, '/filter/details'],
    [{ filter: { status: { eq: 'asleep' } } }, '/filter/status/eq'],
    [{ filter: { priority: { gte: 'high' } } }, '/filter/priority/gte'],
    [{ filter: { priority: { like: 1 } } }, '/filter/priority/like'],
    [{ filter: { dueAt: { isNull: 'yes' } } }, '/filter/dueAt/isNull'],
    [{ filter: { or: { title: { eq: 'x' } } } }, '/filter/or'],
    [{ filter: { status: { in: 'OPEN' } } }, '/filter/status/in'],
    [{ filter: { not: { not: { not: { not: { not: { not: {} } } } } } } }, '/filter/not/not/not/not/not/not'],
    [{ filter: [] }, '/filter'],
  ])('of %j is refused with the place', async (wrong, path) => {
    const answer = await client.post('/v1/saved-views', { name: 'wrong', record_kind: 'task', ...wrong });
    expectProblem(answer, 'invalid_input');
    expect(answer.body.errors.map((problem: { path: string }) => problem.path)).toEqual([path]);
  });

  test('is checked when it changes, too', async () => {
    const view = await created(client, 'saved-views', { name: 'fine', record_kind: 'task' });
    const answer = await client.mutate({
      method: 'PATCH',
      url: `/v1/saved-views/${view}`,
      payload: { order_by: ['nothing'] },
    });
    expectProblem(answer, 'invalid_input');
    expectProblem(await client.post('/v1/saved-views', { name: 'fine', record_kind: 'task' }), 'already_exists');
  });
});
