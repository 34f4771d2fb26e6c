import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { createdEndpoint, verified, type TestEndpoint } from '../../kit/events/created-endpoint.ts';
import { holdRow } from '../../kit/records/held-row.ts';
import { openWorld, type World } from '../../kit/world.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** What is shown of a message or an attempt. */
interface ShownEntry {
  readonly due_at: string | null;
  readonly number: number;
  readonly status: number | null;
  readonly response: string | null;
}

let world: World;
let owner: Person;
let client: TestClient;
let sink: WebhookSink;

beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_WORKFLOWS_WEBHOOKALLOWPRIVATEADDRESSES: 'true' } });
});
afterAll(() => world.close());

beforeEach(async () => {
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
  sink = await WebhookSink.open();
});
afterEach(() => sink.close());

const newTask = async (title = 'review it'): Promise<string> =>
  (await client.post('/v1/tasks', { title })).body.id as string;
const rename = (id: string, title: string) =>
  client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title } });
const arrived = (count: number) => eventually(() => sink.received.length >= count);
const messages = async ({ path }: TestEndpoint, query = '') =>
  (await client.get(`${path}/messages${query}`)).body.data as ShownEntry[];
const attempts = async ({ path }: TestEndpoint) => (await client.get(`${path}/attempts`)).body.data as ShownEntry[];
const untilState = (endpoint: TestEndpoint, state: string, count = 1) =>
  eventually(async () => (await messages(endpoint, `?status=${state}`)).length === count);
const untilAttempts = (endpoint: TestEndpoint, count: number) =>
  eventually(async () => (await attempts(endpoint)).length >= count);

describe('a message', () => {
  test('is signed, thin, and says what happened to which record', async () => {
    const endpoint = await createdEndpoint(client, sink);
    const created = await client.post('/v1/tasks', { title: 'review it' });
    await arrived(1);
    const [message] = sink.received;
    const id = verified(message!, endpoint.secret, world.clock.now());
    expect(message!.headers['content-type']).toBe('application/json');
    expect(JSON.parse(message!.body)).toEqual({
      type: 'task.created',
      timestamp: created.body.created_at,
      data: {
        kind: 'task',
        id: created.body.id,
        organization_id: owner.organization.id,
        version: 1,
        request_id: created.headers['x-request-id'],
        actor: `user:${owner.user.id}`,
        changed: expect.arrayContaining(['title']),
      },
    });
    const [event] = await asOwner(world, `select id from events where entity_id = '${created.body.id}'`);
    expect(id).toBe(event?.['id']);
    await untilState(endpoint, 'delivered');
    expect(await messages(endpoint)).toEqual([
      expect.objectContaining({ event_id: id, type: 'task.created', status: 'delivered', attempts: 0, due_at: null }),
    ]);
    expect(await attempts(endpoint)).toEqual([
      expect.objectContaining({ event_id: id, number: 1, status: 204, problem: null, response: '' }),
    ]);
  });

  test('goes to endpoints of its organization that want its topic and may read its kind', async () => {
    const other = await WebhookSink.open();
    try {
      await createdEndpoint(client, other, { topics: ['task.deleted'] });
      await createdEndpoint(client, other, { topics: ['*'], scopes: ['note:read'] });
      const stranger = await signedIn(world, await buildPerson(world));
      await createdEndpoint(stranger, other);
      await createdEndpoint(client, sink, { topics: ['*'], scopes: ['task:write'] });
      await newTask();
      await arrived(1);
      expect(other.received).toEqual([]);
      expect(
        await asOwner(world, `select 1 from webhook_messages where organization_id = '${owner.organization.id}'`),
      ).toHaveLength(1);
    } finally {
      await other.close();
    }
  });

  test('T-60: contains the record, if the endpoint asks for it, as it can be read at that attempt', async () => {
    const endpoint = await createdEndpoint(client, sink, { includes_record: true });
    sink.answer = () => ({ status: 500 });
    const id = await newTask('before');
    await arrived(1);
    await untilAttempts(endpoint, 1);
    await rename(id, 'after');
    sink.answer = () => ({ status: 200 });
    world.clock.advance(10 * second);
    await arrived(2);
    expect(sink.bodies.slice(0, 2).map(({ data }) => [data['version'], data.record?.['title']])).toEqual([
      [1, 'before'],
      [1, 'after'],
    ]);
    await arrived(3);
    await client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
    await arrived(4);
    expect(sink.bodies[3]).toMatchObject({ type: 'task.deleted', data: { record: null } });
  });

  test('about one record follows the one before it, and others go on', async () => {
    const endpoint = await createdEndpoint(client, sink, { max_per_second: 1_000 });
    const failing = await newTask('failing');
    await arrived(1);
    sink.answer = ({ body }) => ({ status: body.includes(failing) ? 500 : 200 });
    await rename(failing, 'again');
    await untilAttempts(endpoint, 2);
    await rename(failing, 'and again');
    await newTask('another');
    await arrived(3);
    await eventually(async () => (await messages(endpoint, '?status=delivered')).length === 2);
    sink.answer = () => ({ status: 200 });
    world.clock.advance(10 * second);
    await untilState(endpoint, 'delivered', 4);
    const versions = sink.bodies.filter(({ data }) => data['id'] === failing).map(({ data }) => data['version']);
    expect(versions).toEqual([1, 2, 2, 3]);
  });

  test('with thousands behind it about its record keeps no other waiting', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 500 });
    const failing = await newTask('failing');
    await untilAttempts(endpoint, 1);
    sink.answer = () => ({ status: 200 });
    await asOwner(
      world,
      `insert into webhook_messages (endpoint_id, event_id, organization_id, topic, entity_kind, entity_id, record_version, request_id,
         occurred_at, payload, state, due_at, updated_at)
       select $1::text, 'Z' || number, $2::text, 'task.updated', 'task', $3::text, number, 'planted', $4::timestamptz, '{}', 'due',
         $4::timestamptz, $4::timestamptz from generate_series(2, 2500) as number`,
      [endpoint.id, owner.organization.id, failing, new Date(world.clock.now().getTime() - second)],
    );
    const another = await newTask('another');
    await arrived(2);
    expect(sink.bodies.map(({ data }) => data['id'])).toEqual([failing, another]);
    expect((await client.mutate({ method: 'DELETE', url: endpoint.path })).status).toBe(204);
  });

  test('is not sent while too many others are under way', async () => {
    const endpoint = await createdEndpoint(client, sink, { max_in_flight: 2, ordering: 'none' });
    for (let count = 0; count < 8; count++) await newTask(`task ${count}`);
    await untilState(endpoint, 'delivered', 8);
    expect(sink.mostAtOnce).toBeLessThanOrEqual(2);
    expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(8);
  });

  test('that tests an endpoint arrives like all others', async () => {
    const endpoint = await createdEndpoint(client, sink);
    const { status, body } = await client.post(`${endpoint.path}/test`);
    expect(status).toBe(202);
    await arrived(1);
    expect(verified(sink.received[0]!, endpoint.secret, world.clock.now())).toBe(body.event_id);
    expect(sink.bodies[0]).toMatchObject({ type: 'webhook_endpoint.tested', data: { id: endpoint.id } });
  });
});

describe('a failed attempt', () => {
  test.each([
    ['an error', { status: 500, body: 'broken' }, { status: 500, problem: null, response: 'broken' }],
    [
      'a redirect',
      { status: 307, headers: { location: 'http://127.0.0.1:1/' } },
      { status: 307, problem: 'it answers with a redirect, which is not followed' },
    ],
    [
      'an encoded answer',
      { status: 200, headers: { 'content-encoding': 'gzip' }, body: 'x' },
      { status: 200, problem: 'its answer has a content coding that was not asked for' },
    ],
    [
      'a large answer',
      { status: 200, body: 'x'.repeat(70_000) },
      { status: null, problem: 'its answer has more than 65536 bytes' },
    ],
  ])('is %s, and the message is due again', async (_name, answer, logged) => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => answer;
    await newTask();
    await untilAttempts(endpoint, 1);
    expect(await attempts(endpoint)).toEqual([expect.objectContaining(logged)]);
    const [message] = await messages(endpoint);
    expect(message).toMatchObject({ status: 'due', attempts: 1 });
    const pause = Date.parse(message?.due_at ?? '') - world.clock.now().getTime();
    expect(pause).toBeGreaterThanOrEqual(5 * second);
    expect(pause).toBeLessThanOrEqual(5.5 * second);
  });

  test('keeps the first 4 KiB of the answer', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 400, body: `\0${'a'.repeat(5_000)}` });
    await newTask();
    await untilAttempts(endpoint, 1);
    const [attempt] = await attempts(endpoint);
    expect(attempt?.response).toBe(`\u{FFFD}${'a'.repeat(4_095)}`);
  });

  test('is followed by nine more, under the same id, and then the message is given up', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 500 });
    await newTask();
    for (let count = 1; count < 10; count++) {
      await untilAttempts(endpoint, count);
      world.clock.advance(27 * hour);
      client = await signedIn(world, owner);
      // Success in between, so that the endpoint is not disabled.
      await asOwner(
        world,
        `update webhook_queues set failing_since = null, failures = 0, blocked_until = null where endpoint_id = '${endpoint.id}'`,
      );
    }
    await untilState(endpoint, 'failed');
    expect(new Set(sink.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect((await attempts(endpoint)).map(({ number }) => number)).toEqual([10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('with Retry-After holds the endpoint back for as long as it says', async () => {
    const endpoint = await createdEndpoint(client, sink, { ordering: 'none' });
    sink.answer = () => ({ status: 429, headers: { 'retry-after': '600' } });
    await newTask('first');
    await untilAttempts(endpoint, 1);
    sink.answer = () => ({ status: 200 });
    await newTask('second');
    world.clock.advance(9 * minute);
    await client.post(`${endpoint.path}/test`);
    expect(sink.received).toHaveLength(1);
    world.clock.advance(minute + second);
    await untilState(endpoint, 'delivered', 3);
  });
});

describe('an endpoint that fails', () => {
  test('gets one message at a time after five failures, and all of them when it is back', async () => {
    const endpoint = await createdEndpoint(client, sink, { ordering: 'none', max_in_flight: 10 });
    sink.answer = () => ({ status: 500 });
    for (let count = 0; count < 5; count++) await newTask(`task ${count}`);
    await untilAttempts(endpoint, 5);
    for (let count = 0; count < 5; count++) await newTask(`later ${count}`);
    expect(await attempts(endpoint)).toHaveLength(5);
    sink.answer = () => ({ status: 200 });
    sink.mostAtOnce = 0;
    world.clock.advance(6 * second);
    await untilState(endpoint, 'delivered', 10);
    const last = (await attempts(endpoint)).toReversed().slice(5);
    expect(last.every(({ status }) => status === 200)).toBe(true);
  });

  test('is told of after a day and disabled after five; its messages are kept and sent again on demand', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 503 });
    const id = await newTask();
    await untilAttempts(endpoint, 1);
    const inbox = async () => {
      const { body } = await client.get('/v1/notifications?order_by=created_at');
      return body.data.map(({ topic }: { readonly topic: string }) => topic);
    };
    world.clock.advance(25 * hour);
    // Time passes for sessions as well.
    client = await signedIn(world, owner);
    await untilAttempts(endpoint, 2);
    await eventually(async () => (await inbox()).includes('webhook_endpoint.failing'));
    for (let days = 2; days <= 5; days++) {
      world.clock.advance(day);
      client = await signedIn(world, owner);
      await rename(id, `day ${days}`);
      const count = days + 1;
      await eventually(async () => {
        const { body } = await client.get(endpoint.path);
        return body.status === 'disabled' || (await attempts(endpoint)).length >= count;
      });
    }
    const { body: disabled } = await client.get(endpoint.path);
    expect(disabled).toMatchObject({ status: 'disabled', disabled_reason: 'failing' });
    await eventually(async () => (await inbox()).includes('webhook_endpoint.disabled'));
    expect((await inbox()).filter((topic: string) => topic === 'webhook_endpoint.failing')).toHaveLength(1);

    await rename(id, 'while it is disabled');
    const kept = await messages(endpoint, '?status=kept');
    expect(kept.length).toBeGreaterThanOrEqual(2);
    const count = sink.received.length;
    sink.answer = () => ({ status: 200 });
    expect((await client.post(`${endpoint.path}/replay`, { since: '2020-01-01T00:00:00Z' })).status).toBe(400);
    const enabled = await client.mutate({ method: 'PATCH', url: endpoint.path, payload: { status: 'enabled' } });
    expect(enabled.body).toMatchObject({ status: 'enabled', disabled_reason: null, disabled_at: null });
    const { body } = await client.post(`${endpoint.path}/replay`, { since: '2020-01-01T00:00:00Z' });
    expect(body).toEqual({ replayed_count: kept.length, next: null });
    await untilState(endpoint, 'delivered', kept.length);
    const versions = sink.bodies.slice(count).map(({ data }) => data['version'] as number);
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  });

  test('is disabled at once when it says that it is gone', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 410 });
    await newTask();
    await eventually(async () => (await client.get(endpoint.path)).body.disabled_reason === 'gone');
    await untilState(endpoint, 'kept');
  });

  test('delays no other endpoint', async () => {
    const hanging = await WebhookSink.open();
    try {
      hanging.answer = () => ({ status: 200, hangs: true });
      await createdEndpoint(client, hanging);
      const endpoint = await createdEndpoint(client, sink);
      for (let count = 0; count < 3; count++) await newTask(`task ${count}`);
      await untilState(endpoint, 'delivered', 3);
      await eventually(() => hanging.received.length > 0);
    } finally {
      await hanging.close();
    }
  });
});

test('an endpoint whose queue is locked for long keeps no other one from being woken', async () => {
  const [busy, endpoint] = [await createdEndpoint(client, sink), await createdEndpoint(client, sink)];
  await newTask();
  for (const each of [busy, endpoint]) await untilState(each, 'delivered', 1);
  // Its round ends.
  await eventually(
    async () =>
      (
        await asOwner(world, 'select 1 from webhook_queues where endpoint_id = $1 and next_at <= $2', [
          busy.id,
          world.clock.now(),
        ])
      ).length === 1,
  );
  const release = await holdRow(world, 'webhook_queues', busy.id, 'endpoint_id');
  await newTask('while it is locked');
  await untilState(endpoint, 'delivered', 2);
  expect(await messages(busy, '?status=delivered')).toHaveLength(1);
  await release();
  await untilState(busy, 'delivered', 2);
});

describe('sending again', () => {
  test('one message, or some, keeps their ids', async () => {
    const endpoint = await createdEndpoint(client, sink);
    await newTask();
    await untilState(endpoint, 'delivered');
    const id = sink.received[0]!.headers['webhook-id'];
    const { status, body } = await client.post(`${endpoint.path}/replay`, { event_ids: [id] });
    expect([status, body]).toEqual([202, { replayed_count: 1, next: null }]);
    await arrived(2);
    expect(sink.received.map(({ headers }) => headers['webhook-id'])).toEqual([id, id]);
    const { data } = await client.graphql(
      'mutation ($id: ID!, $ids: [ID!]) { replayWebhookMessages(id: $id, eventIds: $ids) { replayedCount next } }',
      { id: endpoint.id, ids: [id, newId()] },
    );
    expect(data.replayWebhookMessages).toEqual({ replayedCount: expect.any(Number), next: null });
  });
});

describe('a secret', () => {
  test('that was replaced signs together with the new one for a day', async () => {
    const endpoint = await createdEndpoint(client, sink);
    const { body } = await client.post(`${endpoint.path}/rotate`);
    expect(body.secret).not.toBe(endpoint.secret);
    await newTask();
    await arrived(1);
    for (const secret of [endpoint.secret, body.secret]) verified(sink.received[0]!, secret, world.clock.now());
    world.clock.advance(day);
    client = await signedIn(world, owner);
    await newTask();
    await arrived(2);
    verified(sink.received[1]!, body.secret, world.clock.now());
    expect(sink.received[1]!.headers['webhook-signature']).not.toContain(' ');
  });
});

describe('an endpoint that is deleted', () => {
  test('gets nothing more, and what belonged to it is gone', async () => {
    const endpoint = await createdEndpoint(client, sink);
    sink.answer = () => ({ status: 500 });
    await newTask();
    await untilAttempts(endpoint, 1);
    expect((await client.mutate({ method: 'DELETE', url: endpoint.path })).status).toBe(204);
    await newTask();
    world.clock.advance(10 * second);
    for (const table of ['webhook_messages', 'webhook_attempts', 'webhook_queues'])
      await eventually(
        async () => (await asOwner(world, `select 1 from ${table} where endpoint_id = '${endpoint.id}'`)).length === 0,
      );
    expect(sink.received).toHaveLength(1);
  });
});

describe('an organization that is deleted', () => {
  test('sends nothing more', async () => {
    const { data } = await client.graphql(
      'mutation ($name: String!) { createOrganization(input: { name: $name }) { organization { id } } }',
      { name: `Short-lived ${Date.now()}` },
    );
    const { id } = data.createOrganization.organization;
    expect((await client.post('/v1/switch', { target_organization_id: id })).status).toBe(200);
    // A new organization gets tasks of its own.
    const endpoint = await createdEndpoint(client, sink, { topics: ['task.updated'] });
    sink.answer = () => ({ status: 500 });
    await rename(await newTask(), 'changed');
    await untilAttempts(endpoint, 1);
    expect((await client.mutate({ method: 'DELETE', url: `/v1/organizations/${id}` })).status).toBe(204);
    world.clock.advance(10 * second);
    await eventually(
      async () =>
        (await asOwner(world, 'select 1 from webhook_messages where organization_id = $1', [id])).length === 0,
    );
    expect(sink.received).toHaveLength(1);
  });
});
