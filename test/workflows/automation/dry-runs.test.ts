import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let admin: Person;
let client: TestClient;

beforeAll(async () => {
  // An expression that takes longer on a busy machine would be a failure.
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_CEL_TIMEOUT: '60000' },
  });
  owner = await buildPerson(world);
  admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  client = await signedIn(world, owner);
});
afterAll(() => world.close());

const url = '/v1/workflow-definitions';
const gate = {
  schemaType: 'Task',
  triggers: [{ operation: 'UPDATE', fields: ['status'], expression: "object.status == 'completed'" }],
  actions: [
    {
      key: 'approval',
      type: 'REQUEST_APPROVAL',
      params: {
        targets: [
          { type: 'ROLE', id: 'admin' },
          { type: 'RESOLVER', resolver_key: 'OWNER' },
        ],
        fields: ['status'],
      },
    },
    {
      key: 'urgent',
      type: 'NOTIFY',
      when: 'object.priority > 50',
      params: { targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }], title: 'Done' },
    },
  ],
};
async function saved(document: object, kind = 'task'): Promise<string> {
  const answer = await client.post(url, { name: 'tried', record_kind: kind, document });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}
async function ended(definitionId: string, days: number, as = client) {
  const asked = await as.post(`${url}/${definitionId}/dry-run`, { days });
  expect(asked.status, JSON.stringify(asked.body)).toBe(202);
  const read = () => as.get(`/v1/workflow-dry-runs/${asked.body.id}`);
  await eventually(async () => (await read()).body.status !== 'running');
  return (await read()).body;
}

test('a dry run finds what would have started and who would have been asked, page by page, and writes nothing else', async () => {
  const assigned = { title: 'a', priority: 80, assignee_id: admin.user.id };
  for (let index = 0; index < 60; index++) {
    const { body } = await client.post('/v1/tasks', assigned);
    const payload = { status: index % 2 === 0 ? 'completed' : 'in_review' };
    await client.mutate({ method: 'PATCH', url: `/v1/tasks/${body.id}`, payload });
  }
  const id = await saved(gate);
  const before = await asOwner(world, 'select 1 from workflow_instances');
  const run = await ended(id, 1);
  expect(run).toMatchObject({
    status: 'completed',
    total_changes: 120,
    read_changes: 120,
    starts: 30,
    failures: 0,
    finished_at: expect.any(String),
  });
  expect(Number(run.cost)).toBeGreaterThan(0);
  expect(run.report.people).toEqual({ [admin.user.id]: 60 });
  expect(run.report.starts).toHaveLength(30);
  expect(run.report.starts[0]).toMatchObject({
    operation: 'updated',
    holds: true,
    actions: [
      // The owner made the changes.
      { key: 'approval', type: 'REQUEST_APPROVAL', userIds: [admin.user.id] },
      { key: 'urgent', type: 'NOTIFY', userIds: [admin.user.id] },
    ],
  });
  expect(await asOwner(world, 'select 1 from workflow_instances')).toHaveLength(before.length);
});

test('changes before the time, of other kinds and organizations, and of backfills are left out', async () => {
  const stranger = await signedIn(world, await buildPerson(world));
  await stranger.post('/v1/tasks', { title: 'foreign' });
  await client.post('/v1/notes', { text: 'x' });
  const id = await saved({ ...gate, triggers: [{ operation: 'CREATE' }], actions: [gate.actions[1]] });
  expect(await ended(id, 1)).toMatchObject({ total_changes: 120, starts: 60 });
  await asOwner(
    world,
    `update history set actor = 'system:backfill' where entity_kind = 'task' and operation = 'created' and organization_id = $1`,
    [owner.organization.id],
  );
  expect(await ended(id, 1)).toMatchObject({ total_changes: 60, starts: 0 });
  world.clock.advance(3 * 86_400_000);
  client = await signedIn(world, owner);
  expect(await ended(id, 1)).toMatchObject({ status: 'completed', total_changes: 0, starts: 0 });
  expect(await ended(id, 90)).toMatchObject({ total_changes: 60 });
});

test('expressions that fail are counted and named, and hold the change', async () => {
  const id = await saved({ ...gate, conditions: [{ expression: "object.tags[5] == 'a'" }] });
  const run = await ended(id, 90);
  expect(run).toMatchObject({ status: 'completed', starts: 30, failures: 30 });
  expect(run.report.failures[0]).toMatchObject({ recordId: expect.any(String), message: expect.stringMatching(/\S/) });
});

test('deletions together with an owner start nothing, and records that cannot be viewed are counted only', async () => {
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const url = '/v1/group-memberships';
  const groupOf = async (name: string) => (await client.post('/v1/groups', { name })).body.id;
  const [first, second] = [await groupOf('First'), await groupOf('Second')];
  await client.post(url, { group_id: first, user_id: member.user.id });
  const { body: kept } = await client.post(url, { group_id: second, user_id: member.user.id });
  await client.mutate({ method: 'DELETE', url: `/v1/groups/${first}` });
  const actions = [
    { key: 'tell', type: 'NOTIFY', params: { targets: [{ type: 'ROLE', id: 'owner' }], title: 'Gone' } },
  ];
  const deletions = { schemaType: 'GroupMembership', triggers: [{ operation: 'DELETE' }], actions };
  const id = await saved(deletions, 'groupMembership');
  const { total_changes: before, starts: none } = await ended(id, 1);
  await client.mutate({ method: 'DELETE', url: `${url}/${kept.id}` });
  expect(none).toBe(0);
  expect(await ended(id, 1)).toMatchObject({ total_changes: before + 1, starts: 1 });
  const theirs = await signedIn(world, member);
  const { body: hidden } = await theirs.post('/v1/tasks', { title: 'hidden' });
  await theirs.mutate({ method: 'PATCH', url: `/v1/tasks/${hidden.id}`, payload: { status: 'completed' } });
  const wanted = { ...gate, triggers: [{ operation: 'UPDATE', expression: 'object.title == "hidden"' }] };
  const about = await saved(wanted);
  const as = await signedIn(world, admin);
  expect((await as.get(`/v1/tasks/${hidden.id}`)).status).toBe(404);
  const run = await ended(about, 1, as);
  expect(run).toMatchObject({ starts: 1 });
  expect(run.report.starts).toEqual([]);
});

test('a made-up change says what would happen', async () => {
  const id = await saved(gate);
  const attempt = async (payload: object) => (await client.post(`${url}/${id}/try`, payload)).body;
  const before = { status: 'open', priority: 90, assignee_id: admin.user.id };
  expect(await attempt({ operation: 'update', before, changes: { status: 'completed' } })).toMatchObject({
    starts: true,
    holds: true,
    failures: [],
    actions: [
      { key: 'approval', user_ids: [admin.user.id] },
      { key: 'urgent', user_ids: [admin.user.id] },
    ],
  });
  expect(await attempt({ operation: 'update', before, changes: { status: 'in_review' } })).toMatchObject({
    starts: false,
    actions: [],
  });
  const wrong = await client.post(`${url}/${id}/try`, { operation: 'update', changes: { status: 'done', staus: 1 } });
  expectProblem(wrong, 'invalid_input');
  expect(wrong.body.errors.map(({ path }: { path: string }) => path)).toEqual(['/changes/status', '/changes/staus']);
});

test('members and strangers try nothing and see no dry run', async () => {
  const id = await saved(gate);
  const run = await ended(id, 1);
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  const stranger = await signedIn(world, await buildPerson(world));
  for (const [by, code] of [
    [member, 'permission_denied'],
    [stranger, 'not_found'],
  ] as const) {
    expectProblem(await by.post(`${url}/${id}/dry-run`, {}), code);
    expectProblem(await by.post(`${url}/${id}/try`, { operation: 'create' }), code);
    expectProblem(await by.get(`/v1/workflow-dry-runs/${run.id}`), 'not_found');
  }
});
