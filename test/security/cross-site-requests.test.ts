import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { organizationHeader } from '#api/http/request-caller.ts';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { shows } from '../kit/shows.ts';
import type { TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-41: nothing that a foreign page can make a browser send changes anything through GraphQL, and only pages of allowed origins read answers.

let world: World;
let victim: TestClient;

beforeAll(async () => {
  world = await openWorld();
  victim = await signedIn(world, await buildPerson(world));
});
afterAll(async () => {
  expect(await asOwner(world, `select name from organizations where name like 'forged%'`)).toEqual([]);
  await world.close();
});

const query = 'mutation { createOrganization(input: { name: "forged" }) { organization { id } } }';
const foreign = { origin: 'https://evil.example.net', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' };

test('T-41: a link, an image or a form with method GET changes nothing', async () => {
  for (const accept of ['*/*', 'text/html,application/xhtml+xml', 'image/avif,image/webp', 'application/json'])
    await victim.get(`/graphql?${new URLSearchParams({ query })}`, { ...foreign, accept });
});

test.each([
  ['text/plain', JSON.stringify({ query })],
  ['text/plain;charset=utf-8', JSON.stringify({ query })],
  ['application/x-www-form-urlencoded', new URLSearchParams({ query }).toString()],
  [
    'multipart/form-data; boundary=x',
    `--x\r\ncontent-disposition: form-data; name="query"\r\n\r\n${query}\r\n--x--\r\n`,
  ],
  [
    'multipart/form-data; boundary=x',
    `--x\r\ncontent-disposition: form-data; name="operations"\r\n\r\n${JSON.stringify({ query })}\r\n--x--\r\n`,
  ],
  ['application/graphql', query],
  ['', JSON.stringify({ query })],
])('T-41: a form of type "%s" changes nothing', async (type, payload) => {
  const headers = { ...foreign, ...(type ? { 'content-type': type } : {}) };
  // As a form sends it: cookies come along, the header does not.
  expectProblem(await victim.request({ method: 'POST', url: '/graphql', headers, payload }), 'csrf_token_missing');
  // And with the header it is still no JSON, and no form with the files of an operation.
  const answer = await victim.mutate({ method: 'POST', url: '/graphql', headers, payload });
  expect(answer.status, JSON.stringify(answer.body)).toBe(type.startsWith('multipart/') ? 400 : 415);
});

test('T-41: a form with a method override changes nothing', async () => {
  for (const [name, value] of [
    ['x-http-method-override', 'POST'],
    ['x-http-method', 'POST'],
    ['x-method-override', 'POST'],
  ] as const)
    await victim.get(`/graphql?${new URLSearchParams({ query, _method: 'POST' })}`, { ...foreign, [name]: value });
});

test('T-41: no answer allows a foreign origin to read it', async () => {
  for (const method of ['GET', 'POST', 'OPTIONS'] as const) {
    const { headers } = await victim.request({
      method,
      url: '/graphql?query={self{id}}',
      headers: {
        ...foreign,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'x-csrf-token',
      },
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
  }
});

describe('T-41: server.cors', () => {
  const console_ = 'https://console.example.com';
  const partner = 'https://partner.example.org';

  /** CORS headers of the answer to a page of an origin. */
  async function allowed(origin: string, url: string, method: 'GET' | 'OPTIONS' = 'GET') {
    const asked = method === 'OPTIONS' ? { 'access-control-request-method': 'PATCH' } : {};
    const { status, headers } = await victim.request({ method, url, headers: { origin, ...asked } });
    const { 'access-control-allow-origin': to, 'access-control-allow-credentials': withCredentials } = headers;
    return { status, to, withCredentials, headers };
  }

  test('alloworigins: pages of these origins may call the server with credentials, and others may not', async () => {
    shows('server.cors.alloworigins');
    await world.reconfigure({ CORE_SERVER_CORS_ALLOWORIGINS: console_ });
    for (const url of ['/livez', '/graphql?query={self{id}}', '/v1/nowhere', '/v1/tasks/nothing']) {
      expect(await allowed(console_, url), url).toMatchObject({ to: console_, withCredentials: 'true' });
      for (const other of [
        'https://evil.example.net',
        `${console_}.evil.example.net`,
        'http://console.example.com',
        'null',
      ])
        expect(await allowed(other, url), `${url} ${other}`).toMatchObject({
          to: undefined,
          withCredentials: undefined,
        });
      expect((await victim.get(url)).headers).toMatchObject({ vary: expect.stringContaining('Origin') });
    }
    const { status, headers } = await allowed(console_, '/v1/uploads/resumable', 'OPTIONS');
    expect(status).toBe(204);
    expect(headers).not.toHaveProperty('content-length');
    const { header } = world.config.current.server.csrfprotection;
    const mayBeSent = String(headers['access-control-allow-headers']).toLowerCase().split(', ');
    for (const name of [
      header.toLowerCase(),
      'authorization',
      'content-type',
      organizationHeader,
      'tus-resumable',
      'upload-offset',
      'range',
    ])
      expect(mayBeSent).toContain(name);
    expect(headers['access-control-allow-methods']).toContain('PATCH');
    const { headers: answered } = await allowed(console_, '/livez');
    for (const name of ['Location', 'Upload-Offset', 'Tus-Resumable', 'Upload-Expires', 'ETag', 'Retry-After'])
      expect(String(answered['access-control-expose-headers']).split(', ')).toContain(name);
    // What others ask is no preflight: nothing is allowed.
    expect((await allowed('https://evil.example.net', '/v1/tasks', 'OPTIONS')).status).toBe(405);
    const noMethod = { origin: console_, 'access-control-request-method': '' };
    expectProblem(
      await victim.request({ method: 'OPTIONS', url: '/v1/tasks', headers: noMethod }),
      'method_not_allowed',
    );
    // Being allowed to ask replaces no token.
    const payload = JSON.stringify({ query });
    const json = { origin: console_, 'content-type': 'application/json' };
    expectProblem(
      await victim.request({ method: 'POST', url: '/graphql', headers: json, payload }),
      'csrf_token_missing',
    );
  });

  test('prefixes: below them other origins are allowed; the longest counts, and * has no credentials', async () => {
    shows('server.cors.prefixes');
    const prefixes = { '/v1': [partner], '/v1/tasks': ['*'], '/v1/notes/': [] };
    await world.reconfigure({ CORE_SERVER_CORS_PREFIXES: JSON.stringify(prefixes) });
    expect(await allowed(console_, '/v1/organizations')).toMatchObject({ to: undefined });
    expect(await allowed(partner, '/v1/organizations')).toMatchObject({ to: partner, withCredentials: 'true' });
    expect(await allowed(partner, '/v1/tasks?first=1')).toMatchObject({ to: '*', withCredentials: undefined });
    const noOrigin = { origin: '', 'access-control-request-method': 'PATCH' };
    expectProblem(
      await victim.request({ method: 'OPTIONS', url: '/v1/tasks', headers: noOrigin }),
      'method_not_allowed',
    );
    expect(await allowed(partner, '/v1/tasks_of_others')).toMatchObject({ to: partner });
    expect(await allowed(partner, '/v1/notes')).toMatchObject({ to: undefined });
    expect(await allowed(console_, '/livez')).toMatchObject({ to: console_ });
    // As routing reads them: the same route answers all of these.
    for (const url of ['/%76%31/organizations', '/v%31/organizations?first=1', '/v1/%6Eotes', '/v1/notes#/livez']) {
      expect((await allowed(console_, url)).status, url).not.toBe(404);
      expect(await allowed(console_, url), url).toMatchObject({ to: undefined, withCredentials: undefined });
      expect((await allowed(console_, url, 'OPTIONS')).status, url).toBe(405);
    }
    expect(await allowed(partner, '/%76%31/%74asks')).toMatchObject({ to: '*', withCredentials: undefined });
    expect(await allowed(partner, '/v1/%6Eotes')).toMatchObject({ to: undefined });
    expect((await allowed(console_, '/%76%31/%ff')).status).toBe(400);
    await world.reconfigure({ CORE_SERVER_CORS_PREFIXES: undefined });
  });

  test('cookieinsecure: pages of these origins get cookies without Secure', async () => {
    shows('server.cors.cookieinsecure');
    const secureCookie = async (origin: string) => {
      const { headers } = await world.client().get('/livez', { origin });
      return /; Secure/i.test(String(headers['set-cookie']));
    };
    await world.reconfigure({ CORE_SERVER_CSRFPROTECTION_SECURE: 'true' });
    expect(await secureCookie(console_)).toBe(true);
    await world.reconfigure({ CORE_SERVER_CORS_COOKIEINSECURE: 'true' });
    expect(await secureCookie(console_)).toBe(false);
    expect(await secureCookie(partner)).toBe(true);
    await world.reconfigure({ CORE_SERVER_CORS_COOKIEINSECURE: undefined, CORE_SERVER_CSRFPROTECTION_SECURE: 'false' });
  });

  test('enabled: while it is off, no origin is allowed', async () => {
    shows('server.cors.enabled');
    await world.reconfigure({ CORE_SERVER_CORS_ENABLED: 'false' });
    expect(await allowed(console_, '/livez')).toMatchObject({ to: undefined });
    // Caches that keep this answer must not give it to a page that is allowed later.
    expect((await allowed(console_, '/livez')).headers['vary']).toContain('Origin');
    expect((await allowed(console_, '/v1/tasks', 'OPTIONS')).status).toBe(405);
    await world.reconfigure({ CORE_SERVER_CORS_ENABLED: undefined });
  });
});
