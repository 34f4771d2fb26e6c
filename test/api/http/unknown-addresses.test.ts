import { METHODS } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resumablePath } from '#api/http/plugins/resumable-protocol.ts';
import { isScimPath } from '../../kit/http/is-scim-path.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld();
  client = world.client();
});
afterAll(() => world.close());

describe('an address that is nowhere', () => {
  test('answers 404 for every method, before the body or the CSRF token is looked at', async () => {
    const urls = [
      '/nowhere',
      '/v1',
      '/v1/',
      '/v1/login/',
      '/V1/LOGIN',
      '/v1/login;x',
      '/v1//login',
      '//v1/login',
      '/v2/login',
    ];
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      for (const url of urls) {
        const answer = await client.request({
          method,
          url,
          payload: method === 'GET' ? undefined : 'not json',
          headers: method === 'GET' ? {} : { 'content-type': 'text/plain' },
        });
        expectProblem(answer, 'route_not_found', `${method} ${url}`);
      }
    }
  });

  test('repeats the path it was asked for, but never the query', async () => {
    const answer = await client.get('/nowhere?token=secret-in-query');
    expect(answer.body.detail).toContain('/nowhere');
    expect(JSON.stringify(answer.body)).not.toContain('secret-in-query');
    expect(JSON.stringify(world.logs)).not.toContain('secret-in-query');
  });
});

test('a misspelt address names the one that is similar', async () => {
  for (const [sent, near] of [
    ['/v1/tassks', '/v1/tasks'],
    ['/v1/task/01J00000000000000000000000', '/v1/tasks/01J00000000000000000000000'],
    ['/v1/loggin', '/v1/login'],
    ['/grapql', '/graphql'],
  ] as const)
    expect((await client.get(sent)).body.detail).toBe(
      `There is no route GET ${sent}; did you mean ${near}? See /docs.`,
    );
  const long = `/v1/tasks${'/x'.repeat(100)}`;
  expect((await client.get(long)).body.detail).toBe(`There is no route GET ${long}; see /docs.`);
});

describe('a method that an address does not answer', () => {
  test('gets 405 and the methods that it does', async () => {
    const paths = world.api.app.swagger().paths as Record<string, Record<string, unknown>>;
    const answered = new Map(
      [...Object.entries(paths), ['/graphql', { get: {}, post: {} }] as const].map(([url, operations]) => {
        const methods = Object.keys(operations).map((method) => method.toUpperCase());
        return [url, methods.includes('GET') ? [...methods, 'HEAD'] : methods];
      }),
    );
    expect(answered.size).toBeGreaterThan(10);
    // `/v1/uploads/direct` has the form of `/v1/uploads/{id}`, too.
    const hasForm = (url: string, form: string) =>
      new RegExp(`^${form.replaceAll(/\{\w+\}/g, String.raw`(?:\{\w+\}|[^/{}]+)`)}$`).test(url) || url === form;
    const methodsOf = (url: string) => [
      ...new Set([...answered].flatMap(([form, methods]) => (hasForm(url, form) ? methods : []))),
    ];
    for (const [url, methods] of answered) {
      const found = methodsOf(url);
      // OPTIONS of resumable uploads says what their protocol can do here.
      const isAnswered = (method: string) => method === 'OPTIONS' && url === resumablePath;
      const others = METHODS.filter((each) => each !== 'CONNECT' && !found.includes(each) && !isAnswered(each));
      for (const method of others) {
        const answer = await client.request({ method, url });
        expect(answer.status, `${method} ${url}`).toBe(405);
        expect(String(answer.headers['allow']).split(', ').toSorted(), `${method} ${url}`).toEqual(methods.toSorted());
        if (method !== 'HEAD' && !isScimPath(url)) expectProblem(answer, 'method_not_allowed', `${method} ${url}`);
      }
    }
  });

  test('is no route of its own: there would be thirty times as many routes, in every process', () => {
    expect(world.api.app.printRoutes()).toContain('POST');
    expect(world.api.app.printRoutes()).not.toContain('PROPFIND');
  });

  test('gets it whatever body comes along', async () => {
    const answer = await client.request({
      method: 'POST',
      url: '/livez',
      payload: Buffer.alloc(2_000_000),
      headers: { 'content-type': 'text/plain' },
    });
    expectProblem(answer, 'method_not_allowed');
  });
});

describe('an address that cannot be read', () => {
  test.each([
    '/v1/%',
    '/v1/%zz',
    '/%c3%28',
    '/%ff',
    '/livez?%',
    '/livez?a=%e0%a4%a',
    '/livez?a=%c0%80',
    '/livez?a=%ff',
    '/livez?a=%ed%a0%80',
    '/livez?a=%00',
    '/%00',
    '/livez%00',
    '/graphql?query=%7Bself%7Bid%7D%7D%00',
  ])('%s is refused', async (url) => {
    expectProblem(await client.get(url), 'malformed_request', url);
  });

  test('does not include percent signs that are encoded themselves', async () => {
    expect((await client.get('/livez?a=%2500&b=100%25')).status).toBe(200);
  });
});

test('a query that nothing asks for is ignored', async () => {
  expect((await client.get('/livez?__proto__[a]=1&constructor=2&a[]=1&a[]=2&%F0%9F%98%80=%F0%9F%98%80')).status).toBe(
    200,
  );
  expect(({} as { a?: string }).a).toBeUndefined();
});

test('odd headers are no failure of ours', async () => {
  for (const headers of [
    { host: 'evil.example.com' },
    { host: 'a b' },
    { host: '' },
    { host: 'evil/path?x#y' },
    { host: '[::1' },
    { host: 'x:99999' },
    { accept: 'application/xml' },
    { 'accept-encoding': 'gzip;q=nan' },
    { cookie: '=;;==; a; csrf_token; access_token=; access_token=%zz; __proto__=1' },
    { cookie: 'access_token=' + 'a.'.repeat(4_000) },
    { 'content-length': '0' },
    { range: 'bytes=0-1' },
    { 'if-none-match': '"x"' },
    { traceparent: 'ff-0-0-0' },
    { 'x-http-method-override': 'DELETE' },
    { upgrade: 'websocket', connection: 'upgrade' },
  ]) {
    for (const url of ['/livez', '/graphql?query={self{id}}', '/docs']) {
      const answer = await client.request({ method: 'GET', url, headers });
      expect(answer.status, `${url} ${JSON.stringify(headers)} ${JSON.stringify(answer.body)}`).toBe(
        url.startsWith('/graphql') && 'accept' in headers ? 406 : 200,
      );
    }
  }
});
