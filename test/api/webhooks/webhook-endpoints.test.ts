import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { createdEndpoint } from '../../kit/events/created-endpoint.ts';
import { openWorld, type World } from '../../kit/world.ts';

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
  ['a topic without the scope for it', { topics: ['task.*', 'group.updated'] }, 'topics/1'],
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

test('unknown topics and unknown scopes are told of together', async () => {
  const wrong = { topics: ['task.eaten'], scopes: ['task:fly'] };
  const { body } = await client.post('/v1/webhook-endpoints', { ...input(), name: 'wrong', ...wrong });
  expect(body.errors).toMatchObject([{ path: '/topics/0' }, { path: '/scopes/0' }]);
});

test('T-83: without configuration, private addresses and http are refused, when an endpoint is made and when it changes', async () => {
  shows('workflows.webhookallowprivateaddresses');
  const endpoint = await createdEndpoint(client, sink);
  await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'false' });
  try {
    for (const url of [sink.url, 'https://127.0.0.1/', 'https://localhost/', 'https://10.0.0.1/', 'https://[::1]/']) {
      const refused = await client.post('/v1/webhook-endpoints', { ...input(), name: 'private', url });
      expectProblem(refused, 'invalid_input');
      const named = ['/url', expect.stringContaining('; for development, workflows.webhookallowprivateaddresses')];
      expect(refused.body.errors.map(Object.values)).toEqual([named]);
      expectProblem(await patch(client, endpoint.path, { url }), 'invalid_input');
    }
  } finally {
    await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' });
  }
});

test('T-83: nobody but the configuration of the server allows private addresses', async () => {
  const endpoint = await createdEndpoint(client, sink);
  await world.reconfigure({ CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'false' });
  const names = ['webhookallowprivateaddresses', 'webhook_allow_private_addresses', 'allow_private_addresses', 'reach'];
  const before = await stored();
  try {
    for (const name of names) {
      const body = { ...input(), name: 'allowed', [name]: true };
      expectProblem(await client.post('/v1/webhook-endpoints', body), 'invalid_input');
      expectProblem(await client.post(`/v1/webhook-endpoints?${name}=true`, { ...input(), name }), 'invalid_input');
      expectProblem(await patch(client, endpoint.path, { url: sink.url, [name]: true }), 'invalid_input');
      const { body: settings } = await client.get('/v1/organization-settings');
      expectProblem(
        await patch(client, `/v1/organization-settings/${settings.data[0].id}`, { [name]: true }),
        'invalid_input',
      );
      const answer = await world.client().request({
        method: 'POST',
        url: '/v1/webhook-endpoints',
        headers: { authorization: `Bearer ${client.cookies.get('access_token')}`, [`x-${name}`]: 'true' },
        payload: { ...input(), name },
      });
      expectProblem(answer, 'invalid_input');
    }
    const { errors } = (await client.graphql(
      'mutation ($url: String!) { createWebhookEndpoint(input: { name: "allowed", url: $url, topics: ["task.*"], scopes: ["task:read"], allowPrivateAddresses: true }) { secret } }',
      { url: sink.url },
    )) as { readonly errors?: readonly object[] };
    expect(errors).toHaveLength(1);
    expect(await stored()).toEqual(before);
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
  for (const [body, message] of [
    [{}, 'send event_ids or since'],
    [{ event_ids: [id], since: '2026-01-31T12:00:00Z' }, 'send only one of event_ids and since'],
  ] as const)
    expect((await client.post(`${path}/replay`, body)).body).toMatchObject({
      code: 'invalid_input',
      errors: [{ path: '/', message }],
    });
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
    { event_id: ids[0], type: 'webhook_endpoint.tested', status: 'due' },
  ]);
  const { data, errors } = await client.graphql(
    'query ($id: ID!) { webhookMessages(id: $id, status: DUE, first: 5) { eventId type status dueAt } }',
    { id },
  );
  expect(errors).toBeUndefined();
  expect(data.webhookMessages).toHaveLength(3);
});

test('an endpoint gets ten test messages a minute and thirty replays in ten minutes, whoever of the managers asks', async () => {
  const { path } = await createdEndpoint(client, sink);
  const other = await createdEndpoint(client, sink);
  const admin = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  // Refused uses are not counted.
  await patch(client, path, { status: 'disabled' });
  for (let count = 0; count < 11; count++) expectProblem(await client.post(`${path}/test`), 'invalid_input');
  await patch(client, path, { status: 'enabled' });
  for (let count = 0; count < 10; count++)
    expect((await (count % 2 ? client : admin).post(`${path}/test`)).status).toBe(202);
  const refused = await admin.post(`${path}/test`);
  expectProblem(refused, 'too_many_requests');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect((await client.get(`${path}/messages?first=50`)).body.data).toHaveLength(10);
  // Each limit is of its own, and so is each endpoint.
  const since = new Date(world.clock.now().getTime() - 1_000).toISOString();
  expect((await client.post(`${path}/replay`, { since })).status).toBe(202);
  expect((await client.post(`${other.path}/test`)).status).toBe(202);
  for (let count = 1; count < 30; count++) expect((await client.post(`${path}/replay`, { since })).status).toBe(202);
  expectProblem(await client.post(`${path}/replay`, { since }), 'too_many_requests');
  // The limit is checked before anything else is done.
  expectProblem(await client.post(`${path}/replay`, { event_ids: ['no id'] }), 'too_many_requests');
  const sendTest = 'mutation ($id: ID!) { testWebhookEndpoint(id: $id) { eventId } }';
  const toNone = await client.graphql(sendTest, { id: randomBytes(5_000).toString('hex') });
  expectGraphqlError(toNone, 'not_found');
  world.clock.advance(61_000);
  expect((await client.post(`${path}/test`)).status).toBe(202);
});

test('an organization has fifty endpoints at most, however many are made at the same time', async () => {
  const person = await buildPerson(world);
  const by = await signedIn(world, person);
  const create = (number: number) => by.post('/v1/webhook-endpoints', { ...input(), name: `endpoint ${number}` });
  for (let number = 0; number < 46; number++) expect((await create(number)).status).toBe(201);
  const answers = await Promise.all(Array.from({ length: 12 }, (_, number) => create(46 + number)));
  const refused = answers.filter(({ status }) => status !== 201);
  for (const answer of refused) expectProblem(answer, 'limit_exceeded');
  expect(refused).toHaveLength(8);
  const made = 'select 1 from webhook_endpoints where organization_id = $1';
  expect(await asOwner(world, made, [person.organization.id])).toHaveLength(50);
});

test('a replay names a thousand events at most, over REST and GraphQL', async () => {
  const { id, path } = await createdEndpoint(client, sink);
  const ids = (count: number) => Array.from({ length: count }, () => newId());
  const tooMany = await client.post(`${path}/replay`, { event_ids: ids(1_001) });
  expectProblem(tooMany, 'invalid_input');
  const replay = async (eventIds: readonly string[]) =>
    (await client.graphql(
      'mutation ($id: ID!, $eventIds: [ID!]) { replayWebhookMessages(id: $id, eventIds: $eventIds) { replayedCount } }',
      { id, eventIds },
    )) as {
      readonly data?: unknown;
      readonly errors?: readonly { readonly extensions: object; readonly message: string }[];
    };
  const { errors } = await replay(ids(1_001));
  const [{ message }] = tooMany.body.errors;
  expect(errors?.[0]?.extensions).toMatchObject({
    code: 'invalid_input',
    errors: [{ path: '/eventIds', message }],
  });
  expect((await replay(ids(1_000))).data).toEqual({ replayWebhookMessages: { replayedCount: 0 } });
});

test('attempts of one event are found by an index, however many others the endpoint has', async () => {
  const endpointId = newId();
  await asOwner(
    world,
    `insert into webhook_attempts (id, endpoint_id, event_id, topic, number, attempted_at, duration_ms)
     select 'a' || n, $1, 'e' || n, 'task.created', 1, now(), 1 from generate_series(1, 20000) n`,
    [endpointId],
  );
  await asOwner(world, 'analyze webhook_attempts');
  const plan = await asOwner<{ 'QUERY PLAN': string }>(
    world,
    `explain select * from webhook_attempts where endpoint_id = $1 and event_id = $2 order by id desc limit 50`,
    [endpointId, 'e7'],
  );
  expect(JSON.stringify(plan)).toContain('webhook_attempts_event');
  await asOwner(world, 'delete from webhook_attempts where endpoint_id = $1', [endpointId]);
});

test('the types of events are listed with schema and example', async () => {
  const { body } = await client.get('/v1/event-types');
  const types = new Map<string, object>(body.data.map((type: { readonly type: string }) => [type.type, type]));
  expect(types.get('task.created')).toMatchObject({
    version: 1,
    schema: { properties: { type: { const: 'task.created' } } },
    example: { type: 'task.created', data: { kind: 'task' } },
  });
  // A security log can be kept from these; credentials are in none.
  for (const topic of ['api_token.created', 'session.created', 'membership.created', 'invite.created'])
    expect(types.has(topic), topic).toBe(true);
  for (const topic of ['password_reset.requested', 'secret.created']) expect(types.has(topic), topic).toBe(false);
});
