import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

/** Long enough for a test that needs a result to count. */
const ttlMs = 30_000;

let world: World;
/** Keeps results; the world's own process keeps none. */
let cached: Instance;
let owner: Person;
let atCached: TestClient;
let elsewhere: TestClient;
/** Statements of both processes. */
const statements: string[] = [];

beforeAll(async () => {
  world = await openWorld({ observers: [{ statement: ({ text }) => void statements.push(text) }] });
  cached = await world.openInstance({ environment: { CORE_DB_CACHETTL: String(ttlMs) } });
});
afterAll(() => world.close());
beforeEach(async () => {
  owner = await buildPerson(world);
  [atCached, elsewhere] = [await signedIn(cached, owner), await signedIn(world, owner)];
});

const list = '{ tasks(first: 10) { edges { node { id title } } } }';

async function titles(client: TestClient): Promise<string[]> {
  const { data } = await client.graphql(list);
  return data.tasks.edges.map(({ node }: { node: { title: string } }) => node.title);
}

/** How many statements read tasks meanwhile. */
async function readsDuring(work: () => Promise<unknown>): Promise<number> {
  statements.splice(0);
  await work();
  return statements.filter((text) => text.includes('from "tasks"')).length;
}

const create = async (client: TestClient, title: string) => {
  const { status, body } = await client.post('/v1/tasks', { title });
  expect(status).toBe(201);
  return body.id as string;
};

describe('db.cachettl', () => {
  test('answers again what was read, without reading it, until the time is over', async () => {
    shows('db.cachettl');
    await create(elsewhere, 'first');
    expect(await titles(atCached)).toEqual(['first']);
    await create(elsewhere, 'second');
    expect(await readsDuring(async () => expect(await titles(atCached)).toEqual(['first']))).toBe(0);
    // A process with a shorter time finds its result outdated by that much at most.
    const soon = await world.openInstance({ environment: { CORE_DB_CACHETTL: '300' } });
    const atSoon = await signedIn(soon, owner);
    expect(await titles(atSoon)).toEqual(['first', 'second']);
    await create(elsewhere, 'third');
    await pause(300);
    expect(await titles(atSoon)).toEqual(['first', 'second', 'third']);
  });

  test('of 0 keeps nothing', async () => {
    await create(atCached, 'first');
    expect(await titles(elsewhere)).toEqual(['first']);
    expect(await readsDuring(() => titles(elsewhere))).toBe(1);
    expect(world.runtime.database.results.bytes).toBe(0);
  });

  test('shows changes of the same process at once, also those of REST, bulk and deletion', async () => {
    const id = await create(atCached, 'first');
    expect(await titles(atCached)).toEqual(['first']);
    await atCached.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: 'renamed' } });
    expect(await titles(atCached)).toEqual(['renamed']);
    expect((await atCached.get(`/v1/tasks/${id}`)).body.title).toBe('renamed');
    await atCached.graphql(`mutation { updateBulkTask(ids: ["${id}"], input: { title: "in bulk" }) { updatedIds } }`);
    expect(await titles(atCached)).toEqual(['in bulk']);
    await atCached.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
    expect(await titles(atCached)).toEqual([]);
  });

  test('is not disturbed by changes of other organizations and other kinds', async () => {
    await create(atCached, 'first');
    const stranger = await signedIn(cached, await buildPerson(world));
    expect(await titles(atCached)).toEqual(['first']);
    const reads = await readsDuring(async () => {
      await titles(atCached);
      await atCached.post('/v1/tags', { name: 'another kind' });
      await titles(atCached);
    });
    expect(reads).toBe(0);
    await create(stranger, 'of another organization');
    expect(await readsDuring(() => titles(atCached))).toBe(0);
  });

  test('shows changes of kinds and links that a filter looks at, of the same process at once', async () => {
    const { body: group } = await atCached.post('/v1/groups', { name: 'filtered' });
    const add = (task: string, values: object) =>
      atCached.mutate({ method: 'PATCH', url: `/v1/tasks/${task}`, payload: values });
    const groups = async () => {
      const { data } = await atCached.graphql(
        '{ groups(first: 10, where: { tasks: { title: { eq: "linked" } } }) { edges { node { id } } } }',
      );
      return data.groups.edges.length;
    };
    const task = await create(atCached, 'linked');
    expect(await groups()).toBe(0);
    await add(task, { add_group_ids: [group.id] });
    expect(await groups()).toBe(1);
    await add(task, { title: 'another title' });
    expect(await groups()).toBe(0);
  });

  test('never answers with what another caller has read', async () => {
    await create(atCached, 'of the owner');
    expect(await titles(atCached)).toEqual(['of the owner']);
    const stranger = await signedIn(cached, await buildPerson(world));
    expect(await titles(stranger)).toEqual([]);
    // The same rights, and still their own result.
    const admin = await buildPerson(world, { organization: owner.organization, role: 'owner' });
    const other = await signedIn(cached, admin);
    expect(await readsDuring(() => titles(other))).toBe(1);
    const anonymous = await cached.client().graphql(list);
    expect(JSON.stringify(anonymous.body)).not.toContain('of the owner');
  });

  test('a right that ends, ends with the next request, whoever ended it', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const client = await signedIn(cached, member);
    await atCached.post('/v1/tasks', { title: 'of the organization', assignee_id: member.user.id });
    expect(await titles(client)).toEqual(['of the organization']);
    expect(await readsDuring(() => titles(client))).toBe(0);
    // Another process takes the role away.
    const { data } = await elsewhere.graphql(
      `{ memberships(where: { userId: { eq: "${member.user.id}" } }) { edges { node { id } } } }`,
    );
    const [{ node }] = data.memberships.edges;
    expect((await elsewhere.mutate({ method: 'DELETE', url: `/v1/memberships/${node.id}` })).status).toBeLessThan(300);
    const answer = await client.graphql(list);
    expect(JSON.stringify(answer.body)).not.toContain('of the organization');
    // A session that ended elsewhere answers nothing either.
    expect(await titles(atCached)).toEqual(['of the organization']);
    expect((await elsewhere.post('/v1/logout')).status).toBeLessThan(300);
    expect(await titles(atCached)).toEqual(['of the organization']);
  });

  test('a share that is taken back elsewhere hides the record at once', async () => {
    const id = await create(atCached, 'shared');
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const client = await signedIn(cached, member);
    const { body: group } = await elsewhere.post('/v1/groups', { name: 'readers' });
    await elsewhere.post('/v1/group-memberships', { group_id: group.id, user_id: member.user.id });
    const share = await elsewhere.post('/v1/task-shares', { task_id: id, group_id: group.id, relation: 'viewer' });
    expect(share.status).toBe(201);
    expect(await titles(client)).toEqual(['shared']);
    expect(await readsDuring(() => titles(client))).toBe(0);
    const url = `/v1/task-shares/${share.body.id}`;
    expect((await elsewhere.mutate({ method: 'DELETE', url })).status).toBeLessThan(300);
    expect(await titles(client)).toEqual([]);
  });

  test('takes a bounded amount of memory', async () => {
    for (let count = 0; count < 50; count++)
      await atCached.graphql(
        `{ tasks(first: 10, where: { title: { eq: "${count}" } }) { edges { node { id title } } } }`,
      );
    const { results } = cached.runtime.database;
    expect(results.bytes).toBeGreaterThan(0);
    expect(results.bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
  });
});
