import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { WorkRepairs } from '#runtime/work-repairs.ts';
import type { Action } from '#entities/automation/document/definition-document.ts';
import { membership } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { publishedVersion } from '../../kit/automation/published-version.ts';
import { createdEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { waitForMails } from '../../kit/mailbox.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let sink: WebhookSink;
beforeAll(async () => {
  sink = await WebhookSink.open();
  world = await openWorld({
    worker: true,
    environment: { CORE_WORKFLOWS_ENABLED: 'true', CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' },
  });
});
afterAll(async () => {
  await world.close();
  await sink.close();
});

let owner: Person;
let client: TestClient;
let member: Person;
let theirs: TestClient;
beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  theirs = await signedIn(world, member);
});

interface InstanceRow {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly recordId: string;
}

const instances = () =>
  asOwner<InstanceRow>(
    world,
    `select id, status, reason, subject_id as "recordId" from workflow_instances where organization_id = $1 order by id`,
    [owner.organization.id],
  );

const journalOf = (id: string) =>
  asOwner<{ type: string; key: string | null }>(
    world,
    `select type, action_key as key from workflow_events where instance_id = $1 order by id`,
    [id],
  );

async function createTask(values: object = {}): Promise<string> {
  const { status, body } = await client.post('/v1/tasks', { title: 'Review the access rights', ...values });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

const patch = (id: string, payload: object) => client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });

/** Publishes a definition that starts when the status of a task changes. */
const onStatus = (actions: readonly Action[], by = owner, more: { readonly cooldownSeconds?: number } = {}) =>
  publishedVersion(
    world,
    by,
    { schemaType: 'Task', triggers: [{ operation: 'UPDATE', fields: ['status'] }], actions },
    more,
  );

const ended = (count: number) =>
  eventually(async () => {
    const rows = await instances();
    return rows.length === count && rows.every(({ status }) => status === 'completed') && rows;
  });

test('a change that a trigger names starts the workflow, which notifies people and sets fields', async () => {
  await publishedVersion(world, owner, {
    schemaType: 'Task',
    triggers: [{ operation: 'UPDATE', fields: ['status'] }],
    conditions: [{ expression: 'object.status == "completed" && old_object.status == "open"' }],
    actions: [
      {
        key: 'tell',
        type: 'NOTIFY',
        params: {
          targets: [{ type: 'RESOLVER', resolver_key: 'ASSIGNEE' }],
          title: { expr: '"Completed: " + object.title' },
        },
      },
      { key: 'never', type: 'UPDATE_FIELD', when: 'object.priority > 50', params: { updates: { priority: 1 } } },
      { key: 'mark', type: 'UPDATE_FIELD', params: { updates: { priority: 77, tags: { expr: '["done"]' } } } },
    ],
  });
  const id = await createTask({ assignee_id: member.user.id });
  expect((await patch(id, { title: 'Review all access rights' })).status).toBe(200);
  expect((await patch(id, { status: 'completed' })).status).toBe(200);
  const [instance] = await ended(1);
  expect(instance?.recordId).toBe(id);
  const { body } = await client.get(`/v1/tasks/${id}`);
  expect(body).toMatchObject({ priority: 77, tags: ['done'] });
  expect(await journalOf(instance?.id ?? '')).toEqual([
    { type: 'workflow_triggered', key: null },
    { type: 'action_completed', key: 'tell' },
    { type: 'action_skipped', key: 'never' },
    { type: 'action_completed', key: 'mark' },
    { type: 'workflow_completed', key: null },
  ]);
  await eventually(async () => {
    const inbox = await theirs.get('/v1/notifications');
    const told = inbox.body.data.filter(({ topic }: { topic: string }) => topic === 'workflow_instance.messaged');
    return expect(told).toMatchObject([{ title: 'Completed: Review all access rights', target_id: id }]) ?? true;
  });
});

test('actions send e-mails, call an endpoint and create records', async () => {
  const endpoint = await createdEndpoint(client, sink, { topics: ['note.created'], scopes: ['note:read'] });
  await onStatus([
    {
      key: 'mail',
      type: 'SEND_EMAIL',
      params: {
        targets: [{ type: 'USER', id: member.user.id }],
        subject: { expr: '"Done: " + object.title' },
        body: 'See you.',
      },
    },
    {
      key: 'call',
      type: 'WEBHOOK',
      params: { endpoint_id: endpoint.id, payload: { title: { expr: 'object.title' }, size: 3 } },
    },
    {
      key: 'follow',
      type: 'CREATE_OBJECT',
      params: { object_type: 'Task', fields: { title: { expr: '"Archive: " + object.title' }, priority: 5 } },
    },
  ]);
  const id = await createTask({ assignee_id: member.user.id });
  await patch(id, { status: 'completed' });
  await ended(1);
  const [mail] = await waitForMails(world, member.user.email);
  expect(mail).toContain('Subject: Done: Review the access rights');
  expect(mail).toContain('See you.');
  const { body } = await client.get('/v1/tasks?order_by=created_at');
  expect(body.data.map(({ title }: { title: string }) => title)).toContain('Archive: Review the access rights');
  const called = await eventually(() =>
    sink.received.map(({ body: sent }) => JSON.parse(sent)).find(({ type }) => type === 'workflow_instance.called'),
  );
  expect(called.data.details).toMatchObject({
    action_key: 'call',
    record_id: id,
    payload: { title: 'Review the access rights', size: 3 },
  });
});

test('an action of a person who has left fails until an operator skips it', async () => {
  const { id: versionId } = await onStatus(
    [
      { key: 'mark', type: 'UPDATE_FIELD', params: { updates: { priority: 9 } } },
      { key: 'tell', type: 'NOTIFY', params: { targets: [{ type: 'ROLE', id: 'owner' }], title: 'Changed' } },
    ],
    member,
  );
  expect(versionId).toBeTruthy();
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(membership, { userId: { eq: member.user.id } });
    await data.remove(membership, held?.id ?? '');
  });
  const id = await createTask();
  await patch(id, { status: 'completed' });
  const [failing] = await eventually(async () => {
    const rows = await instances();
    return rows[0]?.status === 'failing' && rows;
  });
  expect(failing?.reason).toContain('was published by somebody who has no access');
  const work = await eventually(async () => {
    const found = await client.get('/v1/tasks');
    expect(found.status).toBe(200);
    const [row] = await asOwner<{ id: string }>(
      world,
      `select id from failing_work where workflow_id like '%workflow/' || $1 and ended_at is null`,
      [failing?.id],
    );
    return row;
  });
  const repairs = new WorkRepairs(world.runtime);
  expect(await repairs.do('stop', `work.${work.id}`, { operator: 'test', reason: 'test' })).toContain('skipped');
  await ended(1);
  expect((await client.get(`/v1/tasks/${id}`)).body.priority).toBe(0);
  expect(await journalOf(failing?.id ?? '')).toMatchObject([
    { type: 'workflow_triggered' },
    { type: 'action_failed', key: 'mark' },
    { type: 'action_skipped', key: 'mark' },
    { type: 'action_completed', key: 'tell' },
    { type: 'workflow_completed' },
  ]);
});

test('a definition does not start itself, and starts once within its cooldown', async () => {
  await publishedVersion(
    world,
    owner,
    {
      schemaType: 'Task',
      triggers: [{ operation: 'UPDATE' }],
      actions: [
        { key: 'raise', type: 'UPDATE_FIELD', params: { updates: { priority: { expr: 'object.priority + 1' } } } },
      ],
    },
    { cooldownSeconds: 3_600 },
  );
  const id = await createTask();
  await patch(id, { status: 'in_progress' });
  await ended(1);
  await patch(id, { status: 'completed' });
  await onStatus([{ key: 'raise', type: 'UPDATE_FIELD', params: { updates: { priority: 50 } } }]);
  await patch(id, { status: 'open' });
  await ended(2);
  expect((await client.get(`/v1/tasks/${id}`)).body.priority).toBe(50);
});

test('definitions that start each other end after ten of them', async () => {
  const flip = (from: string, to: string) =>
    publishedVersion(world, owner, {
      schemaType: 'Task',
      triggers: [{ operation: 'UPDATE', fields: ['status'], expression: `object.status == "${from}"` }],
      actions: [{ key: 'flip', type: 'UPDATE_FIELD', params: { updates: { status: to } } }],
    });
  await flip('in_progress', 'in_review');
  await flip('in_review', 'in_progress');
  const id = await createTask();
  await patch(id, { status: 'in_progress' });
  const rows = await ended(10);
  expect(rows).toHaveLength(10);
});

test('a held change is written when the person who is asked has approved, and the workflow continues', async () => {
  const version = await onStatus([
    {
      key: 'agree',
      type: 'REQUEST_APPROVAL',
      params: { targets: [{ type: 'USER', id: owner.user.id }], fields: ['status'] },
    },
    { key: 'mark', type: 'UPDATE_FIELD', params: { updates: { priority: 12 } } },
  ]);
  expect(version.isGate).toBe(true);
  const id = await createTask({ assignee_id: member.user.id });
  const held = await theirs.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { status: 'completed' } });
  expect(held.body.held, JSON.stringify(held.body)).toMatchObject([{ field: 'status' }]);
  const assignment = await eventually(async () => {
    const rows = await asOwner<{ id: string; instanceId: string; hash: string }>(
      world,
      `select id, instance_id as "instanceId", proposal_hash as hash from workflow_assignments where user_id = $1`,
      [owner.user.id],
    );
    return rows[0];
  });
  expect((await client.get(`/v1/tasks/${id}`)).body.status).toBe('open');
  const answer = await client.post(`/v1/workflow-assignments/${assignment.id}/approve`, {});
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  await ended(1);
  expect((await client.get(`/v1/tasks/${id}`)).body).toMatchObject({ status: 'completed', priority: 12 });
  const handle = world.runtime.temporal.client.workflow.getHandle(`${world.name}/workflow/${assignment.instanceId}`);
  // The row ends before the workflow, which then shows it.
  await handle.result();
  const run = await handle.describe();
  expect(await run.staticSummary()).toMatch(/^WFD-\w+ Definition: Task TSK-\w+$/);
  const attributes = Object.fromEntries(run.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(attributes).toMatchObject({ WorkflowDefinitionId: version.definitionId, WorkflowState: 'completed' });
  const { events } = await handle.fetchHistory();
  const updates = events?.flatMap(({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) =>
    accepted ? [accepted.acceptedRequest?.input?.name] : [],
  );
  expect(updates).toEqual(['decide']);
});

test('an instance ends when its record is deleted while it waits', async () => {
  await onStatus([
    {
      key: 'look',
      type: 'REQUEST_REVIEW',
      params: { targets: [{ type: 'USER', id: member.user.id }], label: 'Is it done?' },
    },
  ]);
  const id = await createTask({ assignee_id: member.user.id });
  await patch(id, { status: 'completed' });
  await eventually(async () => (await instances())[0]?.status === 'waiting');
  expect((await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` })).status).toBe(204);
  const [instance] = await eventually(async () => {
    const rows = await instances();
    return rows[0]?.status === 'cancelled' && rows;
  });
  expect(instance?.reason).toBe('The record was deleted.');
});

test('a review lets the workflow continue when the person who is asked has approved', async () => {
  await onStatus([
    {
      key: 'look',
      type: 'REQUEST_REVIEW',
      params: { targets: [{ type: 'USER', id: member.user.id }], label: 'Is it done?' },
    },
    {
      key: 'mark',
      type: 'UPDATE_FIELD',
      when: 'assignments.by_action["look"].status == "APPROVED"',
      params: { updates: { priority: 42 } },
    },
  ]);
  const id = await createTask({ assignee_id: member.user.id });
  await patch(id, { status: 'completed' });
  const assignment = await eventually(async () => {
    const [row] = await asOwner<{ id: string }>(world, `select id from workflow_assignments where user_id = $1`, [
      member.user.id,
    ]);
    return row;
  });
  const answer = await theirs.post(`/v1/workflow-assignments/${assignment.id}/approve`, {});
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  await ended(1);
  expect((await client.get(`/v1/tasks/${id}`)).body.priority).toBe(42);
});
