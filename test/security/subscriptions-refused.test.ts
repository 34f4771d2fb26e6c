import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { expectGraphqlError } from '../kit/graphql-error.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { exchange } from '../kit/raw-http.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

/**
 * T-52: what is subscribed to is guarded like what is asked for. There is nothing to subscribe to, which is why the case holds;
 * here stands that nothing opens, whoever tries, by whatever way.
 */
let world: World;
let url: string;
let paths: readonly string[];
let callers: ReadonlyMap<string, TestClient>;
/** Their credentials as headers, with the origin of a foreign page beside the cookie. */
let credentials: ReadonlyMap<string, Readonly<Record<string, string>>>;

beforeAll(async () => {
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  ({ url } = await world.listen());
  const byCookie = await signedIn(world, await buildPerson(world));
  const token = byCookie.cookies.get('access_token') ?? '';
  const byBearer = world.client();
  byBearer.bearer = token;
  callers = new Map([
    ['by cookie', byCookie],
    ['by bearer token', byBearer],
    ['by nothing', world.client()],
  ]);
  credentials = new Map<string, Record<string, string>>([
    [
      'by cookie',
      {
        cookie: `access_token=${token}; session=${byCookie.cookies.get('session')}`,
        origin: 'https://evil.example.net',
      },
    ],
    ['by bearer token', { authorization: `Bearer ${token}` }],
    ['by nothing', {}],
  ]);
  const { body } = await byCookie.get('/openapi.json');
  paths = ['/graphql', `/graphql?${ask('{ self { id } }')}`, `/graphql?${ask(subscription)}`, '/graphql/stream'].concat(
    Object.keys(body.paths as object).map((path) => path.replaceAll(/\{[^}]+\}/g, newId())),
  );
});
afterAll(async () => {
  const { server } = world.api.app;
  await eventually(async () => (await promisify(server.getConnections.bind(server))()) === 0);
  expect(world.logs.filter(({ level }) => level === 'error')).toEqual([]);
  await world.close();
});

const subscription = 'subscription { taskUpdated { id } }';
const streams = ['text/event-stream', 'multipart/mixed', 'multipart/mixed; subscriptionSpec="1.0"'];

function ask(query: string): string {
  return new URLSearchParams({ query }).toString();
}

test('T-52: the schema has no subscriptions', async () => {
  const message =
    'The schema has subscriptions now: write T-52 out for websockets and server-sent events: the same callers, ' +
    'the same check of the origin, tenancy and rights, and no further event once a right is taken away.';
  const printed = productSchema();
  expect(printed.getSubscriptionType()?.name, message).toBeUndefined();
  const { data } = await world.client().graphql('{ __schema { subscriptionType { name } } }');
  expect(data.__schema.subscriptionType, message).toBeNull();
});

describe.each(['by cookie', 'by bearer token', 'by nothing'])('T-52: %s', (name) => {
  test('a subscription is refused', async () => {
    const client = callers.get(name) as TestClient;
    for (const [query, operationName] of [
      [subscription],
      ['subscription { self { id } }'],
      ['subscription { __typename }'],
      ['subscription a { __typename } query b { self { id } }', 'a'],
      ['subscription a { __typename } query b { self { id } }', 'b'],
    ] as const)
      for (const accept of ['application/json', 'application/graphql-response+json', `${streams[0]}, */*`]) {
        const body = { query, ...(operationName ? { operationName } : {}) };
        for (const answer of [
          await client.post('/graphql', body, { accept }),
          await client.get(`/graphql?${new URLSearchParams(body)}`, { accept }),
        ]) {
          expectGraphqlError(answer, 'invalid_input', query);
          expect(JSON.stringify(answer.body.errors)).toContain('subscription operation is not supported');
        }
      }
  });

  test.each(streams)('a request that accepts only %s gets no stream and changes nothing', async (accept) => {
    const client = callers.get(name) as TestClient;
    const change = `mutation { createTask(input: { title: "streamed" }) { task { id } } }`;
    for (const query of ['{ self { id } }', subscription, change, 'half {'])
      expectProblem(await client.post('/graphql', { query }, { accept }), 'not_acceptable', query);
    for (const query of ['{ self { id } }', subscription, change])
      expectProblem(await client.get(`/graphql?${ask(query)}`, { accept }), 'not_acceptable', query);
    expect(await asOwner(world, `select id from tasks where title = 'streamed'`)).toEqual([]);
  });

  test('no address answers with a stream', async () => {
    for (const path of paths) {
      const { text, headers } = await exchange(url, request(path, name, { accept: 'text/event-stream' }));
      expect(headers['content-type'] ?? '', text).not.toMatch(/event-stream|multipart/);
    }
  });

  test('no address becomes a websocket', async () => {
    for (const path of paths) {
      const { text } = await exchange(url, request(path, name, upgrade) + frame);
      const plain = await exchange(url, request(path, name, {}));
      expect(text.match(/HTTP\/1\.1 \d+/)?.[0], text).toBe(`HTTP/1.1 ${plain.status}`);
      expect(text).not.toMatch(/ 101 |^upgrade:|sec-websocket/im);
    }
  });

  test.each(['graphql-transport-ws', 'graphql-ws'])('a client of %s never gets a connection', async (protocol) => {
    const address = `${url.replace('http:', 'ws:')}/graphql`;
    // Node's client takes headers; the types of the web do not.
    const options = { protocols: [protocol], headers: credentials.get(name) } as unknown as string[];
    const socket = new WebSocket(address, options);
    const seen: string[] = [];
    for (const type of ['open', 'message', 'error'] as const) socket.addEventListener(type, () => seen.push(type));
    await new Promise((resolve) => socket.addEventListener('close', resolve));
    expect(seen).toEqual(['error']);
  });
});

const upgrade = {
  connection: 'upgrade, close',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'graphql-transport-ws, graphql-ws',
};

/** What a client would send over the websocket: a masked "hello". */
const frame = '\x81\x85\x01\x02\x03\x04\x69\x67\x6f\x68\x6e';

/** The bytes of a GET after which the connection ends. */
function request(path: string, name: string, more: Readonly<Record<string, string>>): string {
  const headers = { host: 'x', connection: 'close', ...credentials.get(name), ...more };
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
}
