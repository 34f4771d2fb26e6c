import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { file, group, note, registry, task } from '#entities/index.ts';
import { deriveModel, printModel } from '#entities/kit/model/authorization-model.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { hasObjectRights } from '#entities/kit/model/policy.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { bothEvaluators } from '../../kit/records/both-evaluators.ts';
import { eventually } from '../../kit/eventually.ts';
import { OpenfgaProxy } from '../../kit/fakes/openfga-proxy.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { uploadBy } from '../../kit/files/uploaded-file.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** The derived model, with a condition under which organizations may be the parent context of records of every kind. */
const model = `${printModel(deriveModel(registry)).replaceAll(
  'define parent_context: [organization]',
  'define parent_context: [organization, organization with in_region]',
)}
condition in_region(region: string, allowed: list<string>) {
  region in allowed
}
`;

let fga: OpenfgaProxy;
let world: World;
let owner: Person;
let member: Person;
let ownerClient: TestClient;
let memberClient: TestClient;

/** Records that the owner was given, and that the member has. */
const mine = { task: '', note: '' };
const theirs = { task: '', note: '', file: '', group: '' };

beforeAll(async () => {
  fga = await OpenfgaProxy.start(inject('stack').openfgaUrl);
  const modelFile = join(inject('stack').folder, `conditions-${newId()}.fga`);
  mkdirSync(inject('stack').folder, { recursive: true });
  writeFileSync(modelFile, model);
  world = await openWorld({ environment: { CORE_AUTHZ_MODELFILE: modelFile, CORE_AUTHZ_HOSTURL: fga.url } });
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  [ownerClient, memberClient] = await Promise.all([signedIn(world, owner), signedIn(world, member)]);
  mine.task = await created(ownerClient, '/v1/tasks', { title: 'mine' });
  mine.note = await created(ownerClient, '/v1/notes', { text: 'mine' });
  theirs.task = await created(memberClient, '/v1/tasks', { title: 'theirs' });
  theirs.note = await created(memberClient, '/v1/notes', { text: 'theirs' });
  theirs.file = await created(memberClient, '/v1/files', {
    name: 'theirs.txt',
    content: await uploadBy(world, member),
  });
  const caller = systemCaller('test', owner.organization.id);
  theirs.group = await world.runtime.database.transact(
    { caller, requestId: newId() },
    async ({ data }) => (await data.create(group, { name: `group ${newId()}` })).id,
  );
});
afterEach(async () => {
  fga.isAway = false;
  await world.reconfigure({
    CORE_AUTHZ_ENABLEPARENTCONTEXT: undefined,
    CORE_AUTHZ_PARENTCONTEXTSKIPKINDS: undefined,
    CORE_AUTHZ_PARENTCONTEXTCONDITIONS: undefined,
  });
});
afterAll(async () => {
  await world.close();
  await fga.close();
});

async function created(client: TestClient, path: string, body: object): Promise<string> {
  const answer = await client.post(path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

const patchOf = (client: TestClient, url: string, payload: object) =>
  client.mutate({ method: 'PATCH', url, payload }).then(({ status }) => status);

/** What a client sees and may change of tasks and notes; lists over REST and GraphQL and single look-ups must agree. */
async function reachOf(client: TestClient) {
  const reach: Record<string, string> = {};
  for (const { kind, ids, change } of [
    { kind: 'tasks', ids: [mine.task, theirs.task], change: { priority: 1 } },
    { kind: 'notes', ids: [mine.note, theirs.note], change: { title: 'changed' } },
  ]) {
    const rest = (await client.get(`/v1/${kind}`)).body;
    const graphql = await client.graphql(`{ ${kind} { edges { node { id } } totalCount } }`);
    const seen = graphql.data[kind].edges.map(({ node }: { node: { id: string } }) => node.id).toSorted();
    expect(rest.data.map(({ id }: { id: string }) => id).toSorted()).toEqual(seen);
    expect(graphql.data[kind].totalCount).toBe(seen.length);
    for (const [place, id] of ids.entries()) {
      expect((await client.get(`/v1/${kind}/${id}`)).status).toBe(seen.includes(id) ? 200 : 404);
      const status = await patchOf(client, `/v1/${kind}/${id}`, change);
      reach[`${place === 0 ? 'mine' : 'theirs'} ${kind}`] = seen.includes(id)
        ? status === 200
          ? 'edits'
          : 'sees'
        : 'nothing';
      if (!seen.includes(id)) expect(status).toBe(404);
    }
  }
  return reach;
}

/** WHERE clauses and store agree about everybody and everything. @returns what the owner may do with records of the member */
async function agreedRights(through: Pick<World, 'runtime'> = world) {
  const rights: Record<string, string[]> = {};
  for (const person of [owner, member])
    for (const [kind, module] of Object.entries({ task, note, file, group })) {
      const id = theirs[kind as keyof typeof theirs];
      const { rows, store } = await bothEvaluators(through, person, { module, id });
      expect({ person: person === owner ? 'owner' : 'member', kind, store }).toEqual({
        person: person === owner ? 'owner' : 'member',
        kind,
        store: rows,
      });
      if (person === owner) rights[kind] = rows;
    }
  return rights;
}

const all = ['view', 'edit', 'remove'];
const everything = { 'mine tasks': 'edits', 'theirs tasks': 'edits', 'mine notes': 'edits', 'theirs notes': 'edits' };
const givenOnly = {
  'mine tasks': 'edits',
  'theirs tasks': 'nothing',
  'mine notes': 'edits',
  'theirs notes': 'nothing',
};
const ofMember = { 'mine tasks': 'nothing', 'theirs tasks': 'edits', 'mine notes': 'nothing', 'theirs notes': 'edits' };

test('with the parent context an owner reaches every record of the organization', async () => {
  expect(await reachOf(ownerClient)).toEqual(everything);
  expect(await reachOf(memberClient)).toEqual(ofMember);
  expect(await agreedRights()).toEqual({ task: all, note: all, file: all, group: all });
});

test('enableparentcontext: off, an owner sees and changes only what was given on the records', async () => {
  shows('authz.enableparentcontext');
  await world.reconfigure({ CORE_AUTHZ_ENABLEPARENTCONTEXT: 'false' });
  expect(await reachOf(ownerClient)).toEqual(givenOnly);
  expect(await reachOf(memberClient)).toEqual(ofMember);
  expect(await agreedRights()).toEqual({ task: [], note: [], file: [], group: [] });
  // What belongs to the organization as a whole is as before.
  const { status } = await ownerClient.get('/v1/memberships');
  expect(status).toBe(200);
  // Creation is a right in the organization, and who creates a task has asked for it.
  const made = await created(ownerClient, '/v1/tasks', { title: 'new' });
  expect(await patchOf(ownerClient, `/v1/tasks/${made}`, { title: 'newer' })).toBe(200);
  await ownerClient.mutate({ method: 'DELETE', url: `/v1/tasks/${made}` });
});

test('parentcontextskipkinds: for these kinds only; the others are as before', async () => {
  shows('authz.parentcontextskipkinds');
  await world.reconfigure({ CORE_AUTHZ_PARENTCONTEXTSKIPKINDS: 'task,group' });
  expect(await reachOf(ownerClient)).toEqual({ ...everything, 'theirs tasks': 'nothing' });
  expect(await agreedRights()).toEqual({ task: [], note: all, file: all, group: [] });
});

test('what was remembered under the parent context is not used without it', async () => {
  expect(await patchOf(ownerClient, `/v1/tasks/${theirs.task}`, { priority: 2 })).toBe(200);
  await world.reconfigure({ CORE_AUTHZ_PARENTCONTEXTSKIPKINDS: 'task' });
  expect(await patchOf(ownerClient, `/v1/tasks/${theirs.task}`, { priority: 3 })).toBe(404);
});

describe('parentcontextconditions', () => {
  const conditions = (...items: { kind: string; region: string; name?: string }[]) => ({
    CORE_AUTHZ_PARENTCONTEXTCONDITIONS: JSON.stringify(
      items.map(({ kind, region, name = 'in_region' }) => ({ kind, name, context: { region, allowed: ['eu', 'uk'] } })),
    ),
  });

  test('kind, name and context: where the condition holds roles count, where it does not they say nothing', async () => {
    shows(
      'authz.parentcontextconditions[].kind',
      'authz.parentcontextconditions[].name',
      'authz.parentcontextconditions[].context',
    );
    await world.reconfigure(conditions({ kind: 'task', region: 'eu' }, { kind: 'note', region: 'us' }));
    expect(await reachOf(ownerClient)).toEqual({ ...everything, 'theirs notes': 'nothing' });
    expect(await agreedRights()).toEqual({ task: all, note: [], file: all, group: all });
    await world.reconfigure(conditions({ kind: 'task', region: 'us' }, { kind: 'note', region: 'uk' }));
    expect(await reachOf(ownerClient)).toEqual({ ...everything, 'theirs tasks': 'nothing' });
    expect(await agreedRights()).toEqual({ task: [], note: all, file: all, group: all });
  });

  test('the condition travels with the question, so the store refuses by itself what it forbids', async () => {
    const caller = {
      ...(await world.runtime.contextOfCallers()),
      outOfContext: [],
      contextConditions: { task: { name: 'in_region', context: { region: 'us', allowed: [] } } },
    };
    const careless = { runtime: { ...world.runtime, contextOfCallers: () => Promise.resolve(caller) } };
    const { rows, store } = await bothEvaluators(careless, owner, { module: task, id: theirs.task });
    expect({ rows, store }).toEqual({ rows: all, store: [] });
  });

  test('is asked once, however many requests there are', async () => {
    await world.reconfigure(conditions({ kind: 'task', region: 'uk' }));
    fga.requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => ownerClient.get('/v1/account/userinfo')));
    await ownerClient.get(`/v1/tasks/${theirs.task}`);
    expect(fga.requests.filter(({ path }) => path.endsWith('/check'))).toHaveLength(1);
  });

  test('store away: not known, so roles say nothing, until it answers', async () => {
    fga.isAway = true;
    await world.reconfigure(conditions({ kind: 'task', region: 'de' }, { kind: 'note', region: 'eu' }));
    const seen = async () => {
      const answer = await ownerClient.get('/v1/tasks');
      expect(answer.status).toBe(200);
      return answer.body.data.map(({ id }: { id: string }) => id);
    };
    expect(await seen()).toEqual([mine.task]);
    expect(await patchOf(ownerClient, `/v1/tasks/${theirs.task}`, { priority: 4 })).toBe(404);
    fga.isAway = false;
    await world.reconfigure(conditions({ kind: 'task', region: 'eu' }));
    await eventually(async () => (await seen()).includes(theirs.task));
    expect(await reachOf(ownerClient)).toEqual(everything);
  });

  test('a condition that the store cannot evaluate does not hold, and the log says why', async () => {
    await world.reconfigure({
      CORE_AUTHZ_PARENTCONTEXTCONDITIONS: JSON.stringify([
        { kind: 'task', name: 'in_region', context: { region: 'eu' } },
      ]),
    });
    expect(await reachOf(ownerClient)).toEqual({ ...everything, 'theirs tasks': 'nothing' });
    expect(await agreedRights()).toMatchObject({ task: [] });
    // The store was away in the test before: it is not asked again at once.
    const line = await eventually(async () => {
      await ownerClient.get('/v1/tasks');
      return world.logs.find(({ condition }) => condition === 'in_region');
    });
    expect(line).toMatchObject({ level: 'error', reason: expect.stringContaining('allowed') });
    expect(await reachOf(ownerClient)).toEqual({ ...everything, 'theirs tasks': 'nothing' });
  });

  test('that the model does not have, or for kinds that have no such rights, are refused at start', async () => {
    const refused = async (items: Parameters<typeof conditions>) => {
      const opened = world.openInstance({ environment: conditions(...items) });
      await expect(opened).rejects.toMatchObject({ name: 'ConfigurationError' });
      return opened.catch((error: Error) => error.message.split('\n').slice(1));
    };
    const objects = registry.modules.filter(({ policy }) => hasObjectRights(policy)).map(({ kind }) => kind);
    expect(
      await refused([
        { kind: 'task', region: 'eu', name: 'at_night' },
        { kind: 'user', region: 'eu' },
      ]),
    ).toEqual([
      expect.stringContaining(
        'authz.parentcontextconditions[0]: the model has no organization with at_night as parent_context of task',
      ),
      expect.stringContaining(
        `authz.parentcontextconditions[1]: user is not a kind with rights by record; use one of ${objects.join(', ')}`,
      ),
    ]);
  });
});
