import { generateKeyPairSync } from 'node:crypto';
import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, type Person } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-34: keys are rotated without a request that fails, and a key that was taken away is worth nothing.

const pem = (type: 'ed25519' | 'rsa') => {
  const { privateKey } =
    type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2_048 }) : generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
};
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

const publishedKids = async () =>
  (await world.client().get('/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid) as string[];

async function reconfigured(changes: Record<string, string>): Promise<void> {
  const kids = Object.keys(JSON.parse(changes['CORE_AUTH_TOKEN_KEYS'] ?? '{}') as object);
  await world.reconfigure(changes);
  // The set is loaded behind the reload.
  await eventually(async () => (await publishedKids()).join() === kids.join());
}

async function newToken(): Promise<string> {
  return (await signedIn(world, person)).cookies.get('access_token') ?? '';
}

async function ask(bearer: string) {
  const client = world.client();
  client.bearer = bearer;
  return client.graphql('{ self { id } }');
}

test('T-34: the older key verifies tokens while the newer one signs, until it is removed', async () => {
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
      ({ level, msg }) => level === 'error' && String(msg).includes('signing keys cannot be used'),
    );
    return found.length > 0 && found;
  });
  expect(lines).toHaveLength(1);
  expect((await ask(before)).data.self.id).toBe(person.user.id);
  expect((await ask(await newToken())).data.self.id).toBe(person.user.id);
  expect(await publishedKids()).toEqual(['newer']);
});

test('T-34: the published key set contains no private key', async () => {
  const { body } = await world.client().get('/.well-known/jwks.json');
  for (const key of body.keys)
    expect(Object.keys(key)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(d|p|q|dp|dq|qi|k)$/)]));
});
