import { generateKeyPairSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { prepareDatabase } from '#api/prepare-database.ts';
import { user } from '#entities/identity/user.ts';
import { productModules } from '#entities/kit/model/product-modules.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { cookiesOf, type SetCookie } from '../../kit/identity/set-cookies.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer } from '../../kit/test-client.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

// Settings that a single request shows; each of them against an instance that has the usual ones.

let world: World;
let person: Person;

beforeAll(async () => {
  world = await openWorld();
  person = await buildPerson(world);
});
afterAll(() => world.close());

const instanceWith = (environment: Record<string, string>) => world.openInstance({ environment });

async function signIn(instance: Pick<Instance, 'client'>): Promise<TestAnswer & { readonly token: string }> {
  const answer = await instance.client().post('/v1/login', { username: person.user.email, password: testPassword });
  expect(answer.status).toBe(200);
  return { ...answer, token: answer.body.access_token as string };
}

/** What a process says to a bearer of this token. */
async function asBearer(instance: Pick<Instance, 'client'>, token: string): Promise<TestAnswer> {
  const client = instance.client();
  client.bearer = token;
  return client.graphql('{ self { id } }');
}

describe('server', () => {
  test('listen: is where the API answers, and metricsport where the metrics do, if anywhere', async () => {
    shows('server.listen', 'server.metricsport');
    const usual = await (await instanceWith({ CORE_SERVER_METRICSPORT: '' })).listen();
    const moved = await (
      await instanceWith({ CORE_SERVER_LISTEN: '127.0.0.2:0', CORE_SERVER_METRICSPORT: '127.0.0.3:0' })
    ).listen();
    expect(new URL(usual.url).hostname).toBe('127.0.0.1');
    expect(usual.metricsUrl).toBe('');
    expect(new URL(moved.url).hostname).toBe('127.0.0.2');
    expect(new URL(moved.metricsUrl).hostname).toBe('127.0.0.3');
    expect((await fetch(`${moved.url}/livez`)).status).toBe(200);
    expect(await (await fetch(moved.metricsUrl)).text()).toContain('core_http_requests_total');
    // Never on the API's own port.
    expect((await fetch(`${moved.url}/metrics`)).status).toBe(404);
  });

  test('dev: GraphiQL is served to browsers only while it is on', async () => {
    shows('server.dev');
    const headers = { accept: 'text/html' };
    const production = await instanceWith({ CORE_SERVER_DEV: 'false' });
    const page = (await world.client().get('/graphql', headers)).body;
    expect(page).toContain('<title>Core server: GraphiQL</title>');
    const answer = await production.client().get('/graphql', headers);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(answer.body)).not.toContain('<title>');
    expect((await production.client().get('/graphiql/start.js')).status).toBe(404);
  });

  test('dev: GraphiQL loads its scripts, styles and workers from this server only', async () => {
    const { url } = await world.listen();
    const answer = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } });
    const page = await answer.text();
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'");
    expect(policy).not.toMatch(/https?:|script-src[^;]*(?:unsafe|data:|blob:)/);
    const start = await (await fetch(`${url}/graphiql/start.js`)).text();
    const files = [...`${page}${start}`.matchAll(/(?:src=|href=|: )["'](\/[^"']+)["']/g)].map(
      ([, path]) => path as string,
    );
    expect(files.map((path) => path.slice(path.lastIndexOf('/') + 1)).toSorted()).toEqual([
      'editor.worker.js',
      'graphiql.css',
      'graphiql.js',
      'graphql.worker.js',
      'json.worker.js',
      'start.js',
    ]);
    expect(page).not.toMatch(/(?:src|href)="?(?:https?:|\/\/)/);
    for (const path of files) {
      const file = await fetch(`${url}${path}`);
      expect([file.status, file.headers.get('content-type')]).toEqual([
        200,
        `text/${path.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
      ]);
      expect((await file.text()).length).toBeGreaterThan(200);
    }
  });
});

describe('sessions', () => {
  const accessCookie = async (instance: Pick<Instance, 'client'>): Promise<SetCookie> => {
    const found = cookiesOf((await signIn(instance)).headers).get('access_token');
    if (!found) throw new Error('no access cookie was set');
    return found;
  };

  test('domain, maxage, secure, httponly and samesite are attributes of the access cookie', async () => {
    shows('sessions.domain', 'sessions.secure', 'sessions.httponly', 'sessions.samesite');
    const usual = await accessCookie(world);
    expect(usual.attributes).toMatchObject({ httponly: true, samesite: 'Strict' });
    expect(usual.attributes).not.toHaveProperty('secure');
    expect(usual.attributes).not.toHaveProperty('domain');
    const changed = await instanceWith({
      CORE_SESSIONS_DOMAIN: 'example.com',
      CORE_SESSIONS_MAXAGE: '77',
      CORE_SESSIONS_SECURE: 'true',
      CORE_SESSIONS_HTTPONLY: 'false',
      CORE_SESSIONS_SAMESITE: 'Lax',
    });
    const { attributes } = await accessCookie(changed);
    expect(attributes).toMatchObject({ domain: 'example.com', 'max-age': '77', secure: true, samesite: 'Lax' });
    expect(attributes).not.toHaveProperty('httponly');
    expect(usual.attributes['max-age']).not.toBe('77');
  });

  test('signingkey: what one key signed, another does not accept', async () => {
    shows('sessions.signingkey');
    const other = await instanceWith({ CORE_SESSIONS_SIGNINGKEY: 'another-signing-key-0123456789abcdef0123456' });
    const [here, there] = [world.client(), other.client()];
    expect((await here.post('/v1/logout')).status).toBe(200);
    for (const [name, value] of here.cookies) there.cookies.set(name, value);
    expectProblem(await there.post('/v1/logout'), 'csrf_token_invalid');
  });
});

describe('auth', () => {
  test('enabled: off, requests without credentials run for the user who signed up first', async () => {
    shows('auth.enabled');
    const open = await openWorld({ environment: { CORE_AUTH_ENABLED: 'false' } });
    try {
      expect(open.logs.filter(({ msg }) => String(msg).startsWith('AUTHENTICATION IS OFF'))).toHaveLength(1);
      const client = open.client();
      // There is nobody yet.
      expectProblem(await client.get('/v1/organizations'), 'unauthenticated');
      const first = await buildPerson(open);
      open.clock.advance(1_000);
      const second = await buildPerson(open);
      const self = async (from = client) => (await from.graphql('{ self { id } }')).data.self.id as string;
      expect(await self()).toBe(first.user.id);
      // Once more, with what is assumed from the last request.
      expect(await self()).toBe(first.user.id);
      expect((await client.post('/v1/tasks', { title: 'by nobody in particular' })).status).toBe(201);
      expectProblem(await client.post('/v1/tasks', { title: 'forged' }, { 'X-Csrf-Token': '' }), 'csrf_token_missing');

      // Nobody has a session, so there is none to change.
      const { status } = await client.post('/v1/logout');
      expect(status).toBe(200);
      expectProblem(await client.post('/v1/logout', { sessions: 'all' }), 'unauthenticated');
      expectProblem(
        await client.post('/v1/switch', { target_organization_id: second.organization.id }),
        'permission_denied',
      );
      expect(await self(await signedIn(open, second))).toBe(second.user.id);
      const bearer = open.client();
      bearer.bearer = 'not.a.token';
      expectProblem(await bearer.get('/v1/organizations'), 'unauthenticated');
      for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example'])
        expectProblem(await client.get('/v1/organizations', { host }), 'unauthenticated');
      for (const host of ['127.0.0.1:17608', '[::1]:17608', 'app.localhost'])
        expect((await client.get('/v1/organizations', { host })).status).toBe(200);

      await asSystem(open, first.organization.id, (data) => data.update(user, first.user.id, { status: 'inactive' }));
      expectProblem(await client.get('/v1/organizations'), 'unauthenticated');
      expect(await self()).toBe(second.user.id);
    } finally {
      await open.close();
    }
  });
});

describe('auth.token', () => {
  const pem = (): string =>
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const jwksOf = async (instance: Pick<Instance, 'client'>) =>
    (await instance.client().get('/.well-known/jwks.json')).body.keys as readonly { kid: string; x: string }[];

  test('issuer and audience stand in the token, and are asked of it', async () => {
    shows('auth.token.audience', 'auth.token.issuer');
    const { token } = await signIn(world);
    expect((await asBearer(world, token)).status).toBe(200);
    for (const claim of ['ISSUER', 'AUDIENCE']) {
      const other = await instanceWith({ [`CORE_AUTH_TOKEN_${claim}`]: 'https://other.test' });
      expect(decodeJwt((await signIn(other)).token)[claim === 'ISSUER' ? 'iss' : 'aud']).toBe('https://other.test');
      expect((await asBearer(other, token)).status).toBe(401);
    }
  });

  test('accessduration is how long a token works', async () => {
    shows('auth.token.accessduration');
    const short = await instanceWith({ CORE_AUTH_TOKEN_ACCESSDURATION: '1200000' });
    const { body, token } = await signIn(short);
    const { iat = 0, exp = 0 } = decodeJwt(token);
    expect([body.expires_in, exp - iat]).toEqual([1_200, 1_200]);
    expect((await signIn(world)).body.expires_in).not.toBe(1_200);
  });

  test('kid and keys: the named key signs, and all are published', async () => {
    const keys = { first: pem(), second: pem() };
    const environment = { CORE_AUTH_TOKEN_KEYS: JSON.stringify(keys) };
    const [first, second] = await Promise.all(
      Object.keys(keys).map((kid) => instanceWith({ ...environment, CORE_AUTH_TOKEN_KID: kid })),
    );
    if (!first || !second) throw new Error('no instances');
    for (const [kid, instance] of Object.entries({ first, second })) {
      const { token } = await signIn(instance);
      expect(decodeProtectedHeader(token).kid).toBe(kid);
      // Rotation: a key that does not sign any more still verifies.
      expect((await asBearer(first, token)).status).toBe(200);
      expect((await asBearer(world, token)).status).toBe(401);
      expect((await jwksOf(instance)).map((key) => key.kid).toSorted()).toEqual(['first', 'second']);
    }
  });

  test('generatekeys: makes a key while none is configured, and the same for all processes', async () => {
    shows('auth.token.generatekeys');
    const [own, sibling] = [await jwksOf(world), await jwksOf(await instanceWith({}))];
    expect(own).toHaveLength(1);
    expect(sibling).toEqual(own);
    const configured = await instanceWith({
      CORE_AUTH_TOKEN_GENERATEKEYS: 'false',
      CORE_AUTH_TOKEN_KEYS: JSON.stringify({ test: pem() }),
    });
    expect((await jwksOf(configured)).map(({ x }) => x)).not.toEqual(own.map(({ x }) => x));
    await expect(instanceWith({ CORE_AUTH_TOKEN_GENERATEKEYS: 'false' })).rejects.toThrow('auth.token.keys');
  });

  test('jwkscachettl is how long the key set may be kept', async () => {
    shows('auth.token.jwkscachettl');
    const brief = await instanceWith({ CORE_AUTH_TOKEN_JWKSCACHETTL: '60000' });
    const age = async (instance: Pick<Instance, 'client'>) =>
      (await instance.client().get('/.well-known/jwks.json')).headers['cache-control'];
    expect(await age(brief)).toBe('public, max-age=60');
    expect(await age(world)).not.toBe('public, max-age=60');
  });
});

describe('ormconfig.modules', () => {
  /** The product modules of somebody whose organization has none. */
  const modulesWith = async (environment: Record<string, string>) =>
    (await (await signedIn(await instanceWith(environment), person)).get('/v1/account/userinfo')).body.modules;

  test('enabled: off, every organization has all product modules; on, its own', async () => {
    shows('ormconfig.modules.enabled');
    expect(await modulesWith({ CORE_ORMCONFIG_MODULES_ENABLED: 'false' })).toEqual(productModules);
    expect(await modulesWith({ CORE_ORMCONFIG_MODULES_ENABLED: 'true' })).toEqual([]);
  });

  test('devmode: on, every organization has all product modules although they are checked', async () => {
    shows('ormconfig.modules.devmode');
    const environment = { CORE_ORMCONFIG_MODULES_ENABLED: 'true', CORE_ORMCONFIG_MODULES_DEVMODE: 'true' };
    expect(await modulesWith(environment)).toEqual(productModules);
  });
});

describe('db', () => {
  test('debug: logs the statements, without values', async () => {
    shows('db.debug');
    const statements = () => world.logs.filter(({ msg }) => /\bselect\b.*\busers\b/is.test(String(msg)));
    await signIn(world);
    expect(statements()).toEqual([]);
    await world.reconfigure({ CORE_DB_DEBUG: 'true' });
    await signIn(world);
    await world.reconfigure({ CORE_DB_DEBUG: undefined });
    expect(statements().length).toBeGreaterThan(0);
    expect(JSON.stringify(statements())).not.toContain(person.user.email);
    expect(statements()[0]).toMatchObject({ duration_ms: expect.any(Number) });
  });

  test('enablehistory: off, changes leave none', async () => {
    shows('db.enablehistory');
    // Rows without history are what the check at the end would find.
    const without = await openWorld({ environment: { CORE_DB_ENABLEHISTORY: 'false' }, skipVerify: true });
    try {
      for (const [each, isThere] of [
        [world, true],
        [without, false],
      ] as const) {
        const { user } = await buildPerson(each);
        const rows = await asOwner(each, 'select 1 from history where entity_id = $1', [user.id]);
        expect(rows.length > 0).toBe(isThere);
      }
    } finally {
      await without.close();
    }
  });

  test('runmigrations: off, a database that lacks some is refused; on, they run', async () => {
    shows('db.runmigrations');
    const off = world.config.current;
    const on = (await instanceWith({ CORE_DB_RUNMIGRATIONS: 'true' })).config.current;
    const { logger } = world.api.services;
    const [last] = await asOwner<{ name: string }>(world, 'select name from migrations order by id desc limit 1');
    await prepareDatabase(off, logger);
    await prepareDatabase(on, logger);
    // As if it had not run yet; running it again goes well, or is refused on what it already did.
    await asOwner(world, 'delete from migrations where name = $1', [last?.name]);
    try {
      await expect(prepareDatabase(off, logger)).rejects.toThrow(`lacks the migrations ${last?.name}`);
      const refusal = await prepareDatabase(on, logger).catch((error: unknown) => (error as Error).message);
      if (refusal === undefined) await prepareDatabase(off, logger);
      else expect(refusal).toContain(`The migration ${last?.name} failed:`);
    } finally {
      await asOwner(
        world,
        'insert into migrations (name) select $1::text where not exists (select 1 from migrations where name = $1::text)',
        [last?.name],
      );
    }
  });

  test('primarydbsource: is the database that is worked with', async () => {
    shows('db.primarydbsource');
    const url = new URL(world.databaseUrl);
    url.pathname = '/postgres';
    const elsewhere = await instanceWith({ CORE_DB_PRIMARYDBSOURCE: url.href });
    const rows = async (instance: Pick<Instance, 'runtime'>) =>
      (await instance.runtime.database.pool.query('select current_database() as name')).rows;
    expect(await rows(world)).toEqual([{ name: world.name }]);
    expect(await rows(elsewhere)).toEqual([{ name: 'postgres' }]);
  });
});
