import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { ApprovalGround } from '../../kit/automation/approval-ground.ts';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { ended, startImport } from '../../kit/events/started-transfers.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
    worker: ['workflows', 'exports'],
  });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});

const publish = (...[changes, name]: [Parameters<typeof gateOf>[0], string?]) =>
  publishGate(world, owner.organization.id, gateOf(changes), name);

const ofDeletions: Parameters<typeof gateOf>[0] = {
  triggers: [{ operation: 'DELETE' }],
  actions: [{ key: 'agree', type: 'REQUEST_APPROVAL', params: { targets: [{ type: 'ROLE', id: 'owner' }] } }],
};

async function tasks(count: number, values: object = {}): Promise<string[]> {
  const mutation = `mutation ($inputs: [CreateTaskInput!]!) { createBulkTask(inputs: $inputs) { tasks { id } } }`;
  const inputs = Array.from({ length: count }, () => ({ title: 'first', ...values }));
  const { data } = await client.graphql(mutation, { inputs });
  return data.createBulkTask.tasks.map(({ id }: { id: string }) => id);
}

const updateMany = `mutation ($ids: [ID!]!, $input: UpdateTaskInput!) {
  updateBulkTask(ids: $ids, input: $input) { updatedIds heldCount held { id field } } }`;
const updateCsv = `mutation ($csv: String!) { updateBulkCSVTask(csv: $csv) { updatedIds heldCount held { id field } } }`;
const deleteMany = `mutation ($ids: [ID!]!) { deleteBulkTask(ids: $ids) { deletedIds heldCount held { id } } }`;

const documentOf = (ids: readonly string[]) =>
  `id,status,title\n${ids.map((id) => `${id},completed,second\n`).join('')}`;

describe('the number of records of which changes are held', () => {
  const highOnly = {
    triggers: [{ operation: 'UPDATE' as const, fields: ['status'], expression: 'object.priority > 5' }],
  };

  test('is answered to changes of many records', async () => {
    await publish(highOnly);
    const high = await tasks(2, { priority: 9 });
    const ids = [...high, ...(await tasks(3))];
    const of = high.map((id) => ({ id, field: 'status' }));
    const { data } = await client.graphql(updateMany, { ids, input: { status: 'COMPLETED', title: 'second' } });
    expect(data.updateBulkTask).toEqual({ updatedIds: ids, heldCount: 2, held: of });
    const { data: byCsv } = await client.graphql(updateCsv, { csv: documentOf(ids) });
    expect(byCsv.updateBulkCSVTask).toEqual({ updatedIds: ids, heldCount: 2, held: of });
  });

  test('is answered to deletions of many records', async () => {
    await publish(ofDeletions);
    const ids = await tasks(3);
    const { data } = await client.graphql(deleteMany, { ids });
    expect(data.deleteBulkTask).toEqual({ deletedIds: [], heldCount: 3, held: ids.map((id) => ({ id })) });
  });

  test('is kept with an import', async () => {
    await publish(highOnly);
    const ids = [...(await tasks(1, { priority: 1 })), ...(await tasks(2, { priority: 9 }))];
    const begun = await startImport(world, owner, client, documentOf(ids), { action: 'update' });
    expect(begun).toMatchObject({ held_rows: null });
    expect(await ended(client, 'imports', begun.id)).toMatchObject({
      status: 'completed',
      done_rows: 3,
      held_rows: 2,
      problems: [expect.stringContaining('line 3: status is held'), expect.stringContaining('line 4: status is held')],
    });
    const query = 'query ($id: ID!) { import(id: $id) { heldRows totalRows } }';
    const { data } = await client.graphql(query, { id: begun.id });
    expect(data.import).toEqual({ heldRows: 2, totalRows: 3 });
    const made = await startImport(world, owner, client, 'title\nnew\n');
    expect(await ended(client, 'imports', made.id)).toMatchObject({ status: 'completed', held_rows: 0 });
  });
});

describe('a request of which more than 1,000 changes would be held', () => {
  // Each gate holds each change, so fewer records are enough, and drafts are fewer rows.
  const gates = 40;
  const count = 26;

  const rows = () =>
    asOwner(
      world,
      `select (select count(*)::int from task_proposals where organization_id = $1) as proposals,
        (select count(*)::int from workflow_instances where organization_id = $1) as instances,
        (select count(*)::int from workflow_events where organization_id = $1) as entries,
        (select count(*)::int from events where organization_id = $1 and entity_kind <> 'import') as events,
        (select array_agg(distinct (title, status, record_version, deleted_at)::text) from tasks where organization_id = $1) as tasks`,
      [owner.organization.id],
    );

  const expectRefused = ({ errors }: TestAnswer & { readonly errors: TestAnswer['body'] }) =>
    expect(errors).toMatchObject([
      { extensions: { code: 'limit_exceeded' }, message: expect.stringContaining('More than 1000 changes') },
    ]);

  const publishMany = (changes: Parameters<typeof gateOf>[0]) =>
    Promise.all(
      Array.from({ length: gates }, (_none, index) =>
        publish({ ...changes, approvalSubmissionMode: 'MANUAL_SUBMIT' }, `gate ${index}`),
      ),
    );

  test('is refused as a whole', async () => {
    const ids = await tasks(count);
    await publishMany({});
    const before = await rows();
    const input = { status: 'COMPLETED', title: 'second' };
    expectRefused(await client.graphql(updateMany, { ids, input }));
    const twice = `mutation ($a: [ID!]!, $b: [ID!]!, $input: UpdateTaskInput!) {
      a: updateBulkTask(ids: $a, input: $input) { updatedIds } b: updateBulkTask(ids: $b, input: $input) { updatedIds } }`;
    const parts = { a: ids.slice(0, 2), b: ids.slice(2) };
    expectRefused(await client.graphql(twice, { ...parts, input }));
    const begun = await startImport(world, owner, client, documentOf(ids), { action: 'update' });
    expect(await ended(client, 'imports', begun.id)).toMatchObject({
      status: 'failed',
      error_code: 'limit_exceeded',
      error_message: expect.stringContaining('Nothing was imported. More than 1000 changes'),
      held_rows: null,
    });
    expect(await rows()).toEqual(before);
    const fewer = await client.graphql(updateMany, { ids: parts.a, input });
    expect(fewer.data.updateBulkTask.heldCount).toBe(2);
  });

  test('is refused as a whole if it deletes', async () => {
    const ids = await tasks(count);
    await publishMany(ofDeletions);
    const before = await rows();
    expectRefused(await client.graphql(deleteMany, { ids }));
    expect(await rows()).toEqual(before);
  });
});

test('the deletion of a record with many parts is held once, and takes all of them with it when it is approved', async () => {
  const [parent = ''] = await tasks(1);
  const parts = await tasks(30, { parentId: parent });
  await publish(ofDeletions);
  const answer = await client.mutate({ method: 'DELETE', url: `/v1/tasks/${parent}` });
  expect([answer.status, answer.body.held.length]).toEqual([202, 1]);
  const proposals = () =>
    asOwner<{ task_id: string; instance_id: string }>(
      world,
      'select task_id, instance_id from task_proposals where organization_id = $1',
      [owner.organization.id],
    );
  const [proposal, ...others] = await proposals();
  expect([proposal?.task_id, others]).toEqual([parent, []]);
  const left = async () => (await client.get(`/v1/tasks?parent_id=${parent}&count=true`)).body.total_count;
  expect(await left()).toBe(parts.length);
  // No worker takes the steps of workflows here.
  const ground = new ApprovalGround(world, owner);
  const instance = proposal?.instance_id ?? '';
  const approver = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'owner' }));
  await ground.step(instance);
  const { body } = await approver.get('/v1/workflow-assignments/mine');
  expect((await approver.post(`/v1/workflow-assignments/${body.data[0].id}/approve`, {})).status).toBe(200);
  await ground.step(instance);
  expect([await left(), (await proposals()).length]).toEqual([0, 1]);
});
