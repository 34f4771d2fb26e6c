import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { group, groupMembership, registry } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { eventually } from '../../kit/eventually.ts';
import { OpenfgaProxy } from '../../kit/fakes/openfga-proxy.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let fga: OpenfgaProxy;
let world: World;
let owner: Person;
let alice: Person;
let bob: Person;
let ownerClient: TestClient;
let aliceClient: TestClient;
let bobClient: TestClient;
/** Bob is in it. */
let team: { readonly id: string };

beforeAll(async () => {
  fga = await OpenfgaProxy.start(inject('stack').openfgaUrl);
  world = await openWorld({ environment: { CORE_AUTHZ_HOSTURL: fga.url } });
  owner = await buildPerson(world);
  const { organization } = owner;
  alice = await buildPerson(world, { organization, role: 'member' });
  bob = await buildPerson(world, { organization, role: 'member' });
  ownerClient = await signedIn(world, owner);
  aliceClient = await signedIn(world, alice);
  bobClient = await signedIn(world, bob);
  team = await asSystem(async (data) => {
    const made = await data.create(group, { name: `team ${newId()}` });
    await data.create(groupMembership, { groupId: made.id, userId: bob.user.id });
    return { id: made.id };
  });
});
afterEach(async () => {
  fga.isAway = false;
  fga.isSilent = false;
  await world.runtime.tuples?.apply();
});
afterAll(async () => {
  await world.close();
  await fga.close();
});

function asSystem<T>(work: (data: DataClient) => Promise<T>): Promise<T> {
  const caller = systemCaller('test', owner.organization.id);
  return world.runtime.database.transact({ caller, requestId: newId() }, ({ data }) => work(data));
}

const share = (taskId: string, relation: string) =>
  asSystem((data) => data.create(registry.byKind('taskShare'), { taskId, groupId: team.id, relation }));

const edit = (client: TestClient, id: string): Promise<TestAnswer> =>
  client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: `title ${newId()}` } });

/** A task that Alice asked for. */
async function tasked(client = aliceClient): Promise<string> {
  const answer = await client.post('/v1/tasks', { title: 'task' });
  expect(answer.status).toBe(201);
  await world.runtime.tuples?.apply();
  return answer.body.id;
}

function expectUnavailable(answer: TestAnswer): void {
  expectProblem(answer, 'authorization_unavailable');
  expect(answer.status).toBe(503);
  expect(answer.headers['retry-after']).toBe('1');
}

async function titleOf(id: string): Promise<string> {
  return (await ownerClient.get(`/v1/tasks/${id}`)).body.title;
}

test('remembered decisions, and those of WHERE clauses, still answer', async () => {
  const id = await tasked();
  expect((await edit(aliceClient, id)).status).toBe(200);
  fga.isAway = true;
  fga.requests.length = 0;
  expect((await edit(aliceClient, id)).status).toBe(200);
  // Owners and roles need no store.
  expect((await edit(ownerClient, id)).status).toBe(200);
  for (const client of [ownerClient, aliceClient, bobClient]) {
    const list = await client.get('/v1/tasks');
    expect(list.status).toBe(200);
    expect(list.body.data.some((found: { id: string }) => found.id === id)).toBe(client !== bobClient);
    expect(
      (await client.graphql('{ tasks { totalCount edges { node { title notes { totalCount } } } } }')).errors,
    ).toBe(undefined);
  }
  expect((await aliceClient.get(`/v1/tasks/${id}`)).status).toBe(200);
  expect((await bobClient.get(`/v1/tasks/${id}`)).status).toBe(404);
  expect(fga.requests).toEqual([]);
});

test('other decisions are refused with 503, whether they would be allowed or not, and nothing changes', async () => {
  const [mine, shown] = [await tasked(), await tasked()];
  await share(shown, 'viewer');
  await world.runtime.tuples?.apply();
  fga.isAway = true;
  expectUnavailable(await edit(aliceClient, mine));
  expectUnavailable(await edit(bobClient, shown));
  expectUnavailable(await aliceClient.mutate({ method: 'DELETE', url: `/v1/tasks/${mine}` }));
  const answer = await aliceClient.graphql(
    'mutation ($id: ID!) { updateTask(id: $id, input: { title: "x" }) { task { id } } }',
    { id: mine },
  );
  expectGraphqlError(answer, 'authorization_unavailable');
  expect(await titleOf(mine)).toBe('task');
  expect(await titleOf(shown)).toBe('task');

  fga.isAway = false;
  expect((await edit(aliceClient, mine)).status).toBe(200);
  expectProblem(await edit(bobClient, shown), 'permission_denied');
});

test('new records do not make remembered decisions useless', async () => {
  const id = await tasked();
  expect((await edit(aliceClient, id)).status).toBe(200);
  fga.isAway = true;
  const made = await aliceClient.post('/v1/tasks', { title: 'made meanwhile' });
  expect(made.status).toBe(201);
  expect((await edit(aliceClient, id)).status).toBe(200);
  expectUnavailable(await edit(aliceClient, made.body.id));
  fga.isAway = false;
  expect((await edit(aliceClient, made.body.id)).status).toBe(200);
});

test('after a revocation that has not reached the store nothing remembered is used, by nobody of the organization', async () => {
  const [id, other] = [await tasked(), await tasked()];
  await share(id, 'viewer');
  const editing = await share(id, 'editor');
  await world.runtime.tuples?.apply();
  for (const [client, task] of [
    [bobClient, id],
    [aliceClient, other],
  ] as const)
    expect((await edit(client, task)).status).toBe(200);

  fga.isAway = true;
  expect((await edit(bobClient, id)).status).toBe(200);
  await asSystem((data) => data.remove(registry.byKind('taskShare'), editing.id));
  const before = await titleOf(id);
  for (let times = 0; times < 3; times++) expectUnavailable(await edit(bobClient, id));
  expectUnavailable(await edit(aliceClient, other));
  expect(await titleOf(id)).toBe(before);
  // He still sees it.
  expect((await bobClient.get(`/v1/tasks/${id}`)).status).toBe(200);

  fga.isAway = false;
  expectProblem(await edit(bobClient, id), 'permission_denied');
  expect((await edit(aliceClient, other)).status).toBe(200);
});

test('a revocation in one organization does not touch what another one remembers', async () => {
  const stranger = await signedIn(
    world,
    await buildPerson(world, { organization: (await buildPerson(world)).organization, role: 'member' }),
  );
  const theirs = await tasked(stranger);
  expect((await edit(stranger, theirs)).status).toBe(200);
  const id = await tasked();
  const viewing = await share(id, 'viewer');
  await world.runtime.tuples?.apply();
  fga.isAway = true;
  await asSystem((data) => data.remove(registry.byKind('taskShare'), viewing.id));
  expectUnavailable(await edit(aliceClient, id));
  expect((await edit(stranger, theirs)).status).toBe(200);
});

test('a process that starts without the store decides nothing by it, and everything else', async () => {
  const id = await tasked();
  fga.isAway = true;
  const instance = await world.openInstance();
  const client = await signedIn({ ...world, client: () => instance.client() }, alice);
  expect((await client.get(`/v1/tasks/${id}`)).status).toBe(200);
  expectUnavailable(await edit(client, id));
  expect((await client.get('/readyz')).body.checks.fga).toMatchObject({ status: 'down' });
  fga.isAway = false;
  expect((await edit(client, id)).status).toBe(200);
});

test('a store that stands still is waited for by few, so that the others are refused at once and reads go on', async () => {
  const ids = await Promise.all(Array.from({ length: 3 }, () => tasked()));
  fga.isSilent = true;
  fga.requests.length = 0;
  const first = Promise.all(ids.map((id) => edit(aliceClient, id)));
  expect((await aliceClient.get('/v1/tasks')).status).toBe(200);
  for (const answer of await first) expectUnavailable(answer);
  const asked = fga.requests.length;
  for (const id of ids) expectUnavailable(await edit(aliceClient, id));
  expect(fga.requests.length).toBe(asked);

  fga.isSilent = false;
  await eventually(async () => (await edit(aliceClient, ids[0] ?? '')).status === 200);
  expect((await edit(aliceClient, ids[1] ?? '')).status).toBe(200);
});
