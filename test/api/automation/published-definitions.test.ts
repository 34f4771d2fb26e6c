import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_ENABLED: 'true' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const url = '/v1/workflow-definitions';
const approvalOf = (fields: readonly string[]) => ({
  key: 'approval',
  type: 'REQUEST_APPROVAL',
  params: { targets: [{ type: 'RESOLVER', resolver_key: 'OWNER' }], fields },
});
const gate = (fields: readonly string[], operation = 'UPDATE') => ({
  schemaType: 'Task',
  triggers: [{ operation }],
  actions: [approvalOf(fields)],
});
async function saved(document: object, name = 'definition'): Promise<string> {
  const answer = await client.post(url, { name, record_kind: 'task', document });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}
const publish = (id: string, by = client) => by.post(`${url}/${id}/publish`, {});
const retire = (id: string, by = client) => by.post(`${url}/${id}/retire`, {});
const versionsOf = (id: string) =>
  asOwner<Record<string, unknown>>(
    world,
    `select number, topics, gated_fields, is_gate, timing, publisher_id, ended_at from workflow_versions where definition_id = '${id}' order by number`,
  );

test('publishing makes a version, and the next one ends it', async () => {
  const id = await saved(gate(['details']));
  const first = await publish(id);
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  expect(first.body).toMatchObject({ id, status: 'published', published_version: 1 });
  world.clock.advance(1_000);
  const document = { ...gate(['tags', 'details']), approvalTiming: 'PRE_COMMIT' };
  await client.mutate({ method: 'PATCH', url: `${url}/${id}`, payload: { document } });
  const second = await client.graphql(
    'mutation ($id: ID!) { publishWorkflowDefinition(id: $id) { workflowVersion { number gatedFields isGate publisherId } } }',
    { id },
  );
  expect(second.data.publishWorkflowDefinition.workflowVersion).toEqual({
    number: 2,
    gatedFields: ['details', 'tags'],
    isGate: true,
    publisherId: owner.user.id,
  });
  const shared = { topics: ['task.updated'], is_gate: true, timing: 'pre_commit', publisher_id: owner.user.id };
  expect(await versionsOf(id)).toEqual([
    { ...shared, number: 1, gated_fields: ['details'], ended_at: world.clock.now() },
    { ...shared, number: 2, gated_fields: ['details', 'tags'], ended_at: null },
  ]);
  expect((await retire(id)).body).toMatchObject({ status: 'retired', published_version: 2 });
  expect((await versionsOf(id)).map(({ ended_at: endedAt }) => endedAt)).not.toContain(null);
  expectProblem(await retire(id), 'rule_violated');
  expect((await publish(id)).body).toMatchObject({ status: 'published', published_version: 3 });
  await retire(id);
});

test('reviews and notices hold nothing, links bring the topics of the links', async () => {
  const notice = {
    key: 'notice',
    type: 'NOTIFY',
    params: { targets: [{ type: 'ROLE', id: 'admin' }], title: 'Changed' },
  };
  const reviewed = await saved({ ...gate(['status']), approvalTiming: 'POST_COMMIT' });
  const noticed = await saved({
    schemaType: 'task',
    triggers: [{ operation: 'CREATE' }, { operation: 'UPDATE', edges: ['groups'] }],
    actions: [notice],
  });
  for (const id of [reviewed, noticed]) expect((await publish(id)).status).toBe(200);
  expect(await versionsOf(reviewed)).toMatchObject([{ is_gate: false, gated_fields: [], timing: 'post_commit' }]);
  expect(await versionsOf(noticed)).toMatchObject([
    { is_gate: false, topics: ['task.created', 'task_group.created', 'task_group.deleted'] },
  ]);
});

test('two published definitions cannot hold the same change', async () => {
  const [first, second, deletion, secondDeletion] = await Promise.all([
    saved(gate(['status', 'priority']), 'the first'),
    saved(gate(['priority', 'title'])),
    saved(gate([], 'DELETE')),
    saved(gate([], 'DELETE')),
  ]);
  for (const id of [first, deletion]) expect((await publish(id)).status).toBe(200);
  const refused = await publish(second);
  expectProblem(refused, 'definition_conflict');
  expect(messageOf(refused)).toContain('"the first"');
  expect(messageOf(refused)).toContain('holds priority of Task records');
  expectProblem(await publish(secondDeletion), 'definition_conflict');
  await retire(first);
  expect((await publish(second)).status).toBe(200);
  for (const id of [second, deletion]) await retire(id);
});

test('of two conflicting definitions that are published at once, one is', async () => {
  const ids = await Promise.all(['a', 'b', 'c', 'd'].map((name) => saved(gate(['due_at']), name)));
  const answers = await Promise.all(ids.map((id) => publish(id)));
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409, 409, 409]);
});

test('a definition whose group was deleted meanwhile is not published', async () => {
  const group = await client.post('/v1/groups', { name: 'Security' });
  const document = gate(['title']);
  const [{ params }] = document.actions as [ReturnType<typeof approvalOf>];
  const targets = [{ type: 'GROUP', id: group.body.id }];
  const id = await saved({ ...document, actions: [{ ...approvalOf(['title']), params: { ...params, targets } }] });
  await client.mutate({ method: 'DELETE', url: `/v1/groups/${group.body.id}` });
  const refused = await publish(id);
  expectProblem(refused, 'definition_invalid');
  expect(refused.body.errors).toMatchObject([
    { path: '/document/actions/0/params/targets/0/id', code: 'target_not_found' },
  ]);
});

test('a published definition is retired before it is deleted', async () => {
  const id = await saved(gate(['parent_id']));
  await publish(id);
  expectProblem(await client.mutate({ method: 'DELETE', url: `${url}/${id}` }), 'rule_violated');
  await retire(id);
  expect((await client.mutate({ method: 'DELETE', url: `${url}/${id}` })).status).toBe(204);
});

test('members and strangers publish, retire and check nothing', async () => {
  const id = await saved(gate(['type_id']));
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  const stranger = await signedIn(world, await buildPerson(world));
  for (const act of [publish, retire]) {
    expectProblem(await act(id, member), 'permission_denied');
    expectProblem(await act(id, stranger), 'not_found');
  }
  const payload = { record_kind: 'task', document: gate(['status']) };
  expectProblem(await member.post(`${url}/validate`, payload), 'permission_denied');
});

test('validation lists problems and saves nothing', async () => {
  const before = await asOwner(world, 'select 1 from workflow_definitions');
  const valid = await client.post(`${url}/validate`, { record_kind: 'task', document: gate(['status']) });
  expect(valid.body).toEqual({ is_valid: true, problems: [] });
  const { data } = await client.graphql(
    'mutation ($document: JSON!) { validateWorkflowDefinition(recordKind: "task", document: $document) { isValid problems { path code start end } } }',
    { document: { ...gate(['status']), conditions: [{ expression: 'object.staus == ""' }] } },
  );
  expect(data.validateWorkflowDefinition).toEqual({
    isValid: false,
    problems: [{ path: '/conditions/0/expression', code: 'expression_invalid', start: 7, end: 12 }],
  });
  expect(await asOwner(world, 'select 1 from workflow_definitions')).toHaveLength(before.length);
});

test('the metadata names kinds with their fields, links, people and typed variables', async () => {
  const { body } = await client.get('/v1/workflow-metadata');
  const tasks = body.data.find(({ record_kind: kind }: { record_kind: string }) => kind === 'task');
  expect(tasks).toMatchObject({
    schema_type: 'Task',
    fields: expect.arrayContaining(['status', 'due_at', 'assignee_id']),
    edges: ['groups'],
    resolvers: ['OBJECT_CREATOR', 'OWNER', 'ASSIGNEE', 'ASSIGNER'],
    trigger_variables: expect.arrayContaining([
      { name: 'object', type: 'Task' },
      { name: 'old_object', type: 'Task?' },
    ]),
    action_variables: expect.arrayContaining([{ name: 'assignments', type: 'Decisions' }]),
  });
  const { fields } = tasks.objects.find(({ name }: { name: string }) => name === 'Task');
  expect(fields).toEqual(
    expect.arrayContaining([
      { name: 'due_at', type: 'timestamp?' },
      { name: 'priority', type: 'int' },
    ]),
  );
});

test('while workflows are off, drafts can be saved, and nothing is published, retired or checked', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'false' });
  const id = await saved(gate(['scope_id']));
  const payload = { record_kind: 'task', document: gate(['status']) };
  for (const answer of [
    await publish(id),
    await retire(id),
    await client.post(`${url}/validate`, payload),
    await client.get('/v1/workflow-metadata'),
  ])
    expectProblem(answer, 'workflows_disabled');
  shows('workflows.enabled');
  await world.reconfigure({ CORE_WORKFLOWS_ENABLED: 'true' });
  expect((await publish(id)).status).toBe(200);
});
