import { Type } from 'typebox';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordOf } from '#api/actions/kit/action-parts.ts';
import { defineAction } from '#api/actions/kit/define-action.ts';
import { idSchema } from '#api/http/request-schemas.ts';
import { actionRoute } from '#api/rest/records/action-route.ts';
import { task } from '#entities/index.ts';
import { gateOf, publishGate } from '../../kit/automation/publish-gate.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { ended, startImport } from '../../kit/events/started-transfers.ts';
import { tokenProgram } from '../../kit/processes/token-program.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Every way by which somebody can change or delete tasks, against a gate that holds both. */
interface Way {
  readonly name: string;
  readonly change: (id: string) => Promise<unknown>;
}

/** An action of the product that changes a record goes by the data client of its caller. */
const completeTask = defineAction({
  name: 'completeTask',
  url: '/v1/tasks/:id/complete',
  tag: 'Tasks',
  summary: 'Complete a task',
  description: 'Completes it.',
  input: { id: idSchema('Id of the task.') },
  answer: { task: recordOf(task) },
  errors: ['not_found'],
  run: async ({ unit }, { id }) => {
    await unit.data.update(task, id, { status: 'completed' });
    return { task: id };
  },
});

/** A way that somebody forgot. */
const hole = defineAction({
  name: 'forceTask',
  url: '/v1/tasks/:id/force',
  tag: 'Tasks',
  summary: 'Complete a task with the rights of the server',
  description: 'Completes it.',
  input: { id: idSchema('Id of the task.') },
  answer: { isDone: Type.Boolean({ description: 'Done.' }) },
  errors: ['not_found'],
  run: async ({ unit }, { id }) => {
    await unit.data.privileged('a planted hole').update(task, id, { status: 'completed' });
    return { isDone: true };
  },
});

const wanted = { status: 'completed' };

let world: World;
let owner: Person;
let client: TestClient;
let programs: Readonly<Record<'api' | 'personal', TestClient>>;

beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_WORKFLOWS_ENABLED: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(64),
    },
    routes: [actionRoute(completeTask), actionRoute(hole)],
    worker: ['workflows', 'exports', 'automation'],
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const targets = [{ type: 'ROLE', id: 'owner' }] as const;
  await publishGate(
    world,
    owner.organization.id,
    gateOf({
      triggers: [{ operation: 'UPDATE' }, { operation: 'DELETE' }],
      actions: [{ key: 'agree', type: 'REQUEST_APPROVAL', params: { targets, fields: ['status'] } }],
    }),
  );
  await publishedVersion(world, owner, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['title'], expression: 'object.title == "complete it"' }],
    actions: [{ key: 'complete', type: 'UPDATE_FIELD', params: { updates: wanted } }],
  });
  const ofToken = (sort: 'api' | 'personal') =>
    tokenProgram(world, { sort, scopes: ['task:delete'], by: client, organizationId: owner.organization.id });
  programs = { api: await ofToken('api'), personal: await ofToken('personal') };
});
afterAll(() => world.close());

const input = { status: 'COMPLETED' };
const patch = (id: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });
const graphql = (text: string, variables: object) => client.graphql(text, variables);

async function linkedGroup(): Promise<string> {
  return (await client.post('/v1/groups', { name: `group ${Math.random()}` })).body.id as string;
}

/** The mutations and routes of tasks that change or delete some. A new one is missing here until it is driven. */
const mutations: Readonly<Record<string, (id: string) => Promise<unknown>>> = {
  updateTask: (id) =>
    graphql(
      `
        mutation ($id: ID!, $input: UpdateTaskInput!) {
          updateTask(id: $id, input: $input) {
            updatedId
          }
        }
      `,
      { id, input },
    ),
  updateBulkTask: (id) =>
    graphql(
      `
        mutation ($ids: [ID!]!, $input: UpdateTaskInput!) {
          updateBulkTask(ids: $ids, input: $input) {
            updatedIds
          }
        }
      `,
      { ids: [id], input },
    ),
  updateBulkCSVTask: (id) =>
    graphql(
      `
        mutation ($csv: String!) {
          updateBulkCSVTask(csv: $csv) {
            updatedIds
          }
        }
      `,
      { csv: `id,status\n${id},completed\n` },
    ),
  deleteTask: (id) =>
    graphql(
      `
        mutation ($id: ID!) {
          deleteTask(id: $id) {
            deletedId
          }
        }
      `,
      { id },
    ),
  deleteBulkTask: (id) =>
    graphql(
      `
        mutation ($ids: [ID!]!) {
          deleteBulkTask(ids: $ids) {
            deletedIds
          }
        }
      `,
      { ids: [id] },
    ),
};

const ways: readonly Way[] = [
  ...Object.entries(mutations).map(([name, change]) => ({ name, change })),
  { name: 'PATCH', change: (id) => patch(id, wanted) },
  { name: 'PATCH with a version', change: (id) => patch(id, { ...wanted, record_version: 1 }) },
  { name: 'PATCH with links', change: async (id) => patch(id, { ...wanted, add_group_ids: [await linkedGroup()] }) },
  { name: 'PATCH with other fields', change: (id) => patch(id, { ...wanted, title: 'second', priority: 7 }) },
  { name: 'DELETE', change: (id) => client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` }) },
  ...(['api', 'personal'] as const).flatMap((sort): Way[] => [
    {
      name: `PATCH with an ${sort} token`,
      change: (id) => programs[sort].mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: wanted }),
    },
    {
      name: `DELETE with an ${sort} token`,
      change: (id) => programs[sort].mutate({ method: 'DELETE', url: `/v1/tasks/${id}` }),
    },
  ]),
  { name: 'action', change: (id) => client.post(`/v1/tasks/${id}/complete`) },
  {
    name: 'several changes in one operation',
    change: (id) =>
      graphql(
        `
          mutation ($id: ID!) {
            a: updateTask(id: $id, input: { status: IN_PROGRESS }) {
              updatedId
            }
            b: updateTask(id: $id, input: { status: COMPLETED }) {
              updatedId
            }
          }
        `,
        { id },
      ),
  },
  {
    name: 'action of another definition',
    change: async (id) => {
      await patch(id, { title: 'complete it' });
      await eventually(async () => {
        const rows = await asOwner(
          world,
          'select 1 from workflow_instances where subject_id = $1 and ended_at is not null',
          [id],
        );
        return rows.length > 0;
      });
    },
  },
  {
    name: 'import',
    change: async (id) => {
      const begun = await startImport(world, owner, client, `id,status\n${id},completed\n`, { action: 'update' });
      return ended(client, 'imports', begun.id);
    },
  },
];

/** Names of the ways by which a change got past the gate. */
async function passed(tried: readonly Way[]): Promise<string[]> {
  const names: string[] = [];
  for (const { name, change } of tried) {
    const { body } = await client.post('/v1/tasks', { title: 'first' });
    const id = body.id as string;
    await change(id);
    const [row] = await asOwner(world, 'select status, deleted_at from tasks where id = $1', [id]);
    const proposals = await asOwner(world, 'select 1 from task_proposals where task_id = $1', [id]);
    expect({ name, proposals: proposals.length }).toEqual({ name, proposals: name === 'hole' ? 0 : 1 });
    if (row?.['status'] !== 'open' || row['deleted_at'] !== null) names.push(name);
  }
  return names;
}

test('no change and no deletion of a task gets past a gate', async () => {
  expect(await passed(ways)).toEqual([]);
});

test('a hole is found', async () => {
  const change = (id: string) => client.post(`/v1/tasks/${id}/force`);
  expect(await passed([{ name: 'hole', change }])).toEqual(['hole']);
});

test('every mutation and route that changes or deletes tasks is among these ways', async () => {
  const { data } = await client.graphql(`{ __schema { mutationType { fields { name } } } }`);
  const own = /^(?:update|delete)(?:Bulk)?(?:CSV)?(\w+)$/;
  const found = data.__schema.mutationType.fields.flatMap(({ name }: { name: string }) =>
    own.exec(name)?.[1] === 'Task' ? [name] : [],
  );
  expect(found.toSorted()).toEqual(Object.keys(mutations).toSorted());
  const { body } = await client.get('/openapi.json');
  const routes = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).flatMap((method) =>
      path.startsWith('/v1/tasks/{id}') && method !== 'get' ? [`${method} ${path}`] : [],
    ),
  );
  expect(routes.toSorted()).toEqual([
    'delete /v1/tasks/{id}',
    'patch /v1/tasks/{id}',
    'post /v1/tasks/{id}/complete',
    'post /v1/tasks/{id}/force',
  ]);
});
