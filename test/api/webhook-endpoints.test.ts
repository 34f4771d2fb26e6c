import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { WebhookSink } from '../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import { createdEndpoint } from '../kit/created-endpoint.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let owner: Person;
let client: TestClient;
let sink: WebhookSink;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  sink = await WebhookSink.open();
});
afterAll(async () => {
  await sink.close();
  await world.close();
});

const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/;
const input = () => ({ name: 'orders', url: sink.url, topics: ['task.created'], scopes: ['task:read'] });
const patch = (by: TestClient, url: string, payload: object) => by.mutate({ method: 'PATCH', url, payload });
const stored = () =>
  asOwner(world, `select 1 from webhook_endpoints where organization_id = '${owner.organization.id}'`);

test('an endpoint has defaults, and its secret is shown once and sealed', async () => {
  const created = await client.post('/v1/webhook-endpoints', input());
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  expect(created.headers.location).toBe(`/v1/webhook-endpoints/${created.body.id}`);
  expect(created.body).toMatchObject({
    ...input(),
    secret: expect.stringMatching(secretForm),
    ordering: 'record',
    max_in_flight: 5,
    max_per_second: 50,
    includes_record: false,
    status: 'enabled',
    disabled_reason: null,
  });
  const { body: read } = await client.get(`/v1/webhook-endpoints/${created.body.id}`);
  expect(read).not.toHaveProperty('secret');
  const rotated = await client.graphql(
    'mutation ($id: ID!) { rotateWebhookEndpoint(id: $id) { secret webhookEndpoint { rotatedAt } } }',
    { id: created.body.id },
  );
  const { secret } = rotated.data.rotateWebhookEndpoint;
  expect(secret).toMatch(secretForm);
  const rows = JSON.stringify([
    await asOwner(world, 'select * from webhook_endpoints'),
    await asOwner(world, 'select * from history'),
    await asOwner(world, 'select * from events'),
  ]);
  for (const shown of [created.body.secret, secret]) expect(rows).not.toContain(shown);
  expectProblem(await client.post('/v1/webhook-endpoints', input()), 'already_exists');
});

test.each([
  ['an unknown scheme', { url: 'ftp://example.com/' }, 'url'],
  ['http to a public address', { url: 'http://93.184.216.34/' }, 'url'],
  ['credentials in the URL', { url: 'https://user:secret@93.184.216.34/' }, 'url'],
  ['a name that does not exist', { url: 'https://nowhere.invalid/' }, 'url'],
  ['no URL', { url: 'here' }, 'url'],
  ['an unknown topic', { topics: ['task.created', 'task.eaten'] }, 'topics/1'],
  ['an unknown kind', { topics: ['unicorn.*'] }, 'topics/0'],
  ['a topic of credentials', { topics: ['api_token.created'] }, 'topics/0'],
  ['a topic of its own kind', { topics: ['webhook_endpoint.*'] }, 'topics/0'],
  ['no topic', { topics: [] }, 'topics'],
  ['no scope', { scopes: [] }, 'scopes'],
  ['an unknown scope', { scopes: ['task:fly'] }, 'scopes/0'],
  ['too many at once', { max_in_flight: 51 }, 'max_in_flight'],
])('an endpoint with %s is refused, and nothing is written', async (_name, wrong, path) => {
  const before = await stored();
  const answer = await client.post('/v1/webhook-endpoints', { ...input(), name: 'wrong', ...wrong });
  expectProblem(answer, 'invalid_input');
  expect(answer.body.errors.map((problem: { readonly path: string }) => problem.path)).toContain(`/${path}`);
  expect(await stored()).toEqual(before);
});

test('without configuration, private addresses and http are refused, when an endpoint is made and when it changes', async () => {
  const endpoint = await createdEndpoint(client, sink);
  await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'false' });
  try {
    for (const url of [sink.url, 'https://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'https://[::1]/']) {
      expectProblem(await client.post('/v1/webhook-endpoints', { ...input(), name: 'private', url }), 'invalid_input');
      expectProblem(await patch(client, endpoint.path, { url }), 'invalid_input');
    }
  } finally {
    await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' });
  }
});

test('nobody gives an endpoint scopes beyond their own rights, or sends what it may read elsewhere', async () => {
  const admin = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  const notes = { ...input(), topics: ['note.*'], scopes: ['note:read'] };
  expectProblem(await admin.post('/v1/webhook-endpoints', { ...notes, name: 'beyond' }), 'permission_denied');
  const { body: own } = await client.post('/v1/webhook-endpoints', { ...notes, name: 'notes' });
  const path = `/v1/webhook-endpoints/${own.id}`;
  for (const change of [{ url: sink.url }, { topics: ['*'] }, { scopes: ['note:read'] }, { includes_record: true }])
    expectProblem(await patch(admin, path, change), 'permission_denied');
  expectProblem(await admin.post(`${path}/rotate`), 'permission_denied');
  // Stopping it is up to every manager.
  expect((await patch(admin, path, { status: 'disabled' })).body).toMatchObject({
    status: 'disabled',
    topics: ['note.*'],
  });
});

test('only managers see and change endpoints, those of their own organization', async () => {
  const { id, path } = await createdEndpoint(client, sink);
  const member = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'member' }));
  const stranger = await signedIn(world, await buildPerson(world));
  expectProblem(await member.post('/v1/webhook-endpoints', { ...input(), name: 'mine' }), 'permission_denied');
  for (const other of [member, stranger])
    for (const url of [path, `${path}/messages`, `${path}/attempts`]) expectProblem(await other.get(url), 'not_found');
  expectProblem(await stranger.post(`${path}/test`), 'not_found');
  expectProblem(await stranger.post(`${path}/replay`, { event_ids: ['x'] }), 'not_found');
  expectProblem(await stranger.post(`${path}/rotate`), 'not_found');
  const { errors } = (await stranger.graphql('query ($id: ID!) { webhookAttempts(id: $id) { id } }', {
    id,
  })) as { readonly errors?: readonly { readonly extensions: object }[] };
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'not_found' });
});

test('an endpoint is changed over REST and GraphQL, with the version it is based on', async () => {
  const { id, path } = await createdEndpoint(client, sink);
  const changed = await patch(client, path, { name: 'renamed', topics: ['*'], ordering: 'none' });
  expect(changed.body, JSON.stringify(changed.body)).toMatchObject({
    name: 'renamed',
    topics: ['*'],
    ordering: 'none',
    record_version: 2,
  });
  expect(changed.headers.etag).toBe('"2"');
  expectProblem(await patch(client, path, { name: 'late', record_version: 1 }), 'stale_record');
  const { data } = await client.graphql(
    'mutation ($id: ID!) { updateWebhookEndpoint(id: $id, input: { status: DISABLED }) { webhookEndpoint { status disabledReason disabledAt } } }',
    { id },
  );
  expect(data.updateWebhookEndpoint.webhookEndpoint).toEqual({
    status: 'DISABLED',
    disabledReason: 'BY_HAND',
    disabledAt: expect.any(String),
  });
  expectProblem(await client.post(`${path}/test`), 'invalid_input');
  expectProblem(await client.post(`${path}/replay`, {}), 'invalid_input');
  expect((await patch(client, path, { status: 'enabled' })).status).toBe(200);
  for (const since of ['2016-12-31T23:59:60Z', '0000-01-01T00:00:00Z', 'yesterday'])
    expectProblem(await client.post(`${path}/replay`, { since }), 'invalid_input');
  const { errors } = (await client.graphql(
    'mutation ($id: ID!) { replayWebhookMessages(id: $id, eventIds: ["\\u0000"]) { replayedCount } }',
    { id },
  )) as { readonly errors?: readonly { readonly extensions: object }[] };
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'invalid_input' });
});

test('a test message and what is sent are listed in pages', async () => {
  const { id, path } = await createdEndpoint(client, sink);
  const ids: string[] = [];
  for (let count = 0; count < 3; count++) ids.push((await client.post(`${path}/test`)).body.event_id);
  const { body } = await client.get(`${path}/messages?first=2`);
  const shown = body.data.map((message: { readonly event_id: string }) => message.event_id);
  expect(shown).toEqual([ids[2], ids[1]]);
  expect((await client.get(`${path}/messages?first=2&after=${shown[1]}`)).body.data).toMatchObject([
    { event_id: ids[0], type: 'webhook_endpoint.tested', state: 'due' },
  ]);
  const { data, errors } = await client.graphql(
    'query ($id: ID!) { webhookMessages(id: $id, state: DUE, first: 5) { eventId topic state dueAt } }',
    { id },
  );
  expect(errors).toBeUndefined();
  expect(data.webhookMessages).toHaveLength(3);
});

test('the types of events are listed with schema and example', async () => {
  const { body } = await client.get('/v1/event-types');
  const types = new Map<string, object>(body.data.map((type: { readonly type: string }) => [type.type, type]));
  expect(types.get('task.created')).toMatchObject({
    version: 1,
    schema: { properties: { type: { const: 'task.created' } } },
    example: { type: 'task.created', data: { kind: 'task' } },
  });
  for (const topic of ['api_token.created', 'session.created', 'password_reset.requested', 'secret.created'])
    expect(types.has(topic), topic).toBe(false);
});
