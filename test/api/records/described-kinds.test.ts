import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { registry } from '#entities/index.ts';
import { isExposed } from '#entities/kit/model/exposure.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let ownerClient: TestClient;
let memberClient: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  owner = await buildPerson(world);
  ownerClient = await signedIn(world, owner);
  memberClient = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
});
afterAll(() => world.close());

async function kindsOf(client: TestClient): Promise<Map<string, TestAnswer['body']>> {
  const { status, body } = await client.get('/v1/kinds');
  expect(status).toBe(200);
  return new Map(body.data.map((kind: { readonly kind: string }) => [kind.kind, kind]));
}

async function tokenWith(...scopes: readonly string[]): Promise<TestClient> {
  const { status, body } = await ownerClient.post('/v1/api-tokens', { name: scopes.join(), scopes });
  expect(status, JSON.stringify(body)).toBe(201);
  const program = world.client();
  program.bearer = body.token;
  return program;
}

const named = (parts: readonly TestAnswer['body'][], name: string) => parts.find((part) => part.name === name);

test('callers who are not signed in are refused', async () => {
  expect((await world.client().get('/v1/kinds')).status).toBe(401);
});

test('a member gets names, fields, filters and actions of a kind', async () => {
  const task = (await kindsOf(memberClient)).get('task');
  expect(task).toMatchObject({
    singular: 'task',
    plural: 'tasks',
    path: '/v1/tasks',
    graphql_type: 'Task',
    title_field: 'title',
    files: 'task_file',
    shares: 'task_share',
    linked_with: ['group'],
    allowed: { view: 'some', create: 'all', update: 'some', delete: 'some' },
  });
  expect(named(task.fields, 'status')).toEqual({
    name: 'status',
    type: 'choice',
    description: 'Progress status.',
    schema: { type: 'string', enum: ['open', 'in_progress', 'in_review', 'completed', 'wont_do'] },
    references: [],
    exposure: 'read-write',
    required: false,
    can_be_null: false,
    changeable: true,
    filters: ['eq', 'ne', 'in', 'not_in'],
    order: false,
    search: false,
  });
  expect(named(task.fields, 'title')).toMatchObject({ required: true, order: true, search: true });
  expect(named(task.fields, 'assigner_id')).toMatchObject({
    references: ['user'],
    can_be_null: true,
    changeable: false,
  });
  expect(named(task.fields, 'organization_id')).toMatchObject({ references: ['organization'], exposure: 'read' });
  expect(named(task.fields, 'created_at')).toMatchObject({ type: 'timestamp', order: true });
  expect(task.actions.rest).toContainEqual({
    operation_id: 'updateTask',
    summary: 'Update one task',
    method: 'PATCH',
    path: '/v1/tasks/{id}',
    parameters: [],
    input: { $ref: '/openapi.json#/components/schemas/UpdateTaskInput' },
    deprecated: false,
  });
  expect(task.actions.graphql).toContainEqual({
    on: 'mutation',
    name: 'createBulkCSVTask',
    arguments: { csv: 'String!' },
    deprecated: false,
  });
  expect(task.actions.graphql.map(({ name }: { name: string }) => name)).toEqual(
    expect.arrayContaining(['tasks', 'task', 'taskAggregates', 'taskHistories', 'createTask', 'deleteBulkTask']),
  );
});

describe('what a caller may do', () => {
  test('depends on their role', async () => {
    const [ofOwner, ofMember] = [await kindsOf(ownerClient), await kindsOf(memberClient)];
    expect(ofMember.has('api_token')).toBe(false);
    expect(ofOwner.get('api_token').allowed).toEqual({ view: 'all', create: 'none', update: 'all', delete: 'all' });
    const operations = (kinds: typeof ofOwner, kind: string) =>
      kinds.get(kind).actions.rest.map((action: { operation_id: string }) => action.operation_id);
    const graphql = ofOwner.get('api_token').actions.graphql.map(({ name }: { name: string }) => name);
    expect(graphql).toEqual(expect.arrayContaining(['createApiToken', 'rotateApiToken', 'deleteApiToken']));
    expect(operations(ofOwner, 'api_token')).toEqual(expect.arrayContaining(['createApiToken', 'deleteApiToken']));
    expect(ofOwner.get('entity_type').allowed.create).toBe('all');
    expect(ofMember.get('entity_type').allowed).toEqual({
      view: 'all',
      create: 'none',
      update: 'none',
      delete: 'none',
    });
    expect(operations(ofOwner, 'entity_type')).toContain('createEntityType');
    expect(operations(ofMember, 'entity_type')).not.toContain('createEntityType');
  });

  test('is limited by the scopes of a token', async () => {
    const kinds = await kindsOf(await tokenWith('task:read', 'tag:write'));
    expect([...kinds.keys()].toSorted()).toEqual(['tag', 'task']);
    expect(kinds.get('task').allowed).toEqual({ view: 'all', create: 'none', update: 'none', delete: 'none' });
    expect(kinds.get('tag').allowed).toMatchObject({ create: 'all', delete: 'none' });
    const names = kinds.get('task').actions.graphql.map(({ name }: { name: string }) => name);
    expect(names).toContain('tasks');
    expect(names).not.toContain('createTask');
  });

  test('is what requests then find', async () => {
    const kinds = await kindsOf(memberClient);
    for (const { kind, path, fields } of kinds.values()) {
      const order = fields.flatMap((field: { name: string; order: boolean }) => (field.order ? [field.name] : []));
      const { status, body } = await memberClient.get(`${path}?order_by=${order[0]}`);
      expect([kind, status, body.code]).toEqual([kind, 200, undefined]);
    }
    const refused = registry.modules.filter(
      (module) => isExposed(module) && module.mutate?.includes('create') && !kinds.has(module.topic),
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const { table } of refused) {
      const { status } = await memberClient.post(`/v1/${table.replaceAll('_', '-')}`, {});
      expect([table, [400, 403].includes(status)]).toEqual([table, true]);
    }
  });
});

test('every action is in the description of the API or in the schema of GraphQL, deprecated in both places or in neither', async () => {
  const openapi = (await ownerClient.get('/openapi.json')).body;
  const { data } = await ownerClient.graphql(
    `query Roots { __schema { queryType { ...Root } mutationType { ...Root } } }
    fragment Root on __Type { fields(includeDeprecated: true) { name isDeprecated } }`,
  );
  const roots = [...data.__schema.queryType.fields, ...data.__schema.mutationType.fields];
  const known = new Map(roots.map(({ name, isDeprecated }) => [name, isDeprecated]));
  const deprecatedNames: string[] = [];
  for (const { actions } of (await kindsOf(ownerClient)).values()) {
    for (const { operation_id, method, path, input, deprecated } of actions.rest) {
      const operation = openapi.paths[path]?.[method.toLowerCase()];
      expect([operation_id, operation?.operationId]).toEqual([operation_id, operation_id]);
      expect([operation_id, deprecated]).toEqual([operation_id, operation.deprecated ?? false]);
      const name = /schemas\/(\w+)$/.exec(input?.$ref ?? '')?.[1];
      if (name !== undefined) expect(openapi.components.schemas).toHaveProperty(name);
      if (deprecated) deprecatedNames.push(operation_id);
    }
    for (const { name, deprecated } of actions.graphql) {
      expect([name, deprecated]).toEqual([name, known.get(name)]);
      if (deprecated) deprecatedNames.push(name);
    }
  }
  expect(deprecatedNames).toEqual(expect.arrayContaining(['createIntegration', 'createBulkIntegration']));
});

test('a client that has the answer gets no other one until its rights change', async () => {
  const first = await memberClient.get('/v1/kinds');
  const etag = String(first.headers.etag);
  expect((await memberClient.get('/v1/kinds', { 'if-none-match': etag })).status).toBe(304);
  expect((await ownerClient.get('/v1/kinds', { 'if-none-match': etag })).status).toBe(200);
});
