import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const trigger = { operation: 'UPDATE', objectType: 'Task', fields: ['status'] };
const approval = {
  key: 'security',
  type: 'REQUEST_APPROVAL',
  params: { targets: [{ type: 'ROLE', id: 'admin' }], fields: ['status'], required_count: 2 },
};
const valid = { schemaType: 'Task', triggers: [trigger], actions: [approval] };
const notify = (params: object) => ({
  key: 'n',
  type: 'NOTIFY',
  params: { targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }], title: 'News', ...params },
});

const save = (document: unknown) =>
  client.post('/v1/workflow-definitions', { name: 'definition', record_kind: 'task', document });

test('a valid definition is saved as a draft', async () => {
  const saved = await save({
    $schema: 'https://example.com/workflow.json',
    ...valid,
    workflowKind: 'APPROVAL',
    approvalTiming: 'PRE_COMMIT',
    targets: { objectTypes: ['task'] },
    conditions: [{ expression: "object.priority > 10 && old_object.status != 'completed'" }],
    actions: [
      {
        ...approval,
        when: "assignments.total == 0 && proposed_changes.status == 'completed'",
        params: {
          ...approval.params,
          remind_after: '2d',
          due_in: '5d',
          on_due: 'ESCALATE',
          escalate_to: [{ type: 'RESOLVER', resolver_key: 'OWNER' }],
        },
      },
      notify({ body: { expr: 'object.title' } }),
      { key: 'u', type: 'UPDATE_FIELD', params: { updates: { priority: 3, due_at: { expr: 'event_time' } } } },
      { key: 'c', type: 'CREATE_OBJECT', params: { object_type: 'Task', fields: { title: { expr: 'object.title' } } } },
    ],
    metadata: { any: [1, { thing: true }] },
  });
  expect(saved.status, JSON.stringify(saved.body)).toBe(201);
  expect(saved.body).toMatchObject({ status: 'draft', published_version: null });
});

const someId = newId();

/** The only problem of documents: its place in the document, and its code. */
const wrong: Readonly<Record<string, readonly [document: object, path: string, code: string]>> = {
  'an unknown key': [{ ...valid, trigers: [] }, '/trigers', 'unknown_key'],
  'a list': [[], '', 'invalid_value'],
  'another kind than that of the definition': [
    { ...valid, schemaType: 'Membership' },
    '/schemaType',
    'schema_type_mismatch',
  ],
  'an unknown kind': [{ ...valid, schemaType: 'Tusk' }, '/schemaType', 'invalid_workflow_schema'],
  'a missing key in camelCase': [
    { triggers: [trigger], actions: [approval] },
    '/schemaType',
    'invalid_workflow_schema',
  ],
  'no triggers': [{ ...valid, triggers: [] }, '/triggers', 'no_triggers'],
  'no actions': [{ schemaType: 'Task', triggers: [trigger] }, '/actions', 'no_actions'],
  'an unknown submission mode': [
    { ...valid, approvalSubmissionMode: 'SOMETIMES' },
    '/approvalSubmissionMode',
    'approval_submission_mode_invalid',
  ],
  'an unknown timing': [{ ...valid, approvalTiming: 'LATER' }, '/approvalTiming', 'approval_timing_invalid'],
  'a trigger without operation': [{ ...valid, triggers: [{}] }, '/triggers/0/operation', 'trigger_missing_operation'],
  'a trigger of an unknown operation': [
    { ...valid, triggers: [{ operation: 'READ' }] },
    '/triggers/0/operation',
    'trigger_unsupported_operation',
  ],
  'a trigger of another kind': [
    { ...valid, triggers: [{ ...trigger, objectType: 'File' }] },
    '/triggers/0/objectType',
    'trigger_object_type_mismatch',
  ],
  'an empty field name': [
    { ...valid, triggers: [{ ...trigger, fields: [''] }] },
    '/triggers/0/fields/0',
    'trigger_empty_field_name',
  ],
  'an unknown field': [
    { ...valid, triggers: [{ ...trigger, fields: ['staus'] }] },
    '/triggers/0/fields/0',
    'trigger_unknown_field',
  ],
  'an unknown edge': [
    { ...valid, triggers: [{ ...trigger, edges: ['people'] }] },
    '/triggers/0/edges/0',
    'trigger_unknown_edge',
  ],
  'an approval of a change of links': [
    { ...valid, triggers: [trigger, { operation: 'UPDATE', edges: ['groups'] }] },
    '/triggers/1/edges',
    'edges_cannot_be_held',
  ],
  'fields of a deletion': [
    { ...valid, triggers: [{ ...trigger, operation: 'DELETE' }] },
    '/triggers/0/fields',
    'trigger_fields_of_deletion',
  ],
  'a creation that would be held': [
    { ...valid, triggers: [{ operation: 'CREATE' }, trigger] },
    '/triggers/0/operation',
    'create_cannot_be_held',
  ],
  'a group of another organization': [
    { ...valid, triggers: [{ ...trigger, selector: { groupIds: [someId] } }] },
    '/triggers/0/selector/groupIds/0',
    'selector_not_found',
  ],
  'an action without key': [
    { ...valid, actions: [{ type: approval.type, params: approval.params }] },
    '/actions/0/key',
    'action_missing_key',
  ],
  'an action without type': [
    { ...valid, actions: [{ key: 'a', params: {} }] },
    '/actions/0/type',
    'action_missing_type',
  ],
  'an unknown action': [
    { ...valid, actions: [{ key: 'a', type: 'DANCE' }] },
    '/actions/0/type',
    'action_unsupported_type',
  ],
  'an integration without id': [
    { ...valid, actions: [{ key: 'a', type: 'INTEGRATION', params: { operation: 'messageSend' } }] },
    '/actions/0/params/integration_id',
    'integration_required',
  ],
  'an integration that does not exist': [
    {
      ...valid,
      actions: [{ key: 'a', type: 'INTEGRATION', params: { integration_id: someId, operation: 'messageSend' } }],
    },
    '/actions/0/params/integration_id',
    'integration_not_found',
  ],
  'a key twice': [
    { ...valid, actions: [approval, { ...notify({}), key: 'security' }] },
    '/actions/1/key',
    'action_duplicate_key',
  ],
  'the same fields twice': [
    { ...valid, actions: [approval, { ...approval, key: 'again' }] },
    '/actions/1/params/fields',
    'duplicate_approval_field_set',
  ],
  'a field that the definition itself holds': [
    { ...valid, actions: [approval, { key: 'u', type: 'UPDATE_FIELD', params: { updates: { status: 'open' } } }] },
    '/actions/1/params/updates/status',
    'field_not_eligible',
  ],
  'an approval without params': [
    { ...valid, actions: [{ key: 'a', type: approval.type }] },
    '/actions/0/params',
    'approval_params_required',
  ],
  'an approval without fields': [
    { ...valid, actions: [{ ...approval, params: { targets: approval.params.targets } }] },
    '/actions/0/params/fields',
    'approval_field_required',
  ],
  'an approval of a field that cannot be held': [
    { ...valid, actions: [{ ...approval, params: { ...approval.params, fields: ['created_at'] } }] },
    '/actions/0/params/fields/0',
    'approval_field_not_eligible',
  ],
  'an approval without targets': [
    { ...valid, actions: [{ ...approval, params: { ...approval.params, targets: [] } }] },
    '/actions/0/params/targets',
    'approval_targets_required',
  ],
  'an approval by time alone': [
    { ...valid, actions: [{ ...approval, params: { ...approval.params, due_in: '5d', on_due: 'APPROVE' } }] },
    '/actions/0/params/on_due',
    'on_due_invalid',
  ],
  'a negative count': [
    { ...valid, actions: [{ ...approval, params: { ...approval.params, required_count: -1 } }] },
    '/actions/0/params/required_count',
    'required_count_negative',
  ],
  'another duration': [
    { ...valid, actions: [{ ...approval, params: { ...approval.params, due_in: 'P5D' } }] },
    '/actions/0/params/due_in',
    'duration_invalid',
  ],
  'an unknown role': [
    { ...valid, actions: [notify({ targets: [{ type: 'ROLE', id: 'boss' }] })] },
    '/actions/0/params/targets/0/id',
    'target_invalid_role',
  ],
  'an unknown resolver': [
    { ...valid, actions: [notify({ targets: [{ type: 'RESOLVER', resolver_key: 'ASIGNEE' }] })] },
    '/actions/0/params/targets/0/resolver_key',
    'target_unknown_resolver',
  ],
  'a person who is no member': [
    { ...valid, actions: [notify({ targets: [{ type: 'USER', id: someId }] })] },
    '/actions/0/params/targets/0/id',
    'target_not_found',
  ],
  'an endpoint that does not exist': [
    { ...valid, actions: [{ key: 'w', type: 'WEBHOOK', params: { endpoint_id: someId } }] },
    '/actions/0/params/endpoint_id',
    'webhook_endpoint_not_found',
  ],
  'a value that the field does not take': [
    { ...valid, actions: [{ key: 'u', type: 'UPDATE_FIELD', params: { updates: { status: 'finished' } } }] },
    '/actions/0/params/updates/status',
    'value_invalid',
  ],
  'a field that workflows do not set': [
    { ...valid, actions: [{ key: 'u', type: 'UPDATE_FIELD', params: { updates: { id: someId } } }] },
    '/actions/0/params/updates/id',
    'field_not_eligible',
  ],
  'a new record that lacks a field': [
    { ...valid, actions: [{ key: 'c', type: 'CREATE_OBJECT', params: { object_type: 'Task', fields: {} } }] },
    '/actions/0/params/fields/title',
    'create_object_fields_required',
  ],
  'a new record of a kind with credentials': [
    { ...valid, actions: [{ key: 'c', type: 'CREATE_OBJECT', params: { object_type: 'ApiToken', fields: {} } }] },
    '/actions/0/params/object_type',
    'create_object_type_unknown',
  ],
  'a misspelt field in an expression': [
    { ...valid, conditions: [{ expression: "object.staus == 'open'" }] },
    '/conditions/0/expression',
    'expression_invalid',
  ],
  'a condition that is no bool': [
    { ...valid, conditions: [{ expression: 'object.title' }] },
    '/conditions/0/expression',
    'expression_wrong_type',
  ],
  'decisions in a condition': [
    { ...valid, conditions: [{ expression: 'assignments.total > 0' }] },
    '/conditions/0/expression',
    'expression_invalid',
  ],
  'an expression of another type than the field': [
    {
      ...valid,
      actions: [{ key: 'u', type: 'UPDATE_FIELD', params: { updates: { priority: { expr: 'object.title' } } } }],
    },
    '/actions/0/params/updates/priority/expr',
    'expression_wrong_type',
  ],
};

test.each(Object.entries(wrong))('refuses %s', async (_what, [document, path, code]) => {
  const refused = await save(document);
  expectProblem(refused, 'definition_invalid');
  expect(refused.body.errors).toEqual([
    expect.objectContaining({ path: `/document${path}`, code, message: expect.stringMatching(/\S/) }),
  ]);
});

test('all problems are reported at once, those of expressions with their place', async () => {
  const refused = await save({
    schemaType: 'Task',
    extra: 1,
    triggers: [{ operation: 'UPDATE', fields: ['statu'], expression: 'object.status ==' }],
    actions: [notify({ title: { expr: 'object.titel' }, targets: [{ type: 'GROUP', id: someId }] })],
  });
  expectProblem(refused, 'definition_invalid');
  expect(refused.body.errors.map(({ path }: { path: string }) => path).toSorted()).toEqual([
    '/document/actions/0/params/targets/0/id',
    '/document/actions/0/params/title/expr',
    '/document/extra',
    '/document/triggers/0/expression',
    '/document/triggers/0/fields/0',
  ]);
  const misspelt = refused.body.errors.find(({ path }: { path: string }) => path.endsWith('/expr'));
  expect(misspelt).toMatchObject({ start: 7, end: 12, message: expect.stringContaining('title') });
});

test('a message says what to write instead', async () => {
  const messageOf = async (document: unknown, recordKind = 'task') =>
    (
      await client.post('/v1/workflow-definitions', { name: 'wrong', record_kind: recordKind, document })
    ).body.errors.map(({ message }: { message: string }) => message);
  const wrongDue = { ...approval.params, due_in: '5 days', on_due: 'ESCALATE' };
  expect(await messageOf({ ...valid, actions: [{ ...approval, params: wrongDue }] })).toEqual([
    'must be a whole number with a unit of time: "5d", "12h", "30m" or "90s"',
  ]);
  expect(await messageOf({ ...valid, triggers: [{ ...trigger, expression: "object.status = 'open'" }] })).toEqual([
    'Unexpected character: =. Use == to compare.',
  ]);
  expect(await messageOf(valid, 'tasks')).toEqual([
    expect.stringMatching(/^record_kind, the kind of the definition, must be one of .*\btask\b.*; it is "tasks"$/),
  ]);
  const create = { key: 'c', type: 'CREATE_OBJECT', params: { object_type: 'Tusk', fields: {} } };
  expect(await messageOf({ ...valid, actions: [create] })).toEqual([
    expect.stringContaining('(did you mean "Task"?): must be one of '),
  ]);
});

test('a member __proto__ and a document that is too large are refused', async () => {
  const body = `{"name":"x","record_kind":"task","document":{"schemaType":"Task","__proto__":{}}}`;
  const headers = { 'content-type': 'application/json' };
  const polluted = await client.mutate({ method: 'POST', url: '/v1/workflow-definitions', headers, payload: body });
  expect(polluted.status).toBe(400);
  const large = await save({ ...valid, metadata: { text: 'x'.repeat(300_000) } });
  expectProblem(large, 'definition_invalid');
  expect(large.body.errors).toMatchObject([{ path: '/document', code: 'definition_too_large' }]);
  shows('ormconfig.maxschemaimportsize');
});

test('a document with many expressions is refused, and none of them is looked at', async () => {
  const payload = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`p${n}`, { expr: `nothing + ${n}` }]));
  const endpoint = { key: 'w', type: 'WEBHOOK', params: { endpoint_id: newId(), payload } };
  const refused = await save({ ...valid, actions: [endpoint] });
  expectProblem(refused, 'definition_invalid');
  expect(refused.body.errors).toMatchObject([{ path: '/document', code: 'definition_too_large' }]);
  expect(refused.body.errors[0].message).toContain('201 expressions');
});

test('a change, a bulk creation, GraphQL and CSV meet the same check', async () => {
  const broken = { ...valid, actions: [] };
  const { body: saved } = await save(valid);
  const url = `/v1/workflow-definitions/${saved.id}`;
  expectProblem(await client.mutate({ method: 'PATCH', url, payload: { document: broken } }), 'definition_invalid');
  expect((await client.mutate({ method: 'PATCH', url, payload: { name: 'renamed' } })).status).toBe(200);

  const bulk = await client.graphql(
    'mutation ($inputs: [CreateWorkflowDefinitionInput!]!) { createBulkWorkflowDefinition(inputs: $inputs) { workflowDefinitions { id } } }',
    { inputs: [valid, broken].map((document) => ({ name: 'bulk', recordKind: 'task', document })) },
  );
  expectRefused(bulk, '/1/document/actions');

  const changed = await client.graphql(
    'mutation ($id: ID!, $input: UpdateWorkflowDefinitionInput!) { updateWorkflowDefinition(id: $id, input: $input) { workflowDefinition { id } } }',
    { id: saved.id, input: { document: broken } },
  );
  expectRefused(changed, '/document/actions');

  const cell = JSON.stringify(broken).replaceAll('"', '""');
  const csv = await client.graphql(
    'mutation ($csv: String!) { createBulkCSVWorkflowDefinition(csv: $csv) { workflowDefinitions { id } } }',
    { csv: `name,recordKind,document\nby csv,task,"${cell}"\n` },
  );
  expectRefused(csv, '/0/document/actions');
});

function expectRefused({ body }: TestAnswer, path: string): void {
  const [{ extensions }] = body.errors;
  expect(extensions, JSON.stringify(body)).toMatchObject({
    code: 'definition_invalid',
    errors: [{ path, code: 'no_actions' }],
  });
}
