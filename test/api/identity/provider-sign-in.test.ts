import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { externalIdentity, user } from '#entities/index.ts';
import { configuredProvider } from '#api/rest/identity/providers/configured-provider.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { startCertifiedProvider } from '../../kit/identity/certified-provider.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeIdentityProvider, type FakePerson } from '../../kit/fakes/fake-identity-provider.ts';
import { buildPerson, signedIn, testPassword } from '../../kit/people.ts';
import { cookiesOf } from '../../kit/identity/set-cookies.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;

const console_ = 'https://console.example/login/sso';

beforeAll(async () => {
  world = await openWorld();
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await useProvider(fake);
});
afterEach(() => fake.reset());
afterAll(async () => {
  await fake.close();
  await world.close();
});

async function useProvider(
  { url, client }: { readonly url: string; readonly client: { readonly id: string; readonly secret: string } },
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const settings = (name: string) => ({
    [`CORE_AUTH_PROVIDERS_${name}_CLIENTID`]: client.id,
    [`CORE_AUTH_PROVIDERS_${name}_CLIENTSECRET`]: client.secret,
    [`CORE_AUTH_PROVIDERS_${name}_CLIENTENDPOINT`]: url,
  });
  const { problems } = (await world.reconfigure({
    CORE_AUTH_SUPPORTEDPROVIDERS: 'codehost,identity',
    CORE_AUTH_PROVIDERS_REDIRECTURL: console_,
    ...settings('CODEHOST'),
    ...settings('IDENTITY'),
    ...more,
  })) as { problems?: readonly unknown[] };
  expect(problems ?? []).toEqual([]);
}

type Provider = 'codehost' | 'identity';
let count = 1_000;

/** A person that no account knows. */
function somebody(more: Partial<FakePerson> = {}): FakePerson {
  const id = String(count++);
  return { sub: id, email: `somebody-${id}@example.com`, email_verified: true, name: `Somebody ${id}`, ...more };
}

async function begin(client: TestClient, provider: Provider = 'identity', query = ''): Promise<string> {
  const answer = await client.get(`/v1/${provider}/login${query}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(302);
  expect(answer.headers['location']).toBe(answer.body.location);
  return answer.body.location;
}

const come = (client: TestClient, { pathname, search }: URL): Promise<TestAnswer> => client.get(pathname + search);

/** The whole flow. */
async function signIn(
  person: FakePerson,
  client = world.client(),
  provider: Provider = 'identity',
): Promise<TestAnswer> {
  return come(client, fake.approve(await begin(client, provider), person));
}

async function selfOf(client: TestClient): Promise<{ readonly id: string; readonly email: string } | null> {
  return (await client.graphql('{ self { id email } }')).data.self;
}

/** What a refused sign-in must leave as it was. */
async function stored(): Promise<unknown> {
  const [row] = await asOwner(
    world,
    `select (select count(*) from users) as users, (select count(*) from external_identities) as identities,
       (select count(*) from sessions) as sessions, (select count(*) from organizations) as organizations,
       (select count(*) from memberships) as memberships`,
  );
  return row;
}

/** Does what must be refused, and sees that nothing has changed and nobody is signed in. */
async function expectRefusal(
  attempt: (client: TestClient) => Promise<TestAnswer>,
  code: Parameters<typeof expectProblem>[1] = 'provider_sign_in_failed',
): Promise<TestAnswer> {
  const before = await stored();
  const client = world.client();
  const answer = await attempt(client);
  expectProblem(answer, code);
  for (const name of ['access_token', 'session', 'refresh_token']) expect(client.cookies.has(name)).toBe(false);
  expect(await selfOf(client)).toBeNull();
  expect(await stored()).toEqual(before);
  return answer;
}

describe('the provider identity', () => {
  test('signs people in with a certified provider: a new account at first, the same later', async () => {
    const provider = await startCertifiedProvider(['https://api.test/v1/identity/callback']);
    try {
      await useProvider(provider);
      // The provider has a clock of its own.
      world.clock.advance(Date.now() - world.clock.now().getTime());
      const client = world.client();
      const back = await come(client, await provider.browse(await begin(client)));
      expect({ status: back.status, location: back.headers['location'] }).toEqual({ status: 302, location: console_ });
      const person = await selfOf(client);
      expect(person).toMatchObject({ email: provider.claims.email });
      // Its address at the provider is not what it is known by.
      provider.claims.email = 'changed@example.com';
      const again = world.client();
      await come(again, await provider.browse(await begin(again)));
      expect(await selfOf(again)).toEqual(person);
      const { data } = (await again.get('/v1/external-identities')).body;
      expect(data).toMatchObject([
        { provider: 'identity', issuer: provider.url, subject: 'person-1', email: 'person@example.com' },
      ]);
    } finally {
      await provider.close();
      await useProvider(fake);
    }
  });

  test('gives a new account its own organization, as a confirmed address does', async () => {
    const client = world.client();
    const person = somebody();
    expect((await signIn(person, client)).status).toBe(302);
    const { data } = await client.graphql(
      '{ self { displayName status } organizations { edges { node { isPersonal displayName } } } }',
    );
    expect(data).toEqual({
      self: { displayName: person.name, status: 'ACTIVE' },
      organizations: { edges: [{ node: { isPersonal: true, displayName: person.name } }] },
    });
  });

  test('is asked for the address where the id token has none', async () => {
    const person = somebody();
    fake.claims = ({ email: _email, email_verified: _verified, ...claims }) => claims;
    const client = world.client();
    expect((await signIn(person, client)).status).toBe(302);
    expect(await selfOf(client)).toMatchObject({ email: person.email });
  });

  test('binds the sign-in to the browser with a cookie that no script reads, of this host', async () => {
    const client = world.client();
    const { headers } = await client.get('/v1/identity/login');
    const [, cookie] = [...cookiesOf(headers)].find(([name]) => name.endsWith('sign_in_state')) ?? [];
    expect(cookie?.attributes).toMatchObject({ path: '/', httponly: true, samesite: 'Lax', 'max-age': '600' });
    expect(cookie?.attributes).not.toHaveProperty('domain');
    const back = await come(client, fake.approve(headers['location'] as string, somebody()));
    expect(back.status).toBe(302);
    expect(client.cookies.has('sign_in_state')).toBe(false);
  });

  test('is asked with PKCE, state and nonce, and with the scopes that are configured', async () => {
    await useProvider(fake, { CORE_AUTH_PROVIDERS_IDENTITY_SCOPES: '["address"]' });
    const { searchParams } = new URL(await begin(world.client()));
    expect(Object.fromEntries(searchParams)).toEqual({
      client_id: fake.client.id,
      response_type: 'code',
      redirect_uri: 'https://api.test/v1/identity/callback',
      scope: 'openid email profile address',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    });
  });
});

describe('a callback', () => {
  test('T-20: without a cookie, with the state of another browser or another state is refused', async () => {
    const other = world.client();
    const theirs = fake.approve(await begin(other), somebody());
    await expectRefusal((client) => come(client, theirs));
    await expectRefusal(async (client) => {
      await begin(client);
      return come(client, theirs);
    });
    await expectRefusal(async (client) => {
      const url = fake.approve(await begin(client), somebody());
      url.searchParams.set('state', 'x'.repeat(43));
      return come(client, url);
    });
    await expectRefusal(async (client) => {
      const url = fake.approve(await begin(client), somebody());
      url.searchParams.delete('state');
      return come(client, url);
    });
    expect((await come(other, theirs)).status).toBe(302);
  });

  test('T-20: counts once, even with the cookie of then, and of fifty at once one counts', async () => {
    fake.acceptsCodesAgain = true;
    const client = world.client();
    const url = fake.approve(await begin(client), somebody());
    const cookies = new Map(client.cookies);
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => {
        const one = world.client();
        for (const [name, value] of cookies) one.cookies.set(name, value);
        return come(one, url);
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 302)).toHaveLength(1);
    expect(new Set(statuses)).toEqual(new Set([302, 401]));
    await expectRefusal((again) => {
      for (const [name, value] of cookies) again.cookies.set(name, value);
      return come(again, url);
    });
  });

  test('T-20: a code counts once, also in another sign-in', async () => {
    fake.acceptsCodesAgain = true;
    const first = world.client();
    const url = fake.approve(await begin(first), somebody());
    expect((await come(first, url)).status).toBe(302);
    await expectRefusal(async (client) => {
      const next = fake.approve(await begin(client), somebody());
      next.searchParams.set('code', url.searchParams.get('code') ?? '');
      return come(client, next);
    });
  });

  test('T-21: a state of one provider is none of another, and other values of this server are none', async () => {
    await expectRefusal(async (client) => {
      const { search } = fake.approve(await begin(client), somebody());
      return client.get(`/v1/codehost/callback${search}`);
    });
    const signed = await signedIn(world, await buildPerson(world));
    for (const name of ['session', 'access_token', 'refresh_token', 'csrf_token'])
      await expectRefusal(async (client) => {
        const url = fake.approve(await begin(client), somebody());
        client.cookies.set('sign_in_state', signed.cookies.get(name) ?? '');
        return come(client, url);
      });
  });

  test('that is late, cancelled or without a code is refused', async () => {
    await expectRefusal(async (client) => {
      const url = fake.approve(await begin(client), somebody());
      world.clock.advance(10 * 60_000 + 1_000);
      return come(client, url);
    });
    for (const end of [`error=access_denied&error_description=${encodeURIComponent('<b>')}`, 'nothing=1'])
      await expectRefusal(async (client) => {
        const { searchParams } = new URL(await begin(client));
        const answer = await client.get(`/v1/identity/callback?state=${searchParams.get('state')}&${end}`);
        expect(JSON.stringify(answer.body)).not.toContain('<b>');
        return answer;
      });
  });

  test('T-22: the code is bound to the client, the redirect URI and the verifier of this browser', async () => {
    const other = world.client();
    const theirs = fake.approve(await begin(other), somebody());
    await expectRefusal(async (client) => {
      const own = fake.approve(await begin(client), somebody());
      own.searchParams.set('code', theirs.searchParams.get('code') ?? '');
      return come(client, own);
    });
    await expectRefusal(async (client) => {
      const location = new URL(await begin(client));
      location.searchParams.delete('code_challenge');
      return come(client, fake.approve(location.href, somebody()));
    });
  });
});

describe('T-25: an id token is refused when alone', () => {
  test.each<[string, (claims: Record<string, unknown>) => Record<string, unknown>]>([
    ['aud is another client', (claims) => ({ ...claims, aud: 'another' })],
    ['aud is missing', ({ aud: _aud, ...claims }) => claims],
    ['iss is another issuer', (claims) => ({ ...claims, iss: 'https://evil.example' })],
    ['exp is over', (claims) => ({ ...claims, exp: Number(claims['iat']) - 120 })],
    ['exp is missing', ({ exp: _exp, ...claims }) => claims],
    ['iat is before the sign-in', (claims) => ({ ...claims, iat: Number(claims['iat']) - 600 })],
    ['iat is in the future', (claims) => ({ ...claims, iat: Number(claims['iat']) + 200 })],
    ['iat is missing', ({ iat: _iat, ...claims }) => claims],
    ['nonce is of another sign-in', (claims) => ({ ...claims, nonce: 'another' })],
    ['nonce is missing', ({ nonce: _nonce, ...claims }) => claims],
    ['sub is missing', ({ sub: _sub, ...claims }) => claims],
    ['sub is a number', (claims) => ({ ...claims, sub: 7 })],
  ])('%s', async (_name, change) => {
    fake.claims = change;
    await expectRefusal((client) => signIn(somebody(), client));
  });

  test('it is not signed by the provider', async () => {
    const other = await FakeIdentityProvider.start(() => world.clock.now());
    try {
      fake.instead.set('/jwks', (response) => {
        void fetch(`${other.url}/jwks`)
          .then((answer) => answer.text())
          .then((body) => response.writeHead(200, { 'content-type': 'application/json' }).end(body));
      });
      // Keys are kept for a while.
      await useProvider(fake, { CORE_AUTH_PROVIDERS_IDENTITY_CLIENTENDPOINT: `${fake.url}/` });
      world.clock.advance(61_000);
      await expectRefusal((client) => signIn(somebody(), client));
    } finally {
      await other.close();
      await useProvider(fake);
    }
  });
});

describe('a person', () => {
  test('T-07: of a domain that the configuration blocks gets no account', async () => {
    await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: 'closed.example' });
    const person = somebody({ email: 'first-sign-in@closed.example' });
    for (const provider of ['identity', 'codehost'] as const)
      await expectRefusal((client) => signIn(person, client, provider), 'invalid_input');
    await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: undefined });
    expect((await signIn(person)).status).toBe(302);
  });

  test('T-23: without a verified address is refused', async () => {
    for (const person of [
      somebody({ email_verified: false }),
      { sub: 'nobody', name: 'Nobody' },
      somebody({ email_verified: 'true' as unknown as boolean }),
      somebody({ email: 7 as unknown as string }),
    ])
      await expectRefusal((client) => signIn(person, client));
  });

  test('T-23: with the address of an account is not signed in to it, whether or not the account is confirmed', async () => {
    for (const isConfirmed of [true, false]) {
      const { user } = await buildPerson(world, { isConfirmed });
      await expectRefusal(
        (client) => signIn(somebody({ email: user.email.toUpperCase() }), client),
        'identity_not_linked',
      );
    }
  });

  test('T-23: whose address a stranger has signed up with gets an account without the password of the stranger', async () => {
    const person = somebody();
    const stranger = world.client();
    await stranger.post('/v1/register', { email: person.email, password: 'password of a stranger' });
    const token = await verificationToken(world, person.email ?? '');
    const client = world.client();
    expect((await signIn(person, client)).status).toBe(302);
    expectProblem(await stranger.post('/v1/verify', { token, password: 'password of a stranger' }), 'invalid_token');
    const login = { username: person.email, password: 'password of a stranger' };
    expectProblem(await stranger.post('/v1/login', login), 'invalid_credentials');
    expect(await selfOf(client)).not.toBeNull();
  });

  test('T-01: who is deactivated or deleted is not signed in, nor active again', async () => {
    const person = somebody();
    const client = world.client();
    await signIn(person, client);
    const { id } = (await selfOf(client)) ?? {};
    await asOwner(world, `update users set status = 'deactivated' where id = $1`, [id]);
    await expectRefusal((again) => signIn(person, again), 'invalid_credentials');
    const [row] = await asOwner<{ status: string }>(world, 'select status from users where id = $1', [id]);
    expect(row?.status).toBe('deactivated');
  });

  test('whose first sign-in comes twice at once gets one account', async () => {
    const person = somebody();
    const answers = await Promise.all([signIn(person), signIn(person), signIn(person)]);
    expect(answers.map(({ status }) => status)).toEqual([302, 302, 302]);
    const rows = await asOwner(world, 'select id from users where email = $1', [person.email]);
    expect(rows).toHaveLength(1);
  });
});

describe('a provider', () => {
  const token = '/token';
  const discovery = '/.well-known/openid-configuration';

  test.each<[string, string, Parameters<FakeIdentityProvider['instead']['set']>[1]]>([
    ['answers 500', token, (response) => response.writeHead(500).end()],
    ['redirects elsewhere', token, (response) => response.writeHead(302, { location: `${fake.url}/userinfo` }).end()],
    ['redirects in a loop', token, (response) => response.writeHead(307, { location: `${fake.url}/token` }).end()],
    [
      'sends a huge answer',
      token,
      (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('x'.repeat(2_000_000)),
    ],
    ['closes the connection', token, (response) => response.destroy()],
  ])('that %s is refused', async (_name, path, answer) => {
    fake.instead.set(path, answer);
    const count = fake.asked.length;
    await expectRefusal((client) => signIn(somebody(), client), 'provider_unavailable');
    expect(fake.asked.slice(count).filter((asked) => asked === path)).toHaveLength(1);
  });

  test.each(['<html>', '{"access_token":1}', '[]', 'null', '{"error":"invalid_grant"}'])(
    'that answers %s is refused',
    async (body) => {
      fake.instead.set(token, (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body));
      await expectRefusal((client) => signIn(somebody(), client));
    },
  );

  describe('that is slow', () => {
    const answering = (response: ServerResponse) =>
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
    /** Connections that the provider keeps, each with the database connections that the server held when it asked. */
    const kept: number[] = [];
    let instance: Instance;
    beforeAll(async () => {
      instance = await world.openInstance({ providerTimeoutMs: 300 });
    });

    const held = () => instance.runtime.database.pool.totalCount - instance.runtime.database.pool.idleCount;

    test.each<[string, (response: ServerResponse) => void]>([
      ['does not answer', () => {}],
      ['sends nothing after the headers', (response) => answering(response).flushHeaders()],
      [
        'sends one byte after another',
        (response) => {
          answering(response);
          const drip = setInterval(() => response.write(' '), 20);
          response.once('close', () => {
            clearInterval(drip);
          });
        },
      ],
    ])('and %s is waited for so long and no longer, without a database connection', async (_name, answer) => {
      for (const [provider, path] of [
        ['identity', token],
        ['codehost', '/login/oauth/access_token'],
        ['codehost', '/api/v3/user'],
        ['codehost', '/api/v3/user/emails'],
      ] as const) {
        kept.length = 0;
        await expectRefusal(async () => {
          const client = instance.client();
          const url = fake.approve(await begin(client, provider), somebody());
          const closed = Promise.withResolvers<void>();
          fake.instead.set(path, (response) => {
            kept.push(held());
            response.once('close', closed.resolve);
            answer(response);
          });
          const refused = await come(client, url);
          // The server has closed the connection.
          await closed.promise;
          fake.reset();
          // The state was used up: the same answer of the provider does not count later.
          expectProblem(await come(client, url), 'provider_sign_in_failed');
          return refused;
        }, 'provider_unavailable');
        expect(kept, path).toEqual([0]);
      }
    });

    test('and sends no metadata lets nobody begin, until it does', async () => {
      const fresh = await world.openInstance({ providerTimeoutMs: 300 });
      fake.instead.set(discovery, () => {});
      expectProblem(await fresh.client().get('/v1/identity/login'), 'provider_unavailable');
      fake.reset();
      world.clock.advance(60_000);
      expect((await fresh.client().get('/v1/identity/login')).status).toBe(302);
    });
  });

  test('that is of another issuer, supports no S256 or answers nothing of use is refused before the browser goes there', async () => {
    const other = await FakeIdentityProvider.start(() => world.clock.now());
    try {
      await useProvider(other);
      for (const metadata of [
        { issuer: 'https://evil.example' },
        { code_challenge_methods_supported: ['plain'] },
        { authorization_endpoint: 'javascript:alert(1)' },
        { authorization_endpoint: 7 },
        { token_endpoint: 'file:///etc/passwd' },
        { jwks_uri: null },
      ]) {
        other.metadata = metadata;
        // After a failure it is left alone for a while.
        world.clock.advance(30_000);
        const before = other.asked.length;
        expectProblem(await world.client().get('/v1/identity/login'), 'provider_unavailable', JSON.stringify(metadata));
        expect(other.asked.length).toBe(before + 1);
      }
      world.clock.advance(30_000);
      other.metadata = {};
      other.instead.set(discovery, (response) => response.writeHead(404).end());
      expectProblem(await world.client().get('/v1/identity/login'), 'provider_unavailable');
    } finally {
      await other.close();
      await useProvider(fake);
    }
  });

  test('is asked for its metadata once for many sign-ins', async () => {
    const before = fake.asked.length;
    for (let time = 0; time < 3; time++) await signIn(somebody());
    expect(fake.asked.slice(before).filter((path) => path === discovery || path === '/jwks')).toEqual([]);
  });
});

describe.each(['codehost', 'identity'] as const)('auth.providers.%s', (name) => {
  test('clientid, clientsecret, clientendpoint, scopes and redirecturl are what the provider is asked with', async () => {
    shows(
      `auth.providers.${name}.clientid`,
      `auth.providers.${name}.clientsecret`,
      `auth.providers.${name}.clientendpoint`,
      `auth.providers.${name}.scopes`,
      `auth.providers.${name}.redirecturl`,
    );
    const other = await FakeIdentityProvider.start(() => world.clock.now());
    const prefix = `CORE_AUTH_PROVIDERS_${name.toUpperCase()}`;
    try {
      other.client = { id: 'another client', secret: 'another: secret %' };
      await useProvider(other, {
        [`${prefix}_SCOPES`]: '["another"]',
        [`${prefix}_REDIRECTURL`]: `https://proxy.example/v1/${name}/callback`,
      });
      const client = world.client();
      const location = new URL(await begin(client, name));
      expect(location.origin).toBe(other.url);
      expect(location.searchParams.get('client_id')).toBe('another client');
      expect(location.searchParams.get('scope')?.split(' ')).toContain('another');
      const back = other.approve(location.href, somebody());
      expect(back.origin).toBe('https://proxy.example');
      expect((await come(client, back)).status).toBe(302);
      await useProvider(other, { [`${prefix}_CLIENTSECRET`]: 'wrong' });
      const refused = world.client();
      const url = other.approve(await begin(refused, name), somebody());
      expectProblem(await come(refused, url), 'provider_sign_in_failed');
    } finally {
      await other.close();
      await useProvider(fake, { [`${prefix}_SCOPES`]: '[]', [`${prefix}_REDIRECTURL`]: `/v1/${name}/callback` });
    }
  });

  test('clientendpoint that is empty or the address of this server is the public service', async () => {
    for (const address of ['', 'https://api.test']) {
      await world.reconfigure({ [`CORE_AUTH_PROVIDERS_${name.toUpperCase()}_CLIENTENDPOINT`]: address });
      const { issuer } = configuredProvider(world.config.current, name) ?? {};
      expect(issuer).toBe({ codehost: 'https://github.com', identity: 'https://accounts.google.com' }[name]);
    }
    await useProvider(fake);
  });
});

describe('auth.supportedproviders', () => {
  test('switches providers on and off', async () => {
    shows('auth.supportedproviders');
    await world.reconfigure({ CORE_AUTH_SUPPORTEDPROVIDERS: 'codehost' });
    for (const path of ['/v1/identity/login', '/v1/identity/callback?code=a&state=b'])
      expectProblem(await world.client().get(path), 'not_found');
    expect((await world.client().get('/v1/identity/login')).body.detail).toContain('auth.supportedproviders');
    expect((await world.client().get('/v1/codehost/login')).status).toBe(302);
    await useProvider(fake);
    expect((await world.client().get('/v1/identity/login')).status).toBe(302);
  });
});

describe('auth.providers.redirecturl', () => {
  test('is where the browser goes at the end, or another page of its origin', async () => {
    shows('auth.providers.redirecturl');
    for (const [wanted, expected] of [
      ['/tasks?open=1', 'https://console.example/tasks?open=1'],
      ['https://console.example/a', 'https://console.example/a'],
    ] as const) {
      const client = world.client();
      const location = await begin(client, 'identity', `?redirect_uri=${encodeURIComponent(wanted)}`);
      expect((await come(client, fake.approve(location, somebody()))).headers['location']).toBe(expected);
    }
    for (const wanted of [
      'https://evil.example/',
      '//evil.example',
      String.raw`/\evil.example`,
      'https://console.example.evil.example',
      'https://console.example@evil.example',
      'https://user@console.example/',
      'http://console.example/',
      'javascript:alert(1)',
      '\t//evil.example',
      'https://console.example:444/',
    ])
      expectProblem(
        await world.client().get(`/v1/identity/login?redirect_uri=${encodeURIComponent(wanted)}`),
        'invalid_input',
        wanted,
      );
  });

  test('T-26: neither it nor the URL of the callback follows what a client says of the host', async () => {
    const hostile = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' };
    const client = world.client();
    const { headers } = await client.get('/v1/identity/login', hostile);
    expect(headers['location']).not.toContain('evil.example');
    const { pathname, search } = fake.approve(headers['location'] as string, somebody());
    const back = await client.get(pathname + search, hostile);
    expect(back.headers['location']).toBe(console_);
  });
});

describe('the provider codehost', () => {
  test('signs people in by the number of their account there and their primary address', async () => {
    const person = somebody();
    const client = world.client();
    expect((await signIn(person, client, 'codehost')).status).toBe(302);
    const self = await selfOf(client);
    expect(self).toMatchObject({ email: person.email });
    const again = world.client();
    await signIn({ ...person, email: 'renamed@example.com', name: 'Renamed' }, again, 'codehost');
    expect(await selfOf(again)).toEqual(self);
  });

  test('T-23: without a primary address that is verified is refused', async () => {
    for (const addresses of [
      [],
      {},
      null,
      [null],
      [{ email: 'a@example.com', primary: true, verified: false }],
      [{ email: 'a@example.com', primary: false, verified: true }],
      [{ email: 7, primary: true, verified: true }],
    ]) {
      fake.addresses = addresses;
      await expectRefusal((client) => signIn(somebody(), client, 'codehost'));
      fake.addresses = undefined;
    }
  });

  test('that says nothing of use about the person is refused', async () => {
    for (const [status, body] of [
      [200, 'null'],
      [200, '{"id":"7"}'],
      [200, '{"login":"name"}'],
      [200, 'no JSON'],
      [403, '{}'],
    ] as const) {
      fake.instead.set('/api/v3/user', (response) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end(body),
      );
      await expectRefusal((client) => signIn(somebody(), client, 'codehost'));
    }
  });

  test('T-20: counts a state once', async () => {
    fake.acceptsCodesAgain = true;
    const client = world.client();
    const url = fake.approve(await begin(client, 'codehost'), somebody());
    const cookie = client.cookies.get('sign_in_state') ?? '';
    expect((await come(client, url)).status).toBe(302);
    await expectRefusal((again) => {
      again.cookies.set('sign_in_state', cookie);
      return come(again, url);
    });
  });
});

describe('an identity', () => {
  const beginLink = (client: TestClient, provider: Provider = 'identity') =>
    client.post('/v1/account/identities', { provider });

  async function link(client: TestClient, person: FakePerson): Promise<TestAnswer> {
    const { status, body } = await beginLink(client);
    expect(status, JSON.stringify(body)).toBe(200);
    return come(client, fake.approve(body.location, person));
  }

  test('is linked by a session that asks for it, and signs in to that account from then on', async () => {
    const { user } = await buildPerson(world);
    const client = world.client();
    await client.post('/v1/login', { username: user.email, password: testPassword });
    const person = somebody();
    expect((await link(client, person)).status).toBe(302);
    expect((await link(client, person)).status).toBe(302);
    const other = world.client();
    await signIn(person, other);
    expect((await selfOf(other))?.id).toBe(user.id);
  });

  test('of another account is refused, and so is one without a verified address', async () => {
    const person = somebody();
    await signIn(person);
    const client = await signedIn(world, await buildPerson(world));
    const before = await stored();
    expectProblem(await link(client, person), 'already_exists');
    expectProblem(await link(client, somebody({ email_verified: false })), 'provider_sign_in_failed');
    expect(await stored()).toEqual(before);
  });

  test('is not linked after the session has ended, nor in another browser, nor without a session', async () => {
    expectProblem(await beginLink(world.client()), 'unauthenticated');
    const client = await signedIn(world, await buildPerson(world));
    const { body } = await beginLink(client);
    const url = fake.approve(body.location, somebody());
    await expectRefusal((other) => come(other, url));
    const cookie = client.cookies.get('sign_in_state') ?? '';
    await client.post('/v1/logout', {});
    await expectRefusal((late) => {
      late.cookies.set('sign_in_state', cookie);
      return come(late, url);
    });
  });

  test('T-71: that is removed while fifty sign-ins with it wait for its account signs nobody in', async () => {
    const slow = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
    const person = somebody();
    const first = world.client();
    await signIn(person, first);
    const { id = '' } = (await selfOf(first)) ?? {};
    const begun = await Promise.all(
      Array.from({ length: 50 }, async () => {
        const client = slow.client();
        return { client, url: fake.approve(await begin(client), person) };
      }),
    );
    const answers = await whileLocked(
      world,
      [user, id],
      () => Promise.all(begun.map(({ client, url }) => come(client, url))),
      async (data) => {
        const held = await data.findOne(externalIdentity, { userId: { eq: id } });
        await data.remove(externalIdentity, held?.id ?? '');
      },
    );
    expect(answers.filter(({ status }) => status < 400)).toEqual([]);
    const sessions = 'select id from sessions where user_id = $1 and deleted_at is null';
    expect(await asOwner(world, sessions, [id])).toHaveLength(1);
  });

  test('T-13: that is unlinked answers no challenge that it began', async () => {
    const owner = await buildPerson(world);
    const client = await signedIn(world, owner);
    const person = somebody();
    await link(client, person);
    const { app } = await enroll(world, client);
    const challenge = async () => {
      const { hash } = new URL(String((await signIn(person)).headers['location']));
      return { challenge_token: new URLSearchParams(hash.slice(1)).get('challenge_token'), code: await app.nextCode() };
    };
    expect((await world.client().post('/v1/2fa/validate', await challenge())).status).toBe(200);
    const late = await challenge();
    const [{ id }] = (await client.get('/v1/external-identities')).body.data;
    const unlinked = await client.mutate({ method: 'DELETE', url: `/v1/account/identities/${id}` });
    expect(unlinked.status).toBe(200);
    expectProblem(await world.client().post('/v1/2fa/validate', late), 'unauthenticated');
  });

  test('is seen and unlinked by its owner alone, and not if it is the last way in', async () => {
    const owner = await buildPerson(world);
    const client = await signedIn(world, owner);
    const person = somebody();
    await link(client, person);
    const [{ id }] = (await client.get('/v1/external-identities')).body.data;
    const stranger = await signedIn(world, await buildPerson(world, { organization: owner.organization }));
    expectProblem(await stranger.request({ method: 'GET', url: `/v1/external-identities/${id}` }), 'not_found');
    const unlink = (by: TestClient, one: string) =>
      by.mutate({ method: 'DELETE', url: `/v1/account/identities/${one}` });
    expectProblem(await unlink(stranger, id), 'not_found');
    expect((await unlink(client, id)).status).toBe(200);
    await expectRefusal((late) => signIn({ ...person, email: owner.user.email }, late), 'identity_not_linked');

    const only = world.client();
    await signIn(somebody(), only);
    const [last] = (await only.get('/v1/external-identities')).body.data;
    expectProblem(await unlink(only, last.id), 'last_way_in');
    // Of two that are unlinked at once, one stays.
    await link(only, somebody());
    const both = (await only.get('/v1/external-identities')).body.data as { readonly id: string }[];
    const answers = await Promise.all(both.map((one) => unlink(only, one.id)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
  });
});

test('T-62: codes, tokens and secrets of providers are in no log line, row or answer', async () => {
  const marks = [...fake.secrets, fake.client.secret];
  expect(marks.length).toBeGreaterThan(50);
  const lines = world.logs.map((line) => JSON.stringify(line)).join('\n');
  for (const mark of marks) expect(lines.includes(mark), mark).toBe(false);
  const rows = await asOwner<{ text: string }>(
    world,
    `select payload::text as text from events union all select snapshot::text from history`,
  );
  const text = rows.map((row) => row.text).join('\n');
  for (const mark of marks) expect(text.includes(mark), mark).toBe(false);
});
