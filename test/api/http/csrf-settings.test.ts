import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { cookiesOf, type SetCookie } from '../../kit/identity/set-cookies.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const prefix = 'CORE_SERVER_CSRFPROTECTION_';

/** Runs with changed settings, and takes them back. */
async function having<T>(settings: Record<string, string>, work: () => Promise<T>): Promise<T> {
  const changes = Object.entries(settings).map(([name, value]) => [`${prefix}${name}`, value] as const);
  const before = Object.fromEntries(changes.map(([name]) => [name, world.environment[name]]));
  expect(await world.reconfigure(Object.fromEntries(changes))).toMatchObject({ outcome: 'changed', waiting: [] });
  try {
    return await work();
  } finally {
    await world.reconfigure(before);
  }
}

async function cookie(name = 'csrf_token'): Promise<SetCookie> {
  const found = cookiesOf((await world.client().get('/livez')).headers).get(name);
  if (!found) throw new Error(`no cookie "${name}" was set`);
  return found;
}

test('enabled: off, nothing is asked for and no cookie is set', async () => {
  shows('server.csrfprotection.enabled');
  const operation = { method: 'POST', url: '/v1/logout' } as const;
  expectProblem(await world.client().request(operation), 'csrf_token_missing');
  await having({ ENABLED: 'false' }, async () => {
    const client = world.client();
    expect((await client.get('/livez')).headers['set-cookie']).toBeUndefined();
    const answer = await client.request(operation);
    expect(answer.status).toBe(200);
    expect(cookiesOf(answer.headers).has('csrf_token')).toBe(false);
  });
});

test('a page gives a token that counts, although the session of the cookie has ended', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const cookies = new Map(client.cookies);
  await client.post('/v1/logout');
  for (const name of ['access_token', 'session']) client.cookies.set(name, cookies.get(name) ?? '');
  for (const url of ['/v1/verify', '/graphql?query={__typename}']) {
    client.cookies.delete('csrf_token');
    expect((await client.get(url)).status).toBe(200);
    expect((await client.post('/v1/resend', { email: 'nobody@example.com' })).status).toBe(202);
  }
});

test('header: names the header that is looked at, and no other', async () => {
  shows('server.csrfprotection.header');
  await having({ HEADER: 'X-Proof' }, async () => {
    const client = world.client();
    expect((await client.post('/v1/logout')).status).toBe(200);
    const token = client.cookies.get('csrf_token') ?? '';
    const sent = await client.request({ method: 'POST', url: '/v1/logout', headers: { 'x-csrf-token': token } });
    expectProblem(sent, 'csrf_token_missing');
    expect(sent.body.detail).toContain('X-Proof');
    expect((await client.get('/v1/verify')).body).toContain('data-csrf-header="X-Proof"');
  });
});

test('cookie: names the cookie', async () => {
  shows('server.csrfprotection.cookie');
  await having({ COOKIE: 'proof' }, async () => {
    expect((await cookie('proof')).value).toMatch(/^[\w-]{22}\.[\w-]{43}$/);
    const client = world.client();
    expect((await client.post('/v1/logout')).status).toBe(200);
    expect(client.cookies.has('csrf_token')).toBe(false);
    expect((await client.get('/v1/verify')).body).toContain('data-csrf-cookie="proof"');
  });
});

test('secure: flips the Secure attribute', async () => {
  shows('server.csrfprotection.secure');
  expect((await cookie()).attributes['secure']).toBeUndefined();
  await having({ SECURE: 'true' }, async () => expect((await cookie()).attributes['secure']).toBe(true));
});

describe('samesite', () => {
  test('names the attribute, and Default leaves it out', async () => {
    shows('server.csrfprotection.samesite');
    expect((await cookie()).attributes['samesite']).toBe('Lax');
    const strict = await having({ SAMESITE: 'Strict' }, cookie);
    const none = await having({ SAMESITE: 'None', SECURE: 'true' }, cookie);
    const byDefault = await having({ SAMESITE: 'Default' }, cookie);
    expect([strict, none, byDefault].map(({ attributes }) => attributes['samesite'])).toEqual([
      'Strict',
      'None',
      undefined,
    ]);
  });
});

test('cookiehttponly: flips the HttpOnly attribute', async () => {
  shows('server.csrfprotection.cookiehttponly');
  expect((await cookie()).attributes['httponly']).toBeUndefined();
  await having({ COOKIEHTTPONLY: 'true' }, async () => expect((await cookie()).attributes['httponly']).toBe(true));
});

test('cookiedomain: sets the Domain attribute, which is left out otherwise', async () => {
  shows('server.csrfprotection.cookiedomain');
  expect((await cookie()).attributes['domain']).toBeUndefined();
  await having({ COOKIEDOMAIN: 'example.com' }, async () =>
    expect((await cookie()).attributes['domain']).toBe('example.com'),
  );
});

test('cookiepath: sets the Path attribute', async () => {
  shows('server.csrfprotection.cookiepath');
  expect((await cookie()).attributes['path']).toBe('/');
  await having({ COOKIEPATH: '/v1' }, async () => expect((await cookie()).attributes['path']).toBe('/v1'));
});
