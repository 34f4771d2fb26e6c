import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { testCertificate } from '../../kit/servers/certificates.ts';
import { eventually } from '../../kit/eventually.ts';
import { EventSubscriber, type SubscriberMessage } from '../../kit/events/event-subscriber.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { http2Connection } from '../../kit/http/http2-client.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { SocketSubscriber } from '../../kit/events/socket-subscriber.ts';
import { shows } from '../../kit/shows.ts';
import { bearerOf, type TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let url: string;
let metricsUrl: string;
let person: Person;
let client: TestClient;
let headers: Record<string, string>;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  ({ url, metricsUrl } = await world.listen());
  person = await buildPerson(world);
  client = await signedIn(world, person);
  headers = bearerOf(client);
});
afterAll(async () => {
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  await world.close();
});

const changes = `subscription ($after: String, $ids: [ID!]) {
  recordChanged(kinds: [TASK], ids: $ids, after: $after) { operation kind id recordVersion cursor record { id ... on Task { title } } }
}`;

async function createTask(title: string): Promise<string> {
  const { data } = await client.graphql(
    `mutation ($title: String!) { createTask(input: { title: $title }) { task { id } } }`,
    { title },
  );
  return data.createTask.task.id as string;
}

/** A subscription by either way, which has begun. */
async function subscribed(
  way: string,
  query: string,
  variables: object = {},
): Promise<{ next: () => Promise<SubscriberMessage | undefined>; close: () => void }> {
  if (way === 'server-sent events') {
    const subscriber = await EventSubscriber.open(url, query, headers, variables);
    await subscriber.next();
    return subscriber;
  }
  const subscriber = await SocketSubscriber.open(url, { headers });
  subscriber.subscribe(query, variables);
  await subscriber.next();
  return subscriber;
}

describe.each(['server-sent events', 'websocket'])('subscriptions over %s', (way) => {
  test('changes are told with what is selected, and with a cursor from which to go on', async () => {
    const subscriber = await subscribed(way, changes);
    const id = await createTask('subscribed');
    const created = await subscriber.next();
    expect(created?.data.recordChanged).toMatchObject({
      operation: 'CREATED',
      kind: 'TASK',
      id,
      recordVersion: 1,
      record: { id, title: 'subscribed' },
    });
    await client.graphql(`mutation { updateTask(id: "${id}", input: { title: "again" }) { task { id } } }`);
    const updated = await subscriber.next();
    expect(updated?.data.recordChanged).toMatchObject({ operation: 'UPDATED', id, record: { title: 'again' } });
    await client.graphql(`mutation { deleteTask(id: "${id}") { deletedId } }`);
    const deleted = await subscriber.next();
    expect(deleted?.data.recordChanged).toMatchObject({ operation: 'DELETED', id, record: null });
    subscriber.close();

    const again = await subscribed(way, changes, { after: created?.data.recordChanged.cursor });
    // Deleted by now, so nobody can view what was updated.
    expect((await again.next())?.data.recordChanged).toMatchObject({ operation: 'DELETED', id });
    again.close();
  });

  test('only the named records are told of, and several names of one field have their own selections', async () => {
    const [wanted, other] = [await createTask('wanted'), await createTask('other')];
    const query = `subscription ($ids: [ID!]) { recordChanged(kinds: [TASK, NOTE], ids: $ids) {
      id one: record { __typename } ...more } }
      fragment more on RecordChange { record { ... on Task { title organization { id } } } }`;
    const subscriber = await subscribed(way, query, { ids: [wanted] });
    for (const id of [other, wanted])
      await client.graphql(`mutation { updateTask(id: "${id}", input: { title: "changed" }) { task { id } } }`);
    expect((await subscriber.next())?.data.recordChanged).toEqual({
      id: wanted,
      one: { __typename: 'Task' },
      record: { title: 'changed', organization: { id: person.organization.id } },
    });
    subscriber.close();
  });
});

test('a create costs no further statement', async () => {
  const { headers: answered } = await client.post('/v1/tasks', { title: 'counted' });
  const line = world.logs.find(({ msg, request_id: id }) => msg === 'request' && id === answered['x-request-id']);
  expect(Number(line?.['statements'])).toBeLessThanOrEqual(7);
});

test('a change that was there before is not told', async () => {
  await createTask('before');
  const subscriber = await subscribed('websocket', changes);
  const id = await createTask('after');
  expect((await subscriber.next())?.data.recordChanged).toMatchObject({ id, operation: 'CREATED' });
  subscriber.close();
});

test('a subscription that cannot begin says why, by either way', async () => {
  const socket = await SocketSubscriber.open(url, { headers });
  for (const [query, variables, code, text] of [
    ['subscription { recordChanged(kinds: []) { id } }', {}, 'invalid_input', 'at least one kind'],
    ['subscription { recordChanged(kinds: [NOTHING]) { id } }', {}, 'invalid_input', 'kinds/0 must be one of'],
    ['subscription { recordChanged(kinds: [TASK]) { nothing } }', {}, 'invalid_input', 'nothing'],
    [
      'subscription { recordChanged(kinds: [TASK]) { id } a: recordChanged(kinds: [NOTE]) { id } }',
      {},
      'invalid_input',
      'only one',
    ],
    [changes, { after: 'nonsense' }, 'invalid_input', 'not a cursor'],
    [changes, { after: 5 }, 'invalid_input', 'after'],
    [changes, { ids: Array.from({ length: 101 }, () => 'x') }, 'limit_exceeded', '100'],
    ['subscription { exportProgress(id: "01M89KHCKT7A5R7E5RB70JE8ZQ") { id } }', {}, 'not_found', 'Export'],
  ] as const) {
    socket.subscribe(query, variables);
    const refused = await socket.next();
    expect(refused?.errors?.[0], query).toMatchObject({
      message: expect.stringContaining(text),
      extensions: { code },
    });
    const answer = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    expect(await answer.text(), query).toContain(text);
  }
  socket.close();
});

test('queries and mutations are not for websockets, and a subscription is not answered with JSON', async () => {
  const socket = await SocketSubscriber.open(url, { headers });
  for (const query of ['{ self { id } }', 'mutation { createTask(input: { title: "by socket" }) { task { id } } }']) {
    socket.subscribe(query);
    expect((await socket.next())?.errors?.[0]).toMatchObject({
      message: expect.stringContaining('POST'),
      extensions: { code: 'invalid_input' },
    });
  }
  socket.close();
  expectGraphqlError(await client.post('/graphql', { query: changes }), 'not_acceptable', changes);
  expectGraphqlError(await client.get(`/graphql?${new URLSearchParams({ query: changes })}`), 'not_acceptable');
});

test('GET has subscriptions as well, for EventSource', async () => {
  const answer = await fetch(`${url}/graphql?${new URLSearchParams({ query: changes })}`, {
    headers: { ...headers, accept: 'text/event-stream' },
  });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  await answer.body?.cancel();
});

test('metrics and log lines tell of subscriptions', async () => {
  const subscriber = await subscribed('websocket', changes);
  await createTask('measured');
  await subscriber.next();
  const scraped = await (await fetch(metricsUrl)).text();
  expect(scraped).toMatch(/core_subscription_connections [1-9]/);
  expect(scraped).toMatch(/core_subscriptions [1-9]/);
  expect(scraped).toMatch(/core_subscriptions_opened_total\{transport="websocket"\} [1-9]/);
  expect(scraped).toMatch(/core_subscription_messages_total\{field="recordChanged"\} [1-9]/);
  expect(scraped).toMatch(/core_subscription_delay_seconds_count [1-9]/);
  subscriber.close();
  await eventually(async () =>
    /core_subscriptions_ended_total\{reason="client"\} [1-9]/.test(await (await fetch(metricsUrl)).text()),
  );
  expect(world.logs.filter(({ msg, status }) => msg === 'request' && status === 101).length).toBeGreaterThan(0);
});

test('enablegraphsubscriptions: without it, every subscription is refused', async () => {
  shows('server.enablegraphsubscriptions');
  const instance = await world.openInstance({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'false' } });
  const { url: other } = await instance.listen();
  const answer = await fetch(`${other}/graphql`, {
    method: 'POST',
    headers: { ...headers, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: changes }),
  });
  expect(answer.status).toBe(503);
  expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'subscriptions_disabled' } }] });
  await expect(SocketSubscriber.open(other, { headers })).rejects.toThrow('503');
});

test('a process that stops tells its subscribers, who go on at another one', async () => {
  const instance = await world.openInstance();
  const listening = await instance.listen();
  const { url: first } = listening;
  const events = await EventSubscriber.open(first, changes, headers);
  const socket = await SocketSubscriber.open(first, { headers });
  socket.subscribe(changes);
  const position = (await socket.next())?.data.recordChanged.cursor;
  await events.next();
  const stopped = listening.close();
  expect(await socket.closed).toMatchObject({ code: 1001, reason: expect.stringContaining('shutting_down') });
  expect(await events.next()).toMatchObject({ errors: [{ extensions: { code: 'shutting_down' } }] });
  expect(await events.next()).toBeUndefined();
  const id = await createTask('meanwhile');
  await stopped;
  const again = await subscribed('websocket', changes, { after: position });
  expect((await again.next())?.data.recordChanged).toMatchObject({ operation: 'CREATED', id });
  again.close();
});

test('over HTTPS there are streams with HTTP/2, and websockets', async () => {
  const { cert, key } = testCertificate();
  const folder = await mkdtemp(join(tmpdir(), 'core-subscriptions-'));
  const files = { CERTFILE: join(folder, 'server.crt'), CERTKEY: join(folder, 'server.key') };
  await writeFile(files.CERTFILE, cert);
  await writeFile(files.CERTKEY, key, { mode: 0o600 });
  const instance = await world.openInstance({
    environment: {
      CORE_SERVER_TLS_ENABLED: 'true',
      CORE_SERVER_TLS_CERTFILE: files.CERTFILE,
      CORE_SERVER_TLS_CERTKEY: files.CERTKEY,
    },
  });
  const { url: secure } = await instance.listen();
  const session = await http2Connection(secure, cert);
  const stream = session.request({
    ':method': 'POST',
    ':path': '/graphql',
    'content-type': 'application/json',
    accept: 'text/event-stream',
    ...headers,
  });
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  stream.end(JSON.stringify({ query: changes }));
  await eventually(() => text.includes('POSITION'));
  const socket = await SocketSubscriber.open(secure, { headers, ca: cert });
  socket.subscribe(changes);
  await socket.next();
  const id = await createTask('secure');
  expect((await socket.next())?.data.recordChanged.id).toBe(id);
  await eventually(() => text.includes(id));
  socket.close();
  session.destroy();
  await rm(folder, { recursive: true });
});

test('the client that most programs use understands it', async () => {
  const program = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { Authorization: headers['authorization'] },
  });
  const told = program.iterate<{ recordChanged: { operation: string; id: string | null } }>({ query: changes });
  expect((await told.next()).value.data.recordChanged.operation).toBe('POSITION');
  const id = await createTask('for a program');
  expect((await told.next()).value.data.recordChanged.id).toBe(id);
  await told.return?.();
  await program.dispose();
});
