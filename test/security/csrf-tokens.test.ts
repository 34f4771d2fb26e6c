import type { HTTPMethods } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routesOf } from '#api/rest/routes.ts';
import { registry } from '#entities/index.ts';
import type { ErrorCode } from '#entities/kit/base/errors.ts';
import { isScimPath } from '../kit/http/is-scim-path.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import { expectProblem, messageOf } from '../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-40: a mutating request without this session's token in the header is refused, sign-in included.

let world: World;
let person: Person;
/** They take no cookie: a token, or a signature, is the only credential. */
const withoutCookies: ReadonlySet<string> = new Set([
  '/v1/uploads/{id}/content',
  '/v1/unsubscribe',
  '/v1/email/webhook/providera',
  '/v1/email/webhook/providerb',
  '/v1/integrations/webhook/{endpointID}',
  '/v1/payment/webhook',
  '/v1/codehost/app/webhook',
]);
/** Every mutating operation of the running application. */
let mutating: { method: HTTPMethods; url: string; needsCaller: boolean }[];

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
  const paths = world.api.app.swagger().paths as Record<string, object>;
  const needCaller = new Set(
    routesOf(registry).flatMap(({ method, url, access }) => (access === 'required' ? [`${method} ${url}`] : [])),
  );
  mutating = [
    ...Object.entries(paths)
      .flatMap(([url, operations]) =>
        Object.keys(operations)
          .filter((method) => method !== 'get')
          .map((name) => {
            const method = name.toUpperCase();
            const route = `${method} ${url.replaceAll(/\{(\w+)\}/g, ':$1')}`;
            return { method, url, needsCaller: needCaller.has(route) };
          }),
      )
      .filter(({ url }) => !withoutCookies.has(url) && !isScimPath(url)),
    { method: 'POST', url: '/graphql', needsCaller: true },
  ];
  expect(mutating.map(({ url }) => url)).toEqual(
    expect.arrayContaining([
      '/v1/register',
      '/v1/verify',
      '/v1/resend',
      '/v1/login',
      '/v1/refresh',
      '/v1/logout',
      '/graphql',
    ]),
  );
});
afterAll(() => world.close());

async function tokenOf(client: TestClient): Promise<string> {
  await client.get('/livez');
  return client.cookies.get('csrf_token') ?? '';
}

async function everywhere(client: TestClient, headers: Record<string, string>, code: ErrorCode): Promise<void> {
  for (const { method, url, needsCaller } of mutating) {
    // Resumable uploads ask for the version of their protocol first.
    const sent = { 'tus-resumable': '1.0.0', ...headers };
    const answer = await client.request({ method, url, headers: sent, payload: {} });
    // Without a session there is nothing to protect: whoever needs one hears that nobody is signed in.
    const isNobody = code === 'csrf_token_missing' && needsCaller && !client.cookies.has('access_token');
    expectProblem(answer, isNobody ? 'unauthenticated' : code, `${method} ${url}`);
    expect(answer.headers['set-cookie']).toBeUndefined();
  }
}

describe.each(['anonymous', 'signed in'])('T-40: %s: a mutating request is refused', (standing) => {
  const open = async () => (standing === 'anonymous' ? world.client() : signedIn(world, person));

  test('without header or cookie', async () => {
    const client = await open();
    client.cookies.delete('csrf_token');
    await everywhere(client, {}, 'csrf_token_missing');
  });

  test('with the cookie alone', async () => {
    const client = await open();
    await tokenOf(client);
    await everywhere(client, {}, 'csrf_token_missing');
  });

  test('with an empty header', async () => {
    const client = await open();
    await tokenOf(client);
    await everywhere(client, { 'x-csrf-token': '' }, 'csrf_token_missing');
  });

  test('with the header alone', async () => {
    const client = await open();
    const token = await tokenOf(client);
    client.cookies.delete('csrf_token');
    await everywhere(client, { 'x-csrf-token': token }, 'csrf_token_invalid');
  });

  test('with a wrong header', async () => {
    const client = await open();
    const token = await tokenOf(client);
    const flipped = token.endsWith('A') ? 'B' : 'A';
    const wrong = [
      'x',
      '.',
      token.slice(1),
      token.slice(0, -1),
      token.slice(0, -1) + flipped,
      `${token}.`,
      `${token},${token}`,
    ];
    for (const header of wrong) await everywhere(client, { 'x-csrf-token': header }, 'csrf_token_invalid');
  });

  test('with a made-up token in both places', async () => {
    const client = await open();
    for (const token of ['x', 'x.y', `${'A'.repeat(22)}.${'A'.repeat(43)}`]) {
      client.cookies.set('csrf_token', token);
      await everywhere(client, { 'x-csrf-token': token }, 'csrf_token_invalid');
    }
  });

  test("with another session's token in both places", async () => {
    const client = await open();
    const other = await tokenOf(await signedIn(world, person));
    client.cookies.set('csrf_token', other);
    await everywhere(client, { 'x-csrf-token': other }, 'csrf_token_invalid');
  });
});

test('GraphQL without token and session says that nobody is signed in, with a session that the CSRF token is missing', async () => {
  const operation = { method: 'POST', url: '/graphql', payload: { query: '{ self { id } }' } } as const;
  const nobody = await world.client().request(operation);
  expectProblem(nobody, 'unauthenticated');
  expect(messageOf(nobody)).toContain('You are not signed in');
  const client = await signedIn(world, person);
  expectProblem(await client.request(operation), 'csrf_token_missing');
});

test('T-40: a CSRF token stops working when its session begins or ends', async () => {
  const client = world.client();
  const before = await tokenOf(client);
  const send = (token: string): Promise<TestAnswer> => {
    client.cookies.set('csrf_token', token);
    return client.request({
      method: 'POST',
      url: '/graphql',
      headers: { 'x-csrf-token': token },
      payload: { query: '{ self { id } }' },
    });
  };
  expect((await send(before)).status).toBe(200);

  await client.post('/v1/login', { username: person.user.email, password: testPassword });
  const during = client.cookies.get('csrf_token') ?? '';
  expect(during).not.toBe(before);
  expectProblem(await send(before), 'csrf_token_invalid');
  expect((await send(during)).status).toBe(200);

  await client.post('/v1/logout');
  const after = client.cookies.get('csrf_token') ?? '';
  expectProblem(await send(during), 'csrf_token_invalid');
  expect((await send(after)).status).toBe(200);
});

describe('T-40: the Authorization header', () => {
  test('exempts a request from the check, because no cookie is its credential', async () => {
    const victim = await signedIn(world, person);
    const stranger = await buildPerson(world);
    const bearer = (await signedIn(world, stranger)).cookies.get('access_token') ?? '';
    // The browser of the victim would send its cookies along; they must not count.
    const answer = await victim.request({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${bearer}` },
      payload: { query: '{ self { id } }' },
    });
    expect(answer.body.data.self.id).toBe(stranger.user.id);
  });

  test('that is empty or has another scheme exempts nothing and signs nobody in', async () => {
    const victim = await signedIn(world, person);
    for (const authorization of ['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', 'x']) {
      const answer = await victim.request({
        method: 'POST',
        url: '/graphql',
        headers: { authorization },
        payload: { query: '{ self { id } }' },
      });
      expectProblem(answer, 'unauthenticated', authorization);
    }
  });
});

test('T-40: GET and HEAD need no token, and every GET sets the cookie, even when it is refused', async () => {
  for (const url of ['/livez', '/docs', '/openapi.json', '/graphql?query={self{id}}', '/nowhere', '/v1/login']) {
    const client = world.client();
    await client.get(url);
    expect(client.cookies.has('csrf_token'), url).toBe(true);
    const first = client.cookies.get('csrf_token');
    await client.get(url);
    expect(client.cookies.get('csrf_token'), url).toBe(first);
    expect((await world.client().request({ method: 'HEAD', url: '/livez' })).status).toBe(200);
  }
});

test('T-40: a publicly cacheable document sets no cookie', async () => {
  const answer = await world.client().get('/.well-known/jwks.json');
  expect(answer.headers['cache-control']).toContain('public');
  expect(answer.headers['set-cookie']).toBeUndefined();
});
