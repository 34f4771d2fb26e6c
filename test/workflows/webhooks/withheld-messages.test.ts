import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createdEndpoint, type TestEndpoint } from '../../kit/events/created-endpoint.ts';
import { eventually } from '../../kit/eventually.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let sink: WebhookSink;
let other: WebhookSink;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  sink = await WebhookSink.open();
  other = await WebhookSink.open();
});
afterEach(() => Promise.all([sink.close(), other.close()]));

const newTask = async () => (await client.post('/v1/tasks', { title: 'kept from others' })).body.id as string;
const rename = (id: string) =>
  client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: 'renamed' } });
const typesAt = ({ bodies }: WebhookSink) => bodies.map(({ type }) => type);

async function change({ path }: TestEndpoint, payload: object, by = client): Promise<void> {
  world.clock.advance(1_000);
  const { status, body } = await by.mutate({ method: 'PATCH', url: path, payload });
  expect(status, JSON.stringify(body)).toBe(200);
  world.clock.advance(1_000);
}

async function statesOf({ path }: TestEndpoint): Promise<Record<string, string>> {
  const { data } = (await client.get(`${path}/messages`)).body as { data: { type: string; status: string }[] };
  return Object.fromEntries(data.map(({ type, status }) => [type, status]));
}
const untilStates = (endpoint: TestEndpoint, expected: Record<string, string>) =>
  eventually(async () => {
    const states = await statesOf(endpoint);
    return Object.entries(expected).every(([type, state]) => states[type] === state);
  });

async function replayAll({ path }: TestEndpoint, by = client): Promise<number> {
  const since = new Date(world.clock.now().getTime() - 3_600_000).toISOString();
  const { status, body } = await by.post(`${path}/replay`, { since });
  expect(status, JSON.stringify(body)).toBe(202);
  return body.replayed_count as number;
}

const narrowed = {
  scopes: { scopes: ['note:read'], topics: ['note.*'] },
  topics: { topics: ['note.*'] },
};

test.each(Object.entries(narrowed))(
  'messages that wait for a retry, and replays, are withheld after the %s of the endpoint have become fewer',
  async (_name, fewer) => {
    const endpoint = await createdEndpoint(client, sink, {
      topics: ['task.*', 'note.*'],
      scopes: ['task:read', 'note:read'],
    });
    sink.answer = ({ body }) => ({ status: body.includes('task.updated') ? 500 : 204 });
    await rename(await newTask());
    await untilStates(endpoint, { 'task.created': 'delivered', 'task.updated': 'due' });
    await eventually(async () => (await client.get(`${endpoint.path}/attempts`)).body.data.length === 2);

    await change(endpoint, fewer);
    await untilStates(endpoint, { 'task.created': 'delivered', 'task.updated': 'withheld' });
    world.clock.advance(60_000);
    expect(await replayAll(endpoint)).toBe(2);
    await untilStates(endpoint, { 'task.created': 'withheld', 'task.updated': 'withheld' });
    await client.post('/v1/notes', { text: 'a note' });
    await untilStates(endpoint, { 'note.created': 'delivered' });
    expect(typesAt(sink)).toEqual(['task.created', 'task.updated', 'note.created']);
    expect((await client.get(`${endpoint.path}/messages?status=withheld`)).body.data).toHaveLength(2);

    // It is decided anew each time.
    await change(endpoint, { topics: ['*'], scopes: ['task:read', 'note:read'] });
    sink.answer = () => ({ status: 204 });
    await replayAll(endpoint);
    await untilStates(endpoint, { 'task.created': 'delivered', 'task.updated': 'delivered' });
  },
);

test('a new URL starts without a past: neither messages that wait nor replays go to it', async () => {
  const endpoint = await createdEndpoint(client, sink);
  sink.answer = () => ({ status: 500 });
  const id = await newTask();
  await eventually(async () => (await client.get(`${endpoint.path}/attempts`)).body.data.length === 1);
  await client.post(`${endpoint.path}/test`, {});
  await eventually(() => sink.received.length === 2);
  await eventually(async () => (await client.get(`${endpoint.path}/attempts`)).body.data.length === 2);

  expect((await client.get(endpoint.path)).body.url_changed_at).toBeNull();
  await change(endpoint, { url: other.url });
  expect((await client.get(endpoint.path)).body.url_changed_at).not.toBeNull();
  await untilStates(endpoint, { 'task.created': 'withheld', 'webhook_endpoint.tested': 'withheld' });
  // What happens to the same record afterwards waits for none of them.
  await rename(id);
  await untilStates(endpoint, { 'task.updated': 'delivered' });
  await replayAll(endpoint);
  await untilStates(endpoint, { 'task.created': 'withheld', 'task.updated': 'delivered' });
  expect(typesAt(other)).toEqual(['task.updated', 'task.updated']);
  expect(sink.received).toHaveLength(2);
});

test('the same URL keeps its past', async () => {
  const endpoint = await createdEndpoint(client, sink);
  await newTask();
  await untilStates(endpoint, { 'task.created': 'delivered' });
  await change(endpoint, { url: sink.url, name: 'the same' });
  expect(await replayAll(endpoint)).toBe(1);
  await eventually(() => sink.received.length === 2);
});

test('whoever may see no task gets none by moving an endpoint that has them to a URL of their own', async () => {
  const endpoint = await createdEndpoint(client, sink, { includes_record: true });
  await newTask();
  await untilStates(endpoint, { 'task.created': 'delivered' });
  await change(endpoint, { status: 'disabled' });
  await newTask();
  const admin = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  await change(endpoint, { url: other.url, topics: ['email.*'], scopes: ['email:read'], status: 'enabled' }, admin);
  expect(await replayAll(endpoint, admin)).toBe(2);
  await untilStates(endpoint, { 'task.created': 'withheld' });
  await eventually(async () => (await client.get(`${endpoint.path}/messages?status=withheld`)).body.data.length === 2);

  // Nor does the URL get them when somebody else widens the scopes again.
  await change(endpoint, { topics: ['task.*'], scopes: ['task:read'] });
  await replayAll(endpoint, admin);
  await newTask();
  await eventually(() => other.received.length === 1);
  expect((await client.get(`${endpoint.path}/messages?status=withheld`)).body.data).toHaveLength(2);
  expect(typesAt(other)).toEqual(['task.created']);
});
