import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import { sampleOf } from '../../kit/depth.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { expectProblem, fieldProblems, messageOf } from '../../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Takes one of more choices than an answer lists problems. */
const choosing = defineRoute({
  method: 'POST',
  url: '/test/choose',
  operationId: 'choosing',
  tag: 'Test',
  summary: 'Choose',
  description: 'Choose.',
  access: 'public',
  body: Type.Object(
    { choice: Type.Union(Array.from({ length: 30 }, (_each, index) => Type.Literal(`choice-${index}`))) },
    { additionalProperties: false },
  ),
  answers: { 200: Type.Null() },
  errors: [],
  handle: () => ({ status: 200, body: null }),
});

function nested(depth: number, inner: string): string {
  return `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`;
}

const unreadable: readonly (readonly [name: string, payload: string | Buffer])[] = [
  ['cut off', '{"email": "a@'],
  ['not JSON', 'email=a@example.com'],
  ['two documents', '{}{}'],
  ['a trailing comma', '{"email": "a@example.com",}'],
  ['a byte order mark and nothing else', '\uFEFF'],
  ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xff, 0x22, 0x7d])],
  ['UTF-16', Buffer.from('{"email":"a@example.com"}', 'utf16le')],
  ['an overlong encoding of NUL', Buffer.from([0x7b, 0x22, 0x61, 0x22, 0x3a, 0x22, 0xc0, 0x80, 0x22, 0x7d])],
  ['a raw NUL', '{"email": "a\0@example.com"}'],
  ['an escaped NUL in a value', String.raw`{"email": "a\u0000@example.com"}`],
  ['an escaped NUL in a name', String.raw`{"em\u0000ail": "a@example.com"}`],
  ['an escaped NUL deep inside', String.raw`{"email": [{"a": ["\u0000"]}]}`],
  ['half a surrogate pair', String.raw`{"email": "\ud83d"}`],
  ['the other half', String.raw`{"email": "\ude00\ud83d"}`],
  ['half a surrogate pair in a name', String.raw`{"\udead": 1}`],
  ['__proto__', '{"__proto__": {"isAdmin": true}}'],
  ['__proto__ in escapes', String.raw`{"\u005f_proto__": {"isAdmin": true}}`],
  ['__proto__ deep inside', '{"email": [{"__proto__": []}]}'],
  ['constructor.prototype', '{"constructor": {"prototype": {"isAdmin": true}}}'],
  ['deep nesting', nested(100, '1')],
  ['nesting meant to overflow the stack', nested(200_000, '"x"')],
  ['the same with a surrogate at the bottom', nested(200_000, String.raw`"\ud83d"`)],
  ['nesting in names', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
];

const misshapen: readonly (readonly [name: string, payload: string])[] = [
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '7'],
  ['a text', '"email"'],
  ['true', 'true'],
  ['a list', '[]'],
  ['a list of bodies', '[{"email": "a@example.com"}]'],
  ['an empty object', '{}'],
  ['a number where a text is expected', '{"email": 1, "username": 2, "password": 3, "token": 4, "query": 5}'],
  ['a list where a text is expected', '{"email": [], "username": [], "password": [], "token": [], "query": []}'],
  ['an object where a text is expected', '{"email": {}, "username": {}, "password": {}, "token": {}, "query": {}}'],
  [
    'null where a text is expected',
    '{"email": null, "username": null, "password": null, "token": null, "query": null}',
  ],
  ['empty texts', '{"email": "", "username": "", "password": "", "token": "", "query": ""}'],
];

const otherTypes: readonly string[] = [
  'text/plain',
  'text/plain;charset=utf-8',
  'application/x-www-form-urlencoded',
  'multipart/mixed; boundary=x',
  'application/graphql',
  'application/xml',
  'application/jsonp',
  'application/json-patch+json',
  'text/json',
  'application',
  '/',
  ';',
  'application/json, text/plain',
];

const many = { names: 'a multitude of names', bytes: 'ten megabytes', values: 'too many values' } as const;

/** Which bodies are tried at which addresses: each at some, and at each address some. */
let tried: ReadonlyMap<string, readonly string[]>;

function sampled(): ReadonlyMap<string, readonly string[]> {
  const names = [...[...unreadable, ...misshapen].map(([name]) => name), ...otherTypes, ...Object.values(many)];
  const cells = names.flatMap((name) => addresses.map((url) => ({ name, url })));
  type Cell = (typeof cells)[0];
  const by = [
    ({ name }: Cell) => name,
    ({ url }: Cell) => url,
    // An empty body is tried there alone.
    ({ name, url }: Cell) => (demanding.includes(url) ? name : ''),
  ];
  const found = Map.groupBy(sampleOf('malformed bodies', cells, { by, atLeast: 3 }), ({ name }) => name);
  return new Map([...found].map(([name, places]) => [name, places.map(({ url }) => url)]));
}

/** The addresses at which this run tries a body. */
function addressesFor(name: string, among = addresses): readonly string[] {
  const urls = (tried.get(name) ?? []).filter((url) => among.includes(url));
  recordTried('bodies at an address', urls.length, among.length);
  expect(urls, name).not.toEqual([]);
  return urls;
}

let world: World;
let client: TestClient;
/** Every address that takes a JSON body, from the running application. */
let addresses: string[];
/** Those at which a body has to contain something. */
let demanding: string[];

beforeAll(async () => {
  world = await openWorld({ routes: [choosing] });
  // Signed in, because whoever is not learns nothing about bodies at most addresses.
  client = await signedIn(world, await buildPerson(world));
  const paths = world.api.app.swagger().paths as Record<string, { post?: { requestBody?: { content: object } } }>;
  // Bodies of uploads are forms.
  const takesJson = (path: string) => Object.hasOwn(paths[path]?.post?.requestBody?.content ?? {}, 'application/json');
  addresses = [...Object.keys(paths).filter(takesJson), '/graphql'];
  const lenient = routesOf(registry).filter(({ body }) => {
    const { required, minProperties } = (body ?? { required: [] }) as { required?: string[]; minProperties?: number };
    return required === undefined && minProperties === undefined;
  });
  demanding = addresses.filter((address) => !lenient.some(({ url }) => url.replaceAll(/:(\w+)/g, '{$1}') === address));
  expect(addresses.filter((address) => !demanding.includes(address)).toSorted()).toEqual([
    '/v1/2fa/disable',
    '/v1/2fa/step-up',
    '/v1/discussions',
    '/v1/groups/{id}/join',
    '/v1/integrations/{definitionId}/config',
    '/v1/integrations/{id}/disconnect',
    '/v1/logout',
    '/v1/refresh',
    '/v1/unsubscribe',
    '/v1/webhook-portal/links',
    '/v1/workflow-assignments/{id}/approve',
    '/v1/workflow-definitions/{id}/dry-run',
    '/v1/workflow-definitions/{id}/publish',
    '/v1/workflow-definitions/{id}/retire',
    '/v1/workflow-proposals/{recordKind}/{id}/withdraw',
  ]);
  tried = sampled();
  expect(addresses).toEqual(expect.arrayContaining(['/v1/login', '/v1/register', '/v1/verify', '/v1/resend']));
});
afterAll(() => world.close());

const json = { 'content-type': 'application/json' };

function send(url: string, payload: string | Buffer, headers: Record<string, string> = json): Promise<TestAnswer> {
  return client.mutate({ method: 'POST', url, payload, headers });
}

describe('a body that cannot be read is refused everywhere', () => {
  test.each(unreadable)('%s', async (name, payload) => {
    for (const url of addressesFor(name)) expectProblem(await send(url, payload), 'malformed_body', url);
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });
});

test.each([
  ['{"email": "a@example.com",}', 'line 1, column 27'],
  ['{\n  "email": tru}', 'line 2, column 12'],
  ['{"a": [\n\n 1,\n ]}', 'line 4, column 2'],
  ['{"a": }', 'line 1, column 7'],
  ['email=x', 'line 1, column 1'],
  [' ', 'line 1, column 2'],
  ['{}{}', 'line 1, column 3'],
  ['{"a": 1', 'line 1, column 8'],
  [`["${'x'.repeat(900_000)}", ]`, 'line 1, column 900006'],
])('a body that is no JSON is answered with where it is broken: %#', async (payload, place) => {
  const { body } = await send('/v1/resend', payload);
  expect(body.detail).toContain(`not valid JSON at ${place}`);
});

describe('a body that is not the object it should be is refused everywhere', () => {
  test.each(misshapen)('%s', async (name, payload) => {
    const isEmpty = payload === '' || payload === '{}';
    for (const url of addressesFor(name, isEmpty ? demanding : addresses))
      expectProblem(await send(url, payload), 'invalid_input', url);
  });

  test('without a content type', async () => {
    for (const url of demanding) {
      const answer = await client.mutate({ method: 'POST', url });
      expectProblem(answer, 'invalid_input', url);
    }
  });
});

describe('names that a body does not have', () => {
  test('are refused by name', async () => {
    const bodies: Record<string, object> = {
      '/v1/login': { username: 'a@example.com', password: 'x' },
      '/v1/register': { email: 'a@example.com', password: 'correct horse battery' },
      '/v1/verify': { token: 'x', password: 'x' },
      '/v1/resend': { email: 'a@example.com' },
      '/test/choose': { choice: 'choice-1' },
      '/graphql': { query: '{ self { id } }' },
    };
    for (const url of addresses) {
      const answer = await client.post(url, { ...bodies[url], isAdmin: true });
      expectProblem(answer, 'invalid_input', url);
      const unknown = { path: '/isAdmin', message: expect.stringMatching(/^is not a known field; known are \w/) };
      // Of records it is not the only problem: what they need is missing.
      if (bodies[url]) expect(fieldProblems(answer), url).toEqual([unknown]);
      else expect(fieldProblems(answer), url).toContainEqual(unknown);
    }
  });

  test('are refused where no body is expected at all', async () => {
    const visitor = world.client();
    expectProblem(await visitor.post('/v1/logout', { everywhere: true }), 'invalid_input');
    expectProblem(await visitor.post('/v1/logout', []), 'invalid_input');
    for (const payload of ['', '{}']) {
      const answer = await visitor.mutate({ method: 'POST', url: '/v1/logout', payload, headers: json });
      expect(answer.status).toBe(200);
    }
  });

  test('in a multitude do not make a multitude of an answer', async () => {
    const multitude = Object.fromEntries(Array.from({ length: 15_000 }, (_, number) => [`name${number}`, 1]));
    for (const url of addressesFor(many.names)) {
      const answer = await client.post(url, multitude);
      expectProblem(answer, 'invalid_input', url);
      expect(answer.body.errors.length).toBeLessThanOrEqual(20);
      expect(JSON.stringify(answer.body).length).toBeLessThan(10_000);
    }
  });
});

describe('a content type that is not JSON is refused', () => {
  test.each(otherTypes)('%s', async (type) => {
    for (const url of addressesFor(type)) {
      // Programs send it a form, which does not count (RFC 8058).
      if (url === '/v1/unsubscribe' && /form/.test(type)) continue;
      const answer = await send(url, '{"email": "a@example.com"}', { 'content-type': type });
      expectProblem(answer, 'unsupported_media_type', `${url} ${type}`);
    }
  });

  test('while spellings of application/json are all checked alike', async () => {
    for (const type of ['APPLICATION/JSON', 'application/json;charset=utf-8', 'application/json ; charset="utf-8"'])
      expectProblem(await send('/v1/resend', '{"unknown": 1}', { 'content-type': type }), 'invalid_input', type);
  });
});

describe('a large body', () => {
  test('of ten megabytes is refused, announced or not', async () => {
    const payload = Buffer.alloc(10_000_000, 'x');
    for (const url of addressesFor(many.bytes)) {
      const answer = await send(url, payload);
      expectProblem(answer, 'body_too_large', url);
      expect(messageOf(answer)).toMatch(/^The request body is larger than 1 MB, the limit of this route\. /);
    }
  });

  test('has at most 20,000 values, which are counted before it is checked', async () => {
    const accepted = JSON.stringify({ values: Array.from({ length: 19_999 }, () => 1) });
    const refused: Record<string, unknown> = {
      'a list': { values: Array.from({ length: 400_000 }, () => 1) },
      'one value more': { values: Array.from({ length: 20_000 }, () => 1) },
      members: Object.fromEntries(Array.from({ length: 20_001 }, (_, number) => [`name${number}`, 1])),
      'nested lists': { values: Array.from({ length: 200 }, () => Array.from({ length: 100 }, () => 1)) },
    };
    for (const url of addressesFor(many.values)) {
      expectProblem(await send(url, accepted), 'invalid_input', url);
      for (const [what, document] of Object.entries(refused)) {
        const answer = await send(url, JSON.stringify(document));
        expectProblem(answer, 'limit_exceeded', `${url}: ${what}`);
        expect(messageOf(answer)).toContain('more than 20000 values');
      }
    }
  });

  test('with a filter of many members, or a cell of many items, is refused for their number', async () => {
    const where = { or: Array.from({ length: 40_000 }, () => ({})) };
    const filtered = await client.post('/graphql', {
      query: 'query ($where: TaskWhere) { tasks(where: $where) { totalCount } }',
      variables: { where },
    });
    expectProblem(filtered, 'limit_exceeded');
    const created = await client.graphql('mutation ($csv: String!) { createBulkCSVTask(csv: $csv) { tasks { id } } }', {
      csv: `title,tags\na,${'a;'.repeat(100_000)}a\n`,
    });
    expect(created.errors[0]).toMatchObject({
      message: expect.stringContaining('more than 20000 values'),
      extensions: { code: 'limit_exceeded' },
    });
  });

  test('of just under one megabyte is read and judged by what it says', async () => {
    const answer = await send('/v1/resend', JSON.stringify({ email: 'x'.repeat(1_000_000) }));
    expectProblem(answer, 'invalid_input');
    expect(JSON.stringify(answer.body).length).toBeLessThan(2_000);
  });
});

test('text that only looks like an escaped NUL is text', async () => {
  const answer = await client.post('/v1/login', {
    username: String.raw`a\u0000@example.com`,
    password: String.raw`\ud800`,
  });
  expectProblem(answer, 'invalid_credentials');
});

test('none of many choices is one problem, which is named', async () => {
  const answer = await send('/test/choose', '{"choice": "none of them"}');
  expectProblem(answer, 'invalid_input');
  expect(answer.body.errors).toEqual([
    { path: '/choice', message: expect.stringMatching(/^must be one of choice-0, .*; it is "none of them"$/) },
  ]);
  expect(answer.body.detail).toContain('choice must be one of');
});
