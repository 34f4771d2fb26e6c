import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { organizationHeader } from '#api/http/request-caller.ts';
import { defineRoute } from '#api/http/route.ts';
import { fileAnswer } from '#api/http/streams/file-answer.ts';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { exchange } from '../../kit/http/raw-http.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** A file that a browser could take for a page. */
const served = defineRoute({
  method: 'GET',
  url: '/test/served',
  operationId: 'served',
  tag: 'Test',
  summary: 'File',
  description: 'File.',
  access: 'public',
  answers: { 200: Type.String() },
  errors: [],
  handle: ({ request }) => {
    const bytes = Buffer.from('<script>1</script>');
    const file = {
      name: 'a.html',
      contentType: 'text/html',
      sizeBytes: bytes.length,
      sha256: hash('sha256', bytes, 'buffer'),
    };
    return fileAnswer(request, file, 'attachment', async () => Readable.from([bytes]));
  },
});

let world: World;
let client: TestClient;
let taskUrl: string;
let url: string;

beforeAll(async () => {
  world = await openWorld({ routes: [served] });
  ({ url } = await world.listen());
  client = await signedIn(world, await buildPerson(world));
  const created = await client.post('/v1/tasks', { title: 'headers' });
  taskUrl = `/v1/tasks/${created.body.id}`;
});
afterAll(() => world.close());

type Headers = Record<string, unknown>;

/** Answers of all sorts: what was found, what was changed, what was refused, pages, and bytes that are no request. */
async function answers(headers: Record<string, string> = {}): Promise<ReadonlyMap<string, Headers>> {
  const asked = {
    record: client.get(taskUrl, headers),
    list: client.get('/v1/tasks', headers),
    change: client.mutate({ method: 'PATCH', url: taskUrl, headers, payload: { title: 'changed' } }),
    'GraphQL by GET': client.get('/graphql?query={self{id}}', headers),
    'GraphQL by POST': client.post('/graphql', { query: '{ self { id } }' }, headers),
    'GraphQL refusal': client.post('/graphql', { query: '{' }, headers),
    health: world.client().get('/livez', headers),
    page: world.client().get('/docs', headers),
    'form page': world.client().get('/v1/verify', headers),
    'key set': world.client().get('/.well-known/jwks.json', headers),
    'unknown address': client.get('/nowhere', headers),
    'unknown record': client.get('/v1/tasks/01ARZ3NDEKTSV4RRFFQ69G5FAV', headers),
    'invalid input': client.post('/v1/tasks', { titel: 'x' }, headers),
    unauthenticated: world.client().get('/v1/tasks', headers),
    'CSRF refusal': client.request({ method: 'POST', url: '/v1/tasks', headers, payload: {} }),
    'malformed address': client.get('/%zz', headers),
    preflight: client.request({
      method: 'OPTIONS',
      url: '/v1/tasks',
      headers: { ...headers, origin: 'https://console.example.com', 'access-control-request-method': 'GET' },
    }),
    'not modified': client.get('/openapi.json', { ...headers, 'if-none-match': '*' }),
  } as const satisfies Record<string, Promise<TestAnswer>>;
  const found = new Map<string, Headers>();
  for (const [name, answer] of Object.entries(asked)) found.set(name, (await answer).headers);
  const broken = await exchange(url, 'GARBAGE\r\n\r\n');
  const proxied = await exchange(url, 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n');
  found.set('no HTTP', broken.headers).set('CONNECT', proxied.headers);
  return found;
}

/** Runs with changed variables, and takes them back. */
async function having<T>(changes: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const before = Object.fromEntries(Object.keys(changes).map((name) => [name, world.environment[name]]));
  expect(await world.reconfigure(changes)).toMatchObject({ outcome: 'changed', waiting: [] });
  try {
    return await work();
  } finally {
    await world.reconfigure(before);
  }
}

const secured = <T>(changes: Record<string, string>, work: () => Promise<T>) =>
  having(
    Object.fromEntries(Object.entries(changes).map(([name, value]) => [`CORE_SERVER_SECURE_${name}`, value])),
    work,
  );

const cached = <T>(changes: Record<string, string>, work: () => Promise<T>) =>
  having(
    Object.fromEntries(Object.entries(changes).map(([name, value]) => [`CORE_SERVER_CACHECONTROL_${name}`, value])),
    work,
  );

describe('server.secure', () => {
  const defaults = {
    'x-xss-protection': '1; mode=block',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    'content-security-policy': "default-src 'self'",
    'referrer-policy': 'same-origin',
  };
  const names = new Set([...Object.keys(defaults), 'content-security-policy-report-only', 'strict-transport-security']);
  /** Pages have a stricter policy of their own, whatever is configured. */
  const pages = new Set(['page', 'form page']);
  const pagePolicy = expect.stringMatching(/^default-src 'none'; script-src 'self'; /) as string;
  const expectedOf = (name: string, expected: Headers): Headers =>
    pages.has(name) ? { ...expected, 'content-security-policy': pagePolicy } : expected;

  test('every answer has all headers of the specification, and the one about HTTPS only over HTTPS', async () => {
    for (const [name, headers] of await answers()) {
      expect(headers, name).toMatchObject(expectedOf(name, defaults));
      expect(headers, name).not.toHaveProperty('strict-transport-security');
      expect(headers, name).not.toHaveProperty('content-security-policy-report-only');
    }
  });

  test('enabled: off, no answer has any of them but the policy of a page', async () => {
    shows('server.secure.enabled');
    await secured({ ENABLED: 'false' }, async () => {
      for (const [name, headers] of await answers({ 'x-forwarded-proto': 'https' }))
        expect(
          Object.keys(headers).filter((each) => names.has(each)),
          name,
        ).toEqual(pages.has(name) ? ['content-security-policy'] : []);
    });
  });

  test('xssprotection, contenttypenosniff, xframeoptions, contentsecuritypolicy, referrerpolicy: are the values of their headers; empty ones leave them out', async () => {
    shows(
      'server.secure.xssprotection',
      'server.secure.contenttypenosniff',
      'server.secure.xframeoptions',
      'server.secure.contentsecuritypolicy',
      'server.secure.referrerpolicy',
    );
    const changed = {
      XSSPROTECTION: ['x-xss-protection', '0'],
      CONTENTTYPENOSNIFF: ['x-content-type-options', 'nosniff, nosniff'],
      XFRAMEOPTIONS: ['x-frame-options', 'DENY'],
      CONTENTSECURITYPOLICY: ['content-security-policy', "default-src 'none'"],
      REFERRERPOLICY: ['referrer-policy', 'no-referrer'],
    } as const;
    for (const [variable, [header, value]] of Object.entries(changed)) {
      await secured({ [variable]: value }, async () => {
        for (const [name, headers] of await answers())
          expect(headers, name).toMatchObject(expectedOf(name, { ...defaults, [header]: value }));
      });
      await secured({ [variable]: '' }, async () => {
        for (const [name, headers] of await answers())
          if (header === 'content-security-policy' && pages.has(name))
            expect(headers, name).toMatchObject({ [header]: pagePolicy });
          else expect(headers, name).not.toHaveProperty(header);
      });
    }
  });

  test('cspreportonly: the policy is only reported', async () => {
    shows('server.secure.cspreportonly');
    await secured({ CSPREPORTONLY: 'true' }, async () => {
      for (const [name, headers] of await answers()) {
        const [here, absent] = ['content-security-policy-report-only', 'content-security-policy'];
        const [own, other] = pages.has(name) ? [absent, here] : [here, absent];
        expect(headers, name).toMatchObject({ [own]: pages.has(name) ? pagePolicy : "default-src 'self'" });
        expect(headers, name).not.toHaveProperty(other);
      }
    });
  });

  test('hstsmaxage and hstspreloadenabled: what browsers remember, when a proxy speaks HTTPS', async () => {
    shows('server.secure.hstsmaxage', 'server.secure.hstspreloadenabled');
    const header = async (proto = 'https') =>
      (await client.get(taskUrl, { 'x-forwarded-proto': proto })).headers['strict-transport-security'];
    expect(await header()).toBe('max-age=31536000; includeSubDomains');
    expect(await header('http')).toBeUndefined();
    await secured({ HSTSMAXAGE: '60' }, async () => expect(await header()).toBe('max-age=60; includeSubDomains'));
    await secured({ HSTSPRELOADENABLED: 'true' }, async () =>
      expect(await header()).toBe('max-age=31536000; includeSubDomains; preload'),
    );
    await secured({ HSTSMAXAGE: '0' }, async () => expect(await header()).toBeUndefined());
  });

  test('files, pages and GraphiQL keep their own policies, which are stricter', async () => {
    const { headers } = await client.get('/test/served');
    expect(headers).toMatchObject({
      ...defaults,
      'content-security-policy': "default-src 'none'; sandbox",
      'referrer-policy': 'no-referrer',
      'cache-control': 'private, no-store',
    });
    await secured({ CSPREPORTONLY: 'true' }, async () => {
      const page = await client.get('/graphql', { accept: 'text/html' });
      expect(page.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'");
      expect(page.headers).not.toHaveProperty('content-security-policy-report-only');
      expect(page.headers).toMatchObject({ 'x-frame-options': 'SAMEORIGIN' });
    });
  });

  test('the reference needs nothing that the policy forbids', async () => {
    const errors = String((await client.get('/docs/errors')).body);
    expect(errors).not.toMatch(/<style|<script|\sstyle=|\son\w+=/);
    const [, path = ''] = /<link rel="stylesheet" href="([^"]+)">/.exec(errors) ?? [];
    const style = await client.get(path);
    expect([style.status, style.headers['content-type']]).toEqual([200, 'text/css; charset=utf-8']);
    // Its policy allows styles within it, and scripts of this server alone.
    const { body, headers } = await client.get('/docs');
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'; /,
    );
    expect(String(body)).not.toMatch(/\son\w+=|\s(?:src|href)="(?!\/[^/])/);
    const scripts = [...String(body).matchAll(/<script\b[^>]*>/g)].map(
      ([tag]) => /\ssrc="([^"]+)"/.exec(tag)?.[1] ?? tag,
    );
    expect(scripts).toEqual(['/docs/scalar.js', '/pages/reference.js']);
    for (const url of scripts) {
      const script = await client.get(url);
      expect([script.status, script.headers['content-type']], url).toEqual([200, 'text/javascript; charset=utf-8']);
    }
  });
});

describe('server.cachecontrol', () => {
  const noCache = {
    'cache-control': 'no-cache, private, max-age=0',
    expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
    pragma: 'no-cache',
    'x-accel-expires': '0',
  };
  const errors = ['malformed address', 'unknown address', 'unknown record', 'invalid input', 'unauthenticated'];
  const tagOf = async (url: string) => String((await client.get(url)).headers['etag']);

  test('nocacheheaders: no cache keeps an answer unless the route says so', async () => {
    shows('server.cachecontrol.nocacheheaders');
    const found = await answers();
    for (const name of ['record', 'list', 'change', 'GraphQL by GET', 'GraphQL by POST', 'health', 'page'])
      expect(found.get(name), name).toMatchObject(noCache);
    for (const name of errors) expect(found.get(name), name).toMatchObject({ ...noCache, 'cache-control': 'no-store' });
    expect(found.get('key set')?.['cache-control']).toMatch(/^public, max-age=/);
    for (const name of ['expires', 'pragma', 'x-accel-expires']) expect(found.get('key set')).not.toHaveProperty(name);
    await cached({ NOCACHEHEADERS: '{"Surrogate-Control":"no-store","Cache-Control":"no-cache"}' }, async () => {
      const others = await answers();
      expect(others.get('record')).toMatchObject({ 'surrogate-control': 'no-store' });
      expect(others.get('record')).not.toHaveProperty('pragma');
      // Shared caches could keep what is only to be validated.
      expect(others.get('record')?.['cache-control']).toBe('private, no-cache');
      expect(others.get('page')?.['cache-control']).toBe('private, no-cache');
      const style = await world.client().request({ method: 'HEAD', url: '/docs/style.css' });
      expect(style.headers['cache-control']).toBe('no-cache');
    });
  });

  test('enabled: off, answers have none of them, but what depends on the caller stays private', async () => {
    shows('server.cachecontrol.enabled');
    await cached({ ENABLED: 'false', ETAGHEADERS: 'If-None-Match' }, async () => {
      const found = await answers();
      for (const [name, headers] of found)
        expect(
          Object.keys(headers).filter((each) => ['expires', 'pragma', 'x-accel-expires'].includes(each)),
          name,
        ).toEqual([]);
      for (const name of ['record', 'list', 'GraphQL by GET'])
        expect(found.get(name)?.['cache-control'], name).toBe('private');
      const tag = await tagOf(taskUrl);
      expect((await client.get(taskUrl, { 'if-none-match': tag })).status).toBe(304);
    });
  });

  test('answers that depend on the caller say so to every cache', async () => {
    const found = await answers({ origin: 'https://console.example.com' });
    for (const name of ['record', 'list', 'GraphQL by GET'])
      expect(found.get(name)?.['vary'], name).toContain(`Authorization, Cookie, ${organizationHeader}`);
    expect(found.get('key set')?.['vary'] ?? '').not.toContain('Cookie');
    for (const url of [taskUrl, '/docs', '/openapi.json', '/livez', '/v1/verify'])
      expect((await world.client().get(url)).headers['cache-control'], url).not.toMatch(/public|s-maxage/);
  });

  test('etagheaders: these headers of requests are ignored, all others count', async () => {
    shows('server.cachecontrol.etagheaders');
    const tag = await tagOf(taskUrl);
    const document = await tagOf('/openapi.json');
    const known = async () => [
      (await client.get(taskUrl, { 'if-none-match': tag })).status,
      (await client.get('/openapi.json', { 'if-none-match': document })).status,
    ];
    const change = (header: string) =>
      client.mutate({ method: 'PATCH', url: taskUrl, headers: { 'if-match': header }, payload: { title: 'other' } });
    expect(await known()).toEqual([304, 304]);
    expect((await change('"99"')).status).toBe(412);
    await cached({ ETAGHEADERS: 'if-none-match' }, async () => {
      expect(await known()).toEqual([200, 200]);
      expect((await change('"99"')).status).toBe(412);
    });
    await cached({ ETAGHEADERS: 'If-Match' }, async () => {
      expect(await known()).toEqual([304, 304]);
      expect((await change('"99"')).status).toBe(200);
    });
  });

  test('304 has no body and the headers of the whole answer, until the record changes', async () => {
    const whole = await client.get(taskUrl);
    const tag = String(whole.headers['etag']);
    for (const tags of [tag, `W/${tag}`, `"0", ${tag}`, '*']) {
      const answer = await client.get(taskUrl, { 'if-none-match': tags });
      expect([answer.status, answer.body, answer.headers['etag']]).toEqual([304, '', tag]);
      for (const name of ['cache-control', 'vary', 'expires']) expect(answer.headers[name]).toBe(whole.headers[name]);
      expect(answer.headers).not.toHaveProperty('content-type');
    }
    expect((await client.get(taskUrl, { 'if-none-match': '"0"' })).status).toBe(200);
    expect((await client.mutate({ method: 'PATCH', url: taskUrl, payload: { title: 'newer' } })).status).toBe(200);
    const newer = await client.get(taskUrl, { 'if-none-match': tag });
    expect([newer.status, newer.body.title]).toEqual([200, 'newer']);
  });

  test('304 is for those alone who may see the record', async () => {
    const headers = { 'if-none-match': '*' };
    expect((await world.client().get(taskUrl, headers)).status).toBe(401);
    const stranger = await signedIn(world, await buildPerson(world));
    expect((await stranger.get(taskUrl, headers)).status).toBe(404);
  });

  test('what is noted without a new version is never withheld', async () => {
    const { body } = await client.get('/v1/sessions');
    const url = `/v1/sessions/${body.data[0].id}`;
    expect((await client.get(url, { 'if-none-match': await tagOf(url) })).status).toBe(200);
  });

  test('documents have a tag that changes with them', async () => {
    for (const url of ['/openapi.json', '/docs', '/docs/errors', '/docs/style.css']) {
      const tag = await tagOf(url);
      expect(tag, url).toMatch(/^"[\w-]{43}"$/);
      expect(await client.get(url, { 'if-none-match': tag }), url).toMatchObject({ status: 304, body: '' });
      expect((await client.request({ method: 'HEAD', url, headers: { 'if-none-match': tag } })).status, url).toBe(304);
    }
    const before = await tagOf('/openapi.json');
    await having({ CORE_SERVER_MAXRESULTLIMIT: '77' }, async () => {
      expect(await tagOf('/openapi.json')).not.toBe(before);
      expect((await client.get('/openapi.json', { 'if-none-match': before })).status).toBe(200);
    });
  });
});
