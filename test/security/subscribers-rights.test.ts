import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { EventSubscriber, type SubscriberMessage } from '../kit/events/event-subscriber.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { SocketSubscriber } from '../kit/events/socket-subscriber.ts';
import { bearerOf, type TestClient } from '../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../kit/world.ts';

/** T-52: what is subscribed to is guarded like what is asked for, and ends with the right to it. */
let world: World;
/** Where the rights change: another process. */
let elsewhere: Instance;
let url: string;
let owner: Person;
let boss: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true',
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 's'.repeat(40),
      CORE_SERVER_CORS_ENABLED: 'true',
      CORE_SERVER_CORS_ALLOWORIGINS: 'https://console.example.com',
    },
  });
  ({ url } = await world.listen());
  elsewhere = await world.openInstance();
  owner = await buildPerson(world);
  boss = await signedIn(elsewhere, owner);
});
afterAll(async () => {
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  await world.close();
});

const changes = `subscription ($after: String) { recordChanged(kinds: [TASK], after: $after) {
  operation id cursor record { id ... on Task { title } } } }`;

type Headers = Readonly<Record<string, string>>;

interface Subscribed {
  next: () => Promise<SubscriberMessage | undefined>;
  /** The code of the reason for which it ends. */
  ended: () => Promise<string>;
  close: () => void;
}

const ways = ['server-sent events', 'websocket', 'websocket with connection_init'] as const;
type Way = (typeof ways)[number];

async function subscribed(way: Way, headers: Headers, query = changes, variables: object = {}): Promise<Subscribed> {
  if (way === 'server-sent events') {
    const subscriber = await EventSubscriber.open(url, query, headers, variables);
    await subscriber.next();
    return {
      next: () => subscriber.next(),
      close: () => subscriber.close(),
      ended: async () => {
        const last = await subscriber.next();
        expect(await subscriber.next()).toBeUndefined();
        return last?.errors?.[0]?.extensions.code ?? JSON.stringify(last);
      },
    };
  }
  const subscriber = await (way === 'websocket'
    ? SocketSubscriber.open(url, { headers })
    : SocketSubscriber.open(url, {}, { Authorization: headers['authorization'] }));
  subscriber.subscribe(query, variables);
  await subscriber.next();
  return {
    next: () => subscriber.next(),
    close: () => subscriber.close(),
    ended: async () => {
      const { code, reason } = await subscriber.closed;
      expect(code).toBeOneOf([4401, 4403]);
      return reason.split(':')[0] ?? '';
    },
  };
}

function cookies(client: TestClient): string {
  return [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
}

async function createTask(by: TestClient, values: object): Promise<string> {
  const { body, status } = await by.post('/v1/tasks', values);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id as string;
}

/** The next change, which must be of this record: nothing was told before. */
async function expectNext({ next }: Subscribed, id: string): Promise<void> {
  expect((await next())?.data?.recordChanged).toMatchObject({ id });
}

describe.each(ways)('T-52: a subscription over %s', (way) => {
  test('nobody is told of records of other organizations, or of those that only others may view', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const foreign = await buildPerson(world);
    const [inside, outside] = [await signedIn(world, member), await signedIn(world, foreign)];
    const [own, other] = [await subscribed(way, bearerOf(inside)), await subscribed(way, bearerOf(outside))];
    await createTask(boss, { title: 'nobody but the boss' });
    const assigned = await createTask(boss, { title: 'for the member', assignee_id: member.user.id });
    const theirs = await createTask(outside, { title: 'of another organization' });
    await expectNext(own, assigned);
    await expectNext(other, theirs);
    own.close();
    other.close();
  });

  test('a right that is taken away ends the messages about its record', async () => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const subscriber = await subscribed(way, bearerOf(await signedIn(world, member)));
    const id = await createTask(boss, { title: 'for now', assignee_id: member.user.id });
    await expectNext(subscriber, id);
    await boss.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { assignee_id: null } });
    await boss.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload: { title: 'secret by now' } });
    const next = await createTask(boss, { title: 'again', assignee_id: member.user.id });
    await expectNext(subscriber, next);
    // T-60: whoever may not read the history of what is deleted does not learn of it either.
    await boss.mutate({ method: 'DELETE', url: `/v1/tasks/${next}` });
    const last = await createTask(boss, { title: 'the last', assignee_id: member.user.id });
    await expectNext(subscriber, last);
    subscriber.close();
  });

  test.each([
    ['the session ends', (client: TestClient) => client.post('/v1/logout')],
    [
      'the membership ends',
      async (_client: TestClient, { user }: Person) => {
        const { body } = await boss.get('/v1/memberships');
        const { id } = body.data.find(({ user_id: of }: { user_id: string }) => of === user.id);
        return boss.mutate({ method: 'DELETE', url: `/v1/memberships/${id}` });
      },
    ],
    [
      'the person is deactivated',
      async (_client: TestClient, { user }: Person) => {
        await asOwner(world, `update users set status = 'deactivated' where id = $1`, [user.id]);
      },
    ],
  ])('it ends with a reason when %s, in another process', async (_what, end) => {
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const client = await signedIn(elsewhere, member);
    const subscriber = await subscribed(way, bearerOf(client));
    await end(client, member);
    expect(await subscriber.ended()).toBeOneOf(['unauthenticated', 'permission_denied']);
  });

  test('it ends when an API token is revoked, or lacks the scope', async () => {
    const create = async (scope: string) => {
      const { data, errors } = await boss.graphql(
        `mutation { createApiToken(input: { name: "${way} ${scope}", scopes: ["${scope}"] }) { token apiToken { id } } }`,
      );
      expect(errors).toBeUndefined();
      return data.createApiToken as { token: string; apiToken: { id: string } };
    };
    const [reader, other] = [await create('task:read'), await create('note:read')];
    const headersOf = ({ token }: { token: string }) => ({ authorization: `Bearer ${token}` });
    const [told, untold] = [await subscribed(way, headersOf(reader)), await subscribed(way, headersOf(other))];
    await expectNext(told, await createTask(boss, { title: 'for programs' }));
    await boss.graphql(`mutation { deleteApiToken(id: "${reader.apiToken.id}") { deletedId } }`);
    expect(await told.ended()).toBe('unauthenticated');
    await boss.graphql(`mutation { deleteApiToken(id: "${other.apiToken.id}") { deletedId } }`);
    // Nothing came before.
    expect(await untold.ended()).toBe('unauthenticated');
  });
});

test('T-52: a subscription ends when its token expires', async () => {
  const own = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  const { url: address } = await own.listen();
  const client = await signedIn(own, await buildPerson(own));
  const events = await EventSubscriber.open(address, changes, bearerOf(client));
  const socket = await SocketSubscriber.open(address, { headers: bearerOf(client) });
  await events.next();
  own.clock.advance(own.config.current.auth.token.accessduration + 1_000);
  expect(await events.next()).toMatchObject({ errors: [{ extensions: { code: 'unauthenticated' } }] });
  expect(await socket.closed).toMatchObject({ code: 4401 });
  await own.close();
});

test('T-52: without credentials, or with wrong ones, there is nothing to subscribe to', async () => {
  const { body, status } = await world
    .client()
    .post('/graphql', { query: changes }, { accept: 'text/event-stream', authorization: 'Bearer x' });
  expect([status, body.errors[0].extensions.code]).toEqual([401, 'unauthenticated']);
  const none = await world
    .client()
    .get(`/graphql?${new URLSearchParams({ query: changes })}`, { accept: 'text/event-stream' });
  expectGraphqlError(none, 'unauthenticated');
  for (const payload of [
    undefined,
    {},
    { Authorization: 'Bearer x' },
    { Authorization: 'nonsense' },
    { Authorization: 5 },
  ]) {
    const socket = new SocketSubscriber(url);
    await socket.opened();
    socket.send({ type: 'connection_init', payload });
    expect(await socket.closed).toMatchObject({ code: 4401 });
  }
  await expect(SocketSubscriber.open(url, { headers: { authorization: 'Bearer x' } })).rejects.toThrow('401');
});

test('T-52: pages of other websites cannot subscribe with the cookies of a browser', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const cookie = cookies(client);
  const { host } = new URL(url);
  for (const origin of ['https://evil.example.net', 'null', `http://${host}.example.net`, undefined]) {
    const headers: Record<string, string> = { cookie, ...(origin ? { origin } : {}) };
    await expect(SocketSubscriber.open(url, { headers }), origin).rejects.toThrow('403');
    if (origin === undefined) continue;
    const answer = await fetch(`${url}/graphql?${new URLSearchParams({ query: changes })}`, {
      headers: { ...headers, accept: 'text/event-stream' },
    });
    expect([answer.status, (await answer.json()).errors[0].extensions.code]).toEqual([403, 'foreign_origin']);
  }
  for (const origin of [url, 'https://console.example.com']) {
    const socket = await SocketSubscriber.open(url, { headers: { cookie, origin } });
    socket.subscribe(changes);
    expect((await socket.next())?.data.recordChanged.operation).toBe('POSITION');
    socket.close();
  }
  // POST needs the CSRF token.
  const post = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { cookie, accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ query: changes }),
  });
  expect([post.status, (await post.json()).errors[0].extensions.code]).toEqual([403, 'csrf_token_missing']);
});

test('T-52: no other address becomes a websocket, and other protocols are refused', async () => {
  const upgrade = [
    'connection: upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-protocol: graphql-transport-ws',
  ];
  for (const path of ['/', '/livez', '/v1/tasks', '/graphql/', '/graphql/stream', '/metrics', '/graphiql'])
    expect(await statusOf(`GET ${path} HTTP/1.1\r\nhost: x\r\n${upgrade.join('\r\n')}\r\n\r\n`), path).not.toBe(101);
  const headers = bearerOf(boss);
  const authorization = `authorization: ${headers['authorization']}`;
  for (const [line, wrong] of [
    ['sec-websocket-version: 13', 'sec-websocket-version: 1'],
    ['sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-key: x'],
    ['upgrade: websocket', 'upgrade: h2c'],
  ] as const) {
    const lines = upgrade.map((one) => (one === line ? wrong : one));
    expect(
      await statusOf(`GET /graphql HTTP/1.1\r\nhost: x\r\n${authorization}\r\n${lines.join('\r\n')}\r\n\r\n`),
    ).not.toBe(101);
  }
  const old = upgrade.map((one) =>
    one.startsWith('sec-websocket-protocol') ? 'sec-websocket-protocol: graphql-ws' : one,
  );
  const bytes = await answerTo(`GET /graphql HTTP/1.1\r\nhost: x\r\n${authorization}\r\n${old.join('\r\n')}\r\n\r\n`);
  // Close 4406.
  expect(bytes.includes(Buffer.from([4406 >> 8, 4406 & 255]))).toBe(true);
});

/** What the server sends until it closes the connection. */
function answerTo(request: string): Promise<Buffer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    const parts: Buffer[] = [];
    socket.on('data', (part) => parts.push(part));
    socket.on('error', () => {});
    socket.once('close', () => resolve(Buffer.concat(parts)));
    socket.setTimeout(20_000, () => socket.destroy());
  });
}

async function statusOf(request: string): Promise<number> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(request));
    socket.once('data', (part) => {
      resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(part.toString())?.[1]));
      socket.destroy();
    });
    socket.on('error', () => resolve(0));
  });
}

describe('hostile clients', () => {
  test('frames that are no messages, and too many of them, close the connection', async () => {
    const headers = bearerOf(boss);
    for (const [frames, code] of [
      [['not json'], 4400],
      [['{"type":"nonsense"}'], 4400],
      [['[]'], 4400],
      [[Buffer.from([1, 2, 3])], 4400],
      [[JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 5 } })], 4400],
      [['x'.repeat(2_000_000)], 1009],
      [[JSON.stringify({ type: 'connection_init' })], 4429],
      [
        [
          JSON.stringify({ id: 'same', type: 'subscribe', payload: { query: changes } }),
          JSON.stringify({ id: 'same', type: 'subscribe', payload: { query: changes } }),
        ],
        4409,
      ],
    ] as const) {
      const socket = await SocketSubscriber.open(url, { headers });
      for (const frame of frames) socket.socket.send(frame);
      expect(await socket.closed, String(frames[0]).slice(0, 80)).toMatchObject({ code });
    }
    const early = new SocketSubscriber(url, { headers });
    await early.opened();
    early.subscribe(changes);
    expect(await early.closed).toMatchObject({ code: 4401 });
  });

  test('10,000 subscriptions at once are too many, and the others go on', async () => {
    const headers = bearerOf(boss);
    const calm = await subscribed('websocket', headers);
    const socket = await SocketSubscriber.open(url, { headers });
    for (let index = 0; index < 10_000; index++) socket.subscribe(changes);
    expect(await socket.closed).toMatchObject({ code: 4429 });
    await expectNext(calm, await createTask(boss, { title: 'calm' }));
    calm.close();
    const many = await SocketSubscriber.open(url, { headers });
    for (let index = 0; index < 101; index++) many.subscribe(changes);
    const codes: (string | undefined)[] = [];
    for (let index = 0; index < 101; index++) codes.push((await many.next())?.errors?.[0]?.extensions.code);
    expect(codes.filter((code) => code !== undefined)).toEqual(['limit_exceeded']);
    many.close();
  });

  test('whoever says nothing after the handshake is sent away', async () => {
    const socket = new SocketSubscriber(url);
    await socket.opened();
    expect(await socket.closed).toMatchObject({ code: 4408 });
  });

  test('whoever does not take the messages is dropped with a reason, and can go on where it was', async () => {
    const own = await openWorld({
      environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true', CORE_SERVER_WRITETIMEOUT: '6000' },
    });
    const { url: address } = await own.listen();
    const person = await buildPerson(own);
    const client = await signedIn(own, person);
    const headers = bearerOf(client);
    const long = `subscription ($after: String) { recordChanged(kinds: [TASK], after: $after) { cursor operation id
      record { ... on Task { details } } } }`;
    const socket = await SocketSubscriber.open(address, { headers });
    socket.subscribe(long);
    const cursor = (await socket.next())?.data.recordChanged.cursor;
    const reader = (socket.socket as unknown as { _socket: { pause: () => void; resume: () => void } })._socket;
    reader.pause();
    const { body } = await client.post('/v1/tasks', { title: 'long', details: 'x'.repeat(9_000) });
    await asOwner(
      own,
      `insert into record_changes (id, entity_kind, entity_id, organization_id, operation, record_version)
       select lpad(n::text, 5, '0'), 'task', $1, $2, 'updated', n from generate_series(1, 3000) n`,
      [body.id, person.organization.id],
    );
    await eventually(() => own.logs.some(({ code }) => code === 'slow_consumer'));
    reader.resume();
    expect((await socket.closed).code).toBeOneOf([1013, 1006]);
    const again = await EventSubscriber.open(address, long, headers, { after: cursor });
    await again.next();
    const count = 3_001;
    for (let index = 0; index < count; index++) expect((await again.next())?.data.recordChanged.id).toBe(body.id);
    again.close();
    await own.close();
  });
});
