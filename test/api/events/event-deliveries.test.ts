import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { runEventCommand } from '#tools/commands/event-commands.ts';
import { announce, notingListener } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let isBroken = true;
const listener = notingListener('fragile', ['task.created', 'fragile.happened'], () => {
  if (isBroken) throw new Error('broken');
});

let world: World;
let owner: Person;
let client: TestClient;
let taskId: string;
let requestId: string;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    listeners: [listener],
    environment: { CORE_WORKFLOWS_DISPATCH_MAXRETRIES: '1', CORE_JOBQUEUE_QUEUECONF_MAXATTEMPTS: '1' },
  });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  const created = await client.post('/v1/tasks', { title: 'a secret title' });
  taskId = created.body.id;
  requestId = String(created.headers['x-request-id']);
  await eventually(async () => (await client.get('/v1/event-deliveries')).body.data.length === 1);
});
afterAll(async () => {
  isBroken = false;
  const asked = { operator: 'somebody', reason: 'a test', perSecond: 100, isDryRun: false };
  const runtime = world.runtime;
  await runEventCommand(
    { name: 'retry', selection: { states: ['failing'] }, ...asked },
    { runtime, print: () => {}, progressEveryMs: 50 },
  );
  await eventually(async () => (await client.get('/v1/event-deliveries?status=failing')).body.data.length === 0);
  await world.close();
});

test('managers list what failed, and see the event with its deliveries and runs', async () => {
  const { body } = await client.get('/v1/event-deliveries');
  const [delivery] = body.data;
  expect(delivery).toMatchObject({
    type: 'task.created',
    kind: 'task',
    record_id: taskId,
    request_id: requestId,
    listener: 'fragile',
    status: 'failing',
    error: 'Error',
  });
  const url = `/v1/events/${delivery.event_id}`;
  const shown = await client.get(url);
  expect(shown.status, JSON.stringify(shown.body)).toBe(200);
  expect(shown.body).toMatchObject({
    id: delivery.event_id,
    version: 1,
    actor: `user:${owner.user.id}`,
    changed: expect.arrayContaining(['title']),
    details: {},
    deliveries: [{ listener: 'fragile', status: 'failing', error: 'Error' }],
    messages: [],
    repairs: [],
  });
  expect(JSON.stringify(shown.body)).not.toContain('a secret title');
  const runs = await eventually(async () => {
    const { body: found } = await client.get(`${url}/runs`);
    return found.data.length >= 2 && found.data;
  });
  expect(runs.map((run: { type: string }) => run.type).toSorted()).toEqual(['deliverEvent', 'deliverEvents']);
});

test('each filter of the list keeps what it names, and nothing else', async () => {
  const count = async (query: string) => (await client.get(`/v1/event-deliveries?${query}`)).body.data.length;
  const now = encodeURIComponent(world.clock.now().toISOString());
  for (const query of [
    'status=failing',
    'listener=fragile',
    'type=task.created',
    'type=task.*',
    'error=err',
    'since=2020-01-01T00:00:00Z',
    `until=${now}`,
    `request_id=${requestId}`,
    'first=1',
  ])
    expect(await count(query), query).toBe(1);
  for (const query of [
    'status=held',
    'status=skipped',
    'listener=other',
    'type=task.updated',
    'type=ta.*',
    'error=100%25',
    'until=2020-01-01T00:00:00Z',
    'since=2999-01-01T00:00:00Z',
    `request_id=${newId()}`,
    'first=0',
  ])
    expect(await count(query), query).toBe(0);
  const { body } = await client.get('/v1/event-deliveries');
  expect(await count(`after=${encodeURIComponent(body.data[0].position)}`)).toBe(0);
});

test('a list and a count of no deliveries succeed; an event that is not there fails', async () => {
  const selection = { states: ['failing'], listener: 'nobody' } as const;
  const tool = { runtime: world.runtime, print: vi.fn() };
  expect(await runEventCommand({ name: 'list', selection, limit: 1 }, tool)).toBe(true);
  expect(await runEventCommand({ name: 'count', selection }, tool)).toBe(true);
  expect(tool.print.mock.calls).toEqual([['There are no such deliveries.'], ['0 in all']]);
  expect(await runEventCommand({ name: 'show', eventId: newId() }, tool)).toBe(false);
});

test('what an operator did is shown, without who it was and why', async () => {
  await announce(world, [{ topic: 'fragile.happened', organizationId: owner.organization.id }]);
  const url = '/v1/event-deliveries?type=fragile.*';
  const [delivery] = await eventually(async () => {
    const { body } = await client.get(url);
    return body.data.length === 1 && body.data;
  });
  const selection = { states: ['failing'], eventIds: [delivery.event_id] } as const;
  await runEventCommand(
    { name: 'skip', selection, operator: 'somebody', reason: 'known here', perSecond: 10, isDryRun: false },
    { runtime: world.runtime, print: () => {}, progressEveryMs: 50 },
  );
  await eventually(async () => (await client.get(url)).body.data[0].status === 'skipped');
  const { body } = await client.get(`/v1/events/${delivery.event_id}`);
  expect(body.repairs).toEqual([{ listener: 'fragile', operation: 'skip', at: expect.any(String) }]);
  expect(JSON.stringify(body)).not.toMatch(/somebody|known here/);
  // A kind whose events do not leave the server.
  expect(body).toMatchObject({ changed: null, details: null });
});

test('nobody else sees them: not members, not managers of other organizations, not tokens', async () => {
  const { body } = await client.get('/v1/event-deliveries');
  const eventId = body.data.at(-1).event_id;
  const urls = ['/v1/event-deliveries', `/v1/events/${eventId}`, `/v1/events/${eventId}/runs`];
  for (const role of ['member', 'auditor'] as const) {
    const other = await signedIn(world, await buildPerson(world, { organization: owner.organization, role }));
    for (const url of urls) expectProblem(await other.get(url), 'permission_denied');
  }
  const admin = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  for (const url of urls) expect((await admin.get(url)).status).toBe(200);
  const stranger = await signedIn(world, await buildPerson(world));
  expect((await stranger.get('/v1/event-deliveries')).body.data).toEqual([]);
  for (const url of urls.slice(1)) expectProblem(await stranger.get(url), 'not_found');
  for (const url of urls) expectProblem(await world.client().get(url), 'unauthenticated');
});

test.each([
  ['status=done', 'invalid_input'],
  ['status=broken', 'invalid_input'],
  ['since=yesterday', 'invalid_input'],
  ['after=here', 'invalid_input'],
  ['first=100000', 'limit_exceeded'],
  ['organization_id=x', 'invalid_input'],
] as const)('?%s is refused', async (query, code) => {
  expectProblem(await client.get(`/v1/event-deliveries?${query}`), code);
});

test.each(['nothing', newId(), '0'.repeat(26)])('there is no event %s', async (id) => {
  for (const url of [`/v1/events/${id}`, `/v1/events/${id}/runs`]) expectProblem(await client.get(url), 'not_found');
});
