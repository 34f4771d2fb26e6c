import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { tokenProgram } from '../../kit/processes/token-program.ts';
import { requestStatements } from '../../kit/request-statements.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

const texts: string[] = [];
let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_WORKFLOWS_CEL_TIMEOUT: '60000',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(64),
    },
    observers: [requestStatements(texts)],
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  await publishGate(world, owner.organization.id, gateOf({}));
});

async function made(): Promise<string> {
  return (await client.post('/v1/tasks', { title: 'first' })).body.id;
}

/** A task of which a change waits for an approval, and the id of the proposal. */
async function proposed(): Promise<{ readonly id: string; readonly proposal: string }> {
  const id = await made();
  expect((await patch(id, { status: 'completed' })).status).toBe(202);
  return { id, proposal: (await client.get(`/v1/task-proposals?task_id=${id}`)).body.data[0].id };
}

const patch = (id: string, payload: object, headers: Record<string, string> = {}) =>
  client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload, headers });

const withdraw = async (proposal: string) =>
  expect((await client.post(`/v1/workflow-proposals/task/${proposal}/withdraw`, {})).status).toBe(200);

test('a record says in REST and GraphQL whether a change of it waits, until the proposal ends', async () => {
  const id = await made();
  const shown = async () => {
    const { data } = await client.graphql('query ($id: ID!) { task(id: $id) { hasOpenProposal recordVersion } }', {
      id,
    });
    const { body } = await client.get(`/v1/tasks/${id}`);
    expect(data.task).toEqual({ hasOpenProposal: body.has_open_proposal, recordVersion: body.record_version });
    return [body.has_open_proposal, body.record_version];
  };
  expect(await shown()).toEqual([false, 1]);
  const { body: answer } = await patch(id, { status: 'completed' });
  expect(answer.has_open_proposal).toBe(true);
  expect(await shown()).toEqual([true, 1]);
  await withdraw((await client.get(`/v1/task-proposals?task_id=${id}`)).body.data[0].id);
  expect(await shown()).toEqual([false, 1]);
});

test('lists say it of each record, in one statement however many there are', async () => {
  const { id: waiting } = await proposed();
  const others = [await made(), await made()];
  const listed = async () => {
    texts.length = 0;
    const { body } = await client.get('/v1/tasks');
    const statements = texts.filter((text) => text.includes('task_proposals'));
    const { data } = await client.graphql('{ tasks { edges { node { id hasOpenProposal } } } }');
    const nodes = data.tasks.edges.map(({ node }: { node: object }) => node);
    const open = body.data.map((one: { id: string; has_open_proposal: boolean }) => {
      return { id: one.id, hasOpenProposal: one.has_open_proposal };
    });
    expect(nodes).toEqual(open);
    return { open, statements: statements.length };
  };
  const of = (...ids: string[]) => ids.map((id) => ({ id, hasOpenProposal: id === waiting }));
  expect(await listed()).toEqual({ open: of(waiting, ...others), statements: 1 });
  const more = [await made(), await made(), await made()];
  expect(await listed()).toEqual({ open: of(waiting, ...others, ...more), statements: 1 });
  const { body } = await client.get('/v1/tasks?has_open_proposal=true');
  expect(body.data).toMatchObject([{ id: waiting, has_open_proposal: true }]);
});

describe('the entity tag of a record', () => {
  test('changes when a proposal opens and when it ends, although the version stays', async () => {
    const id = await made();
    const known = (tag: string) => client.get(`/v1/tasks/${id}`, { 'if-none-match': tag });
    expect((await known('"1"')).status).toBe(304);
    const held = await patch(id, { status: 'completed' });
    expect(held.headers['etag']).toBe('"1-proposal"');
    expect(await known('"1"')).toMatchObject({ status: 200, body: { has_open_proposal: true, record_version: 1 } });
    expect((await known('"1-proposal"')).status).toBe(304);
    await withdraw((await client.get(`/v1/task-proposals?task_id=${id}`)).body.data[0].id);
    expect((await known('"1-proposal"')).status).toBe(200);
    expect((await known('"1"')).status).toBe(304);
  });

  test('names the version on which a change is based, whether the proposal has opened or ended since', async () => {
    const { id, proposal } = await proposed();
    const titled = (tag: string) => patch(id, { title: tag }, { 'if-match': tag });
    expect((await titled('"1"')).headers['etag']).toBe('"2-proposal"');
    expectProblem(await titled('"1-proposal"'), 'precondition_failed');
    await withdraw(proposal);
    expect((await titled('"2-proposal"')).headers['etag']).toBe('"3"');
    expectProblem(await titled('"3-other"'), 'precondition_failed');
  });
});

test('a metadata value of that name does not decide the entity tag', async () => {
  const { body } = await client.post('/v1/tasks', { title: 'first', metadata: { has_open_proposal: true } });
  expect((await client.get(`/v1/tasks/${body.id}`)).headers['etag']).toBe('"1"');
});

test('nobody can set it', async () => {
  const answer = await client.post('/v1/tasks', { title: 'first', has_open_proposal: true });
  expectProblem(answer, 'invalid_input');
  expect(JSON.stringify(answer.body)).toContain('read-only');
});

test('a program that cannot read the proposals does not see it', async () => {
  const { id } = await proposed();
  const by = { sort: 'api', by: client, organizationId: owner.organization.id } as const;
  const [with_, without] = [
    await tokenProgram(world, { ...by, scopes: ['task:read', 'task_proposal:read'] }),
    await tokenProgram(world, { ...by, scopes: ['task:read'] }),
  ];
  const seen = async (program: TestClient) => [
    (await program.get(`/v1/tasks/${id}`)).body.has_open_proposal,
    (await program.get('/v1/tasks?has_open_proposal=true')).body.data.length,
  ];
  expect(await seen(with_)).toEqual([true, 1]);
  expect(await seen(without)).toEqual([false, 0]);
});

test('while workflows are off no record has one, and statements do not look for it', async () => {
  shows('workflows.enabled');
  const { id } = await proposed();
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  texts.length = 0;
  const { body, headers } = await client.get(`/v1/tasks/${id}`);
  expect([body.has_open_proposal, headers['etag']]).toEqual([false, '"1"']);
  expect((await client.get('/v1/tasks')).body.data).toMatchObject([{ has_open_proposal: false }]);
  expect((await client.get('/v1/tasks?has_open_proposal=true')).body.data).toEqual([]);
  expect(texts.filter((text) => text.includes('task_proposals'))).toEqual([]);
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  expect((await client.get(`/v1/tasks/${id}`)).body.has_open_proposal).toBe(true);
});

test('statements about kinds that workflows do not know have nothing of it', async () => {
  texts.length = 0;
  const { body } = await client.get('/v1/tags');
  expect(body.data).toEqual([]);
  expect(texts.filter((text) => text.includes('proposals'))).toEqual([]);
});
