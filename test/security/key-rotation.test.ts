// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeProtectedHeader, exportJWK, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi, type TestContext } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { forgedToken } from '../kit/identity/access-tokens.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { startSecretManager } from '../kit/fakes/secret-manager.ts';
import { startKeySetServer, type KeySetAnswer } from '../kit/fakes/key-set-server.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { shows } from '../kit/shows.ts';
import { openWorld, type Instance, type World } from '../kit/world.ts';

// T-34: keys are rotated without a request that fails, and a key that was taken away is worth nothing.

const newKey = {
  ed25519: () => generateKeyPairSync('ed25519'),
  rsa: () => generateKeyPairSync('rsa', { modulusLength: 2_048 }),
  p256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  p384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
};
const pem = (type: keyof typeof newKey) => newKey[type]().privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
const keys = { older: pem('ed25519'), newer: pem('rsa') };
const configured = (kid: keyof typeof keys, names: readonly (keyof typeof keys)[]) => ({
  CORE_AUTH_TOKEN_KID: kid,
  CORE_AUTH_TOKEN_KEYS: JSON.stringify(Object.fromEntries(names.map((name) => [name, keys[name]]))),
});

let world: World;
let person: Person;

beforeAll(async () => {
  world = await openWorld({ environment: configured('older', ['older']) });
  person = await buildPerson(world);
});
afterAll(() => world.close());

const publishedKids = async (instance: Pick<Instance, 'client'> = world) =>
  (await instance.client().get('/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid) as string[];

async function reconfigured(changes: Record<string, string>): Promise<void> {
  const kids = Object.keys(JSON.parse(changes['CORE_AUTH_TOKEN_KEYS'] ?? '{}') as object);
  await world.reconfigure(changes);
  // The set is loaded behind the reload.
  await eventually(async () => (await publishedKids()).join() === kids.join());
}

async function newToken(instance: Pick<Instance, 'client'> = world): Promise<string> {
  return (await signedIn(instance, person)).cookies.get('access_token') ?? '';
}

async function ask(bearer: string, instance: Pick<Instance, 'client'> = world) {
  const client = instance.client();
  client.bearer = bearer;
  return client.graphql('{ self { id } }');
}

test('T-34: the older key verifies tokens while the newer one signs, until it is removed', async () => {
  shows('auth.token.kid', 'auth.token.keys');
  const old = await newToken();
  expect(decodeProtectedHeader(old)).toMatchObject({ kid: 'older', alg: 'EdDSA' });

  const rotation = new AbortController();
  const statuses = new Set<number>();
  const traffic = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!rotation.signal.aborted) statuses.add((await ask(old)).status);
    }),
  );
  await reconfigured(configured('older', ['older', 'newer']));
  await reconfigured(configured('newer', ['older', 'newer']));
  const fresh = await eventually(async () => {
    const token = await newToken();
    return decodeProtectedHeader(token).kid === 'newer' && token;
  });
  rotation.abort();
  await traffic;
  expect([...statuses]).toEqual([200]);
  expect(decodeProtectedHeader(fresh).alg).toBe('RS256');
  for (const token of [old, fresh]) expect((await ask(token)).data.self.id).toBe(person.user.id);

  await reconfigured(configured('newer', ['newer']));
  expectProblem(await ask(old), 'unauthenticated');
  expect((await ask(fresh)).data.self.id).toBe(person.user.id);
});

test('T-34: unusable keys change nothing, and one log line says so', async () => {
  const before = await newToken();
  await world.reconfigure({ ...configured('newer', ['newer']), CORE_AUTH_TOKEN_KEYS: '{"newer":"/nowhere/key.pem"}' });
  const lines = await eventually(() => {
    const found = world.logs.filter(
      ({ level, msg }) => level === 'error' && String(msg).includes('auth.token.keys: "newer" cannot be read'),
    );
    return found.length > 0 && found;
  });
  expect(lines).toHaveLength(1);
  expect((await ask(before)).data.self.id).toBe(person.user.id);
  expect((await ask(await newToken())).data.self.id).toBe(person.user.id);
  expect(await publishedKids()).toEqual(['newer']);
  await world.reconfigure(configured('newer', ['newer']));
});

test('T-34: the published key set contains no private key', async () => {
  const { body } = await world.client().get('/.well-known/jwks.json');
  for (const key of body.keys)
    expect(Object.keys(key)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(d|p|q|dp|dq|qi|k)$/)]));
});

test('T-34: every type of key signs with its algorithm, and weak or unsuitable ones are refused at start', async () => {
  const algorithms = { ed25519: 'EdDSA', rsa: 'RS256', p256: 'ES256', p384: 'ES384' };
  for (const [type, alg] of Object.entries(algorithms)) {
    const environment = {
      CORE_AUTH_TOKEN_KID: type,
      CORE_AUTH_TOKEN_KEYS: JSON.stringify({ [type]: pem(type as keyof typeof newKey) }),
    };
    const instance = await world.openInstance({ environment });
    const token = await newToken(instance);
    expect(decodeProtectedHeader(token)).toMatchObject({ alg, kid: type });
    expect((await ask(token, instance)).data.self.id).toBe(person.user.id);
  }
  const unsuitable = {
    'less than 2048 bits': generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey,
    'use P-256 or P-384': generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey,
    'use Ed25519': generateKeyPairSync('x25519').privateKey,
  };
  for (const [reason, key] of Object.entries(unsuitable)) {
    const keys = JSON.stringify({ bad: key.export({ type: 'pkcs8', format: 'pem' }) });
    const environment = { CORE_AUTH_TOKEN_KID: 'bad', CORE_AUTH_TOKEN_KEYS: keys };
    await expect(world.openInstance({ environment })).rejects.toThrow(reason);
  }
});

describe.concurrent('keydir', () => {
  const cacheTtlMs = 300_000;

  /** A process with a folder of these keys. */
  async function withFolder(
    { onTestFinished }: TestContext,
    files: Readonly<Record<string, string>>,
    environment: Record<string, string> = {},
  ) {
    const folder = await mkdtemp(join(tmpdir(), 'core-keys-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const write = async (name: string, content: string, mode = 0o600) => {
      await writeFile(join(folder, `.${name}`), content);
      await chmod(join(folder, `.${name}`), mode);
      await rename(join(folder, `.${name}`), join(folder, name));
    };
    for (const [name, content] of Object.entries(files)) await write(name, content);
    const open = () =>
      world.openInstance({
        environment: {
          CORE_AUTH_TOKEN_KEYS: '{}',
          CORE_AUTH_TOKEN_KID: 'the-newest',
          CORE_AUTH_TOKEN_JWKSCACHETTL: String(cacheTtlMs),
          CORE_KEYWATCHER_ENABLED: 'true',
          CORE_KEYWATCHER_KEYDIR: folder,
          ...environment,
        },
      });
    return { folder, write, open };
  }

  const publishes = (instance: Pick<Instance, 'client'>, kids: string) =>
    eventually(async () => (await publishedKids(instance)).join() === kids);

  const complaints = (about: string) =>
    world.logs.filter(({ level, msg }) => level === 'error' && String(msg).includes(about));

  // It moves the clock, which would end the requests of the tests beside it.
  test(
    'T-34: a new file verifies at once and signs when all have seen it; tokens of a removed file are refused',
    { concurrent: false },
    async (context) => {
      shows('keywatcher.enabled', 'keywatcher.keydir');
      const { folder, write, open } = await withFolder(context, { 'first.pem': pem('ed25519') });
      const instance = await open();
      const old = await newToken(instance);
      expect(decodeProtectedHeader(old).kid).toBe('first');

      const rotation = new AbortController();
      context.onTestFinished(() => rotation.abort());
      const statuses = new Map<number, number>();
      const traffic = Promise.all(
        Array.from({ length: 4 }, async () => {
          while (!rotation.signal.aborted) {
            const { status } = await ask(old, instance);
            statuses.set(status, (statuses.get(status) ?? 0) + 1);
          }
        }),
      );
      await write('second.pem', pem('p256'));
      await publishes(instance, 'first,second');
      expect(decodeProtectedHeader(await newToken(instance)).kid).toBe('first');
      // Files have the time of the machine, which the clock of the test falls behind.
      world.clock.advance(cacheTtlMs + 1_800_000);
      const fresh = await newToken(instance);
      expect(decodeProtectedHeader(fresh)).toMatchObject({ kid: 'second', alg: 'ES256' });
      rotation.abort();
      await traffic;
      expect([...statuses.keys()]).toEqual([200]);

      await rm(join(folder, 'first.pem'));
      await publishes(instance, 'second');
      expectProblem(await ask(old, instance), 'unauthenticated');
      expect((await ask(fresh, instance)).data.self.id).toBe(person.user.id);
    },
  );

  test('T-34: kid decides which file signs; a process accepts a key that another one read first', async (context) => {
    const { write, open } = await withFolder(context, { 'a.pem': pem('ed25519') }, { CORE_AUTH_TOKEN_KID: 'b' });
    const slow = await open();
    await write('b.pem', pem('ed25519'));
    const fast = await open();
    const token = await newToken(fast);
    expect(decodeProtectedHeader(token).kid).toBe('b');
    // It looks because the token names a key that it does not know.
    await eventually(async () => (await ask(token, slow)).status === 200);
  });

  test('T-34: a file that cannot be used changes nothing, is logged once, and counts once it is mended', async (context) => {
    const good = pem('ed25519');
    const { write, open } = await withFolder(context, { 'good.pem': good });
    const instance = await open();
    const token = await newToken(instance);
    await write('good.pem', good.slice(0, 60));
    await write('half.pem', pem('ed25519').slice(0, 60));
    await write('open.pem', pem('ed25519'), 0o644);
    await write('public.pem', newKey.ed25519().publicKey.export({ type: 'spki', format: 'pem' }) as string);
    await write('no key id.pem', pem('ed25519'));
    await write('notes.txt', 'not a key, and not looked at', 0o644);
    const reasons = [
      'good.pem is not',
      'half.pem is not',
      'open.pem is open',
      'public.pem is not',
      'no key id.pem has',
    ];
    for (const reason of reasons) await eventually(() => complaints(`keywatcher.keydir: ${reason}`).length > 0);
    // Several looks later.
    await write('later.pem', pem('ed25519'));
    await publishes(instance, 'good,later');
    await write('half.pem', pem('ed25519'));
    await publishes(instance, 'good,half,later');
    for (const reason of reasons) expect(complaints(`keywatcher.keydir: ${reason}`)).toHaveLength(1);
    expect(complaints('notes.txt')).toEqual([]);
    expect((await ask(token, instance)).data.self.id).toBe(person.user.id);
    expect(JSON.stringify(world.logs)).not.toContain(good.slice(28, 60));
  });

  test('T-34: an id that auth.token.keys has, too, belongs to the key there', async (context) => {
    const configuredKey = pem('ed25519');
    const { write, open } = await withFolder(
      context,
      { 'own.pem': configuredKey },
      { CORE_AUTH_TOKEN_KEYS: JSON.stringify({ own: configuredKey }), CORE_AUTH_TOKEN_KID: 'own' },
    );
    const instance = await open();
    const token = await newToken(instance);
    expect(await publishedKids(instance)).toEqual(['own']);
    await write('own.pem', pem('ed25519'));
    await eventually(() => complaints('the id of another one, "own"').length > 0);
    expect((await ask(token, instance)).data.self.id).toBe(person.user.id);
    expect(await publishedKids(instance)).toEqual(['own']);
    expect(complaints('the id of another one, "own"')).toHaveLength(1);
  });

  test('T-34: an emptied or missing folder leaves the keys; a start without a key says what to do', async (context) => {
    const { folder, write, open } = await withFolder(context, { 'only.pem': pem('ed25519') });
    const instance = await open();
    const token = await newToken(instance);
    await rm(join(folder, 'only.pem'));
    await eventually(() => complaints('keywatcher.keydir has no usable key').length > 0);
    expect((await ask(token, instance)).status).toBe(200);
    await expect(open()).rejects.toThrow('keywatcher.keydir has no usable key');
    await write('only.pem', pem('ed25519'));
    await chmod(folder, 0o777);
    await eventually(() => complaints('keywatcher.keydir can be written by all users').length > 0);
    await expect(open()).rejects.toThrow('run chmod o-w on the folder');
    await chmod(folder, 0o700);
    await eventually(async () => (await ask(token, instance)).status === 401);
  });
});

describe('jwksendpoint', () => {
  const foreign = async (kid: string, pair = newKey.ed25519()) => ({
    header: { kid, alg: pair.privateKey.asymmetricKeyType === 'rsa' ? 'PS256' : 'EdDSA' },
    key: pair.privateKey,
    jwk: { ...(await exportJWK(pair.publicKey)), kid, use: 'sig' } as JWK,
  });

  async function withKeySet(answer: KeySetAnswer) {
    const server = await startKeySetServer(answer);
    onTestFinished(() => server.close());
    const environment = { CORE_AUTH_TOKEN_JWKSENDPOINT: server.url, CORE_AUTH_TOKEN_JWKSCACHETTL: '60000' };
    return { server, instance: await world.openInstance({ environment }) };
  }

  test('of this server: publishes its keys there, too, and the discovery document names it', async () => {
    const client = world.client();
    const discovery = await client.get('/.well-known/openid-configuration');
    expect(discovery.body).toEqual({
      issuer: 'https://api.test',
      jwks_uri: 'https://api.test/.well-known/jwks.json',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
    const open = (path: string) =>
      world.openInstance({
        environment: {
          CORE_AUTH_TOKEN_JWKSENDPOINT: `https://api.test${path}`,
          CORE_AUTH_TOKEN_JWKSCACHETTL: '60000',
        },
      });
    const own = (await open('/keys/public.json')).client();
    const [known, configured, announced] = [
      await own.get('/.well-known/jwks.json'),
      await own.get('/keys/public.json'),
      await own.get('/.well-known/openid-configuration'),
    ];
    expect(configured.body).toEqual(known.body);
    expect(announced.body.jwks_uri).toBe('https://api.test/keys/public.json');
    for (const { headers } of [known, configured, announced])
      expect(headers['cache-control']).toBe('public, max-age=60');
    await expect(open('/livez')).rejects.toThrow('which has another purpose');
    await expect(open('/:any')).rejects.toThrow('which is not plain');
  });

  test('of another server: its keys verify, too; without an answer the last known ones do', async () => {
    shows('auth.token.jwksendpoint');
    const [first, second, rsa, weak] = [
      await foreign('first'),
      await foreign('second'),
      await foreign('rsa', newKey.rsa()),
      await foreign('weak', generateKeyPairSync('rsa', { modulusLength: 1_024 })),
    ];
    const { server, instance } = await withKeySet([first.jwk, rsa.jwk, weak.jwk]);
    const tokenOf = (signer: typeof first) => forgedToken(world, person, signer);
    expect((await ask(await newToken(instance), instance)).status).toBe(200);
    expect(server.count()).toBe(0);
    for (const signer of [first, rsa]) expect((await ask(await tokenOf(signer), instance)).status).toBe(200);
    const refused = [
      await tokenOf(weak).catch(() => 'a.b.c'),
      await tokenOf({ ...first, key: second.key }),
      await forgedToken(world, person, { ...first, claims: { iss: 'https://elsewhere.test' } }),
      await forgedToken(world, person, { ...first, header: { ...first.header, typ: 'rt+jwt' } }),
      await forgedToken(world, person, { ...first, header: { ...first.header, jku: server.url, kid: 'third' } }),
    ];
    for (const token of refused) expectProblem(await ask(token, instance), 'unauthenticated');
    expect(server.count()).toBe(1);

    for (const answer of ['unavailable', 'not JSON', 'endless', 'redirect'] as const) {
      server.answerWith(answer);
      world.clock.advance(61_000);
      expect((await ask(await tokenOf(first), instance)).status).toBe(200);
    }
    expect(server.count()).toBe(5);
    const lines = world.logs.filter(({ msg }) => String(msg).includes('jwksendpoint returns no key set'));
    expect(lines).toHaveLength(1);

    server.answerWith([second.jwk]);
    world.clock.advance(61_000);
    expectProblem(await ask(await tokenOf(first), instance), 'unauthenticated');
    expect((await ask(await tokenOf(second), instance)).status).toBe(200);
  });

  test('of another server: many tokens with unknown keys cause one request', async () => {
    const [known, unknown] = [await foreign('known'), await foreign('unknown')];
    const { server, instance } = await withKeySet([known.jwk]);
    const token = await forgedToken(world, person, unknown);
    const flood = async () =>
      (await Promise.all(Array.from({ length: 200 }, () => ask(token, instance)))).map(({ status }) => status);
    expect(new Set(await flood())).toEqual(new Set([401]));
    expect(server.count()).toBe(1);
    server.answerWith('unavailable');
    world.clock.advance(61_000);
    expect(new Set(await flood())).toEqual(new Set([401]));
    expect(server.count()).toBe(2);
    expect((await ask(await forgedToken(world, person, known), instance)).status).toBe(200);
  });
});

describe('secretmanager', () => {
  const cacheTtlMs = 300_000;

  async function withSecret(versions: (string | null)[], name = 'projects/p/secrets/jwt') {
    const manager = await startSecretManager(versions);
    const folder = await mkdtemp(join(tmpdir(), 'core-credentials-'));
    onTestFinished(async () => {
      vi.unstubAllEnvs();
      await manager.close();
      await rm(folder, { recursive: true });
    });
    const credentials = join(folder, 'credentials.json');
    await writeFile(credentials, manager.credentials);
    vi.stubEnv('GOOGLE_APPLICATION_CREDENTIALS', credentials);
    const open = (environment: Record<string, string> = {}) =>
      world.openInstance({
        secretManager: manager.endpoint,
        environment: {
          CORE_AUTH_TOKEN_KEYS: '{}',
          CORE_AUTH_TOKEN_KID: 'the-newest',
          CORE_AUTH_TOKEN_JWKSCACHETTL: String(cacheTtlMs),
          CORE_SERVER_SECRETMANAGER: name,
          CORE_SERVER_SHUTDOWNGRACEPERIOD: '1000',
          ...environment,
        },
      });
    return { manager, open };
  }

  const unknownKey = async () =>
    forgedToken(world, person, { header: { kid: 'unknown' }, key: newKey.ed25519().privateKey });

  const errors = () =>
    world.logs.filter(({ level, msg }) => level === 'error' && String(msg).includes('secretmanager'));

  test('T-34: the newest version signs and the one before verifies; later ones sign when all have seen them', async () => {
    shows('server.secretmanager');
    const { manager, open } = await withSecret([pem('ed25519'), pem('ed25519')]);
    const instance = await open();
    expect(await publishedKids(instance)).toEqual(['jwt-1', 'jwt-2']);
    const old = await newToken(instance);
    expect(decodeProtectedHeader(old).kid).toBe('jwt-2');

    manager.versions.push(pem('p384'));
    // A token with an unknown key makes the process look at once.
    expectProblem(await ask(await unknownKey(), instance), 'unauthenticated');
    expect(await publishedKids(instance)).toEqual(['jwt-2', 'jwt-3']);
    expect(decodeProtectedHeader(await newToken(instance)).kid).toBe('jwt-2');
    world.clock.advance(cacheTtlMs + 1_000);
    const fresh = await newToken(instance);
    expect(decodeProtectedHeader(fresh)).toMatchObject({ kid: 'jwt-3', alg: 'ES384' });
    for (const token of [old, fresh]) expect((await ask(token, instance)).status).toBe(200);

    const next = await open();
    expect(decodeProtectedHeader(await newToken(next)).kid).toBe('jwt-3');
    manager.versions[1] = null;
    const withoutOld = await open({ CORE_SERVER_SECRETMANAGER: 'jwt' });
    expect(await publishedKids(withoutOld)).toEqual(['jwt-3']);
    expectProblem(await ask(old, withoutOld), 'unauthenticated');
    expect(errors()).toEqual([]);
  });

  test('T-34: a start waits for the secret manager; later its keys stay while it is away or gives no key, logged once', async () => {
    const { manager, open } = await withSecret([pem('ed25519')]);
    manager.isDown = true;
    const patient = open({ CORE_SERVER_SHUTDOWNGRACEPERIOD: '600000' });
    await eventually(() => manager.asked.length > 1);
    manager.isDown = false;
    const instance = await patient;
    expect(errors()).toHaveLength(1);
    const token = await newToken(instance);

    manager.isDown = true;
    await ask(await unknownKey(), instance);
    await eventually(() => errors().length === 2);
    const asked = manager.asked.length;
    await eventually(() => manager.asked.length > asked);
    expect((await ask(token, instance)).status).toBe(200);
    await expect(open()).rejects.toThrow('server.secretmanager gives no key');
    manager.isDown = false;
    manager.versions.push('no key');
    await eventually(() => errors().some(({ msg }) => String(msg).includes('version 2 is not a private key')));
    expect((await ask(token, instance)).status).toBe(200);
    expect(errors().filter(({ msg }) => String(msg).includes('UNAVAILABLE'))).toHaveLength(3);
    await expect(open({ CORE_SERVER_SECRETMANAGER: 'other' })).rejects.toThrow('NOT_FOUND');
  });
});
