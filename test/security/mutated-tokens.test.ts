// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { knownDevice, rememberDevice } from '#api/auth/known-devices.ts';
import { isValidChallenge, newChallenge } from '#api/auth/passkey-challenge.ts';
import { SignInStates } from '#api/auth/sign-in-state.ts';
import { isSignedNonce } from '#api/auth/signed-nonce.ts';
import { readPrincipalState } from '#entities/kit/access/principal-state.ts';
import { noSignOn } from '#entities/kit/access/single-sign-on.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { checkOneTimeToken, claimedId, oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { seeded, timesOf } from '../kit/depth.ts';
import { recordTried } from '../kit/tried.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { createFile } from '../kit/files/stored-upload.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-04: of thousands of truncated, extended, exchanged and case-flipped tokens of each kind none is accepted.

let world: World;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
});
afterAll(() => world.close());

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n\0é';
const random = seeded('mutated tokens');
const some = (count: number) => random.below(count);
/** Mutations that are verified, and those of them that are sent in a request. */
const verified = timesOf({ sample: 2_000, prove: 10_000 });
const sent = timesOf({ sample: 40, prove: 1_000 });
const character = () => alphabet[some(alphabet.length)] ?? '';

/** Texts that are nearly this one, each once: the changes of one place, then changes of those. */
function mutations(original: string, count: number): Set<string> {
  if (original.length < 30) throw new Error(`no token to change: ${JSON.stringify(original)}`);
  const found = new Set<string>();
  let round: readonly string[] = [original];
  while (found.size < count) {
    const next = Array.from({ length: 200 }, () => changesOf(round[some(round.length)] ?? original)).flat();
    // Clients do not send an empty token at all.
    for (const candidate of next) if (candidate !== original && candidate !== '') found.add(candidate);
    if (found.size > count / 2) round = next;
  }
  return found;
}

function changesOf(token: string): string[] {
  const at = some(token.length);
  const flipped = token.slice(at, at + 1);
  return [
    token.slice(0, at),
    token.slice(at + 1),
    token + character().repeat(1 + some(3)),
    character() + token,
    token.slice(0, at) + character() + token.slice(at),
    token.slice(0, at) + character() + token.slice(at + 1),
    token.slice(0, at) +
      (flipped === flipped.toUpperCase() ? flipped.toLowerCase() : flipped.toUpperCase()) +
      token.slice(at + 1),
    token.slice(0, at) + token.slice(at + 1, at + 2) + flipped + token.slice(at + 2),
    token.slice(at) + token.slice(0, at),
  ];
}

/** The mutations that are accepted: those for which `accept` does not throw. */
async function acceptedOf(original: string, accept: (mutated: string) => Promise<unknown>): Promise<string[]> {
  const answers = await Promise.all(
    [...mutations(original, verified)].map((mutated) =>
      accept(mutated).then(
        () => [mutated],
        () => [],
      ),
    ),
  );
  return answers.flat();
}

test('T-04: no mutated confirmation token is accepted', async () => {
  const email = 'mutations@example.com';
  await world.client().post('/v1/register', { email, password: 'correct horse battery' });
  const token = await verificationToken(world, email);
  const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
  const accepted = [...mutations(token, verified)].filter((mutated) => {
    try {
      checkOneTimeToken(key, 'email-verification', claimedId('email-verification', mutated), 1, mutated);
      return true;
    } catch {
      return false;
    }
  });
  expect(accepted).toEqual([]);

  const client = world.client();
  await client.get('/livez');
  for (const mutated of [...mutations(token, sent)].slice(0, sent)) {
    const answer = await client.post('/v1/verify', { token: mutated, password: 'correct horse battery' });
    expect(answer.status, mutated).toBe(400);
  }
  expect((await client.post('/v1/verify', { token, password: 'correct horse battery' })).status).toBe(200);
  recordTried('confirmation tokens', verified + sent);
});

test('T-04: no mutated access token is accepted', async () => {
  const token = (await signedIn(world, await buildPerson(world))).cookies.get('access_token') ?? '';
  const { accessTokens } = world.api.services;
  expect(await acceptedOf(token, (mutated) => accessTokens.verify(mutated))).toEqual([]);
  await accessTokens.verify(token);

  const client = world.client();
  // White space around a header's value does not belong to it.
  const inHeaders = [...mutations(token, sent)].filter((mutated) => mutated.trim() !== token);
  for (const mutated of inHeaders.slice(0, sent)) {
    client.bearer = mutated;
    expectProblem(await client.graphql('{ self { id } }'), 'unauthenticated', mutated);
  }
  recordTried('access tokens', verified + sent);
});

test.each(['/v1/api-tokens', '/v1/personal-access-tokens'])(
  'T-04: no mutated token of %s is accepted',
  async (path) => {
    const person = await signedIn(world, await buildPerson(world));
    const created = await person.post(path, { name: 'a program', scopes: ['task:read', 'user:read'] });
    const { token } = created.body as { token: string };
    const { apiTokens, database } = world.api.services;
    const verify = async (text: string): Promise<void> => {
      const presented = apiTokens.read(text, null);
      const work = { deadline: Date.now() + 30_000, traceparent: '' };
      const snapshot = presented && (await readPrincipalState(database, presented, work));
      if (!snapshot?.state.isSignedIn || !snapshot.state.isActive) throw new Error('refused');
    };
    expect(await acceptedOf(token, verify)).toEqual([]);
    await verify(token);

    const client = world.client();
    const inHeaders = [...mutations(token, sent)].filter((mutated) => mutated.trim() !== token);
    for (const mutated of inHeaders.slice(0, sent)) {
      client.bearer = mutated;
      expectProblem(await client.get('/v1/tasks'), 'unauthenticated', mutated);
    }
    client.bearer = token;
    expect((await client.get('/v1/tasks')).status).toBe(200);
    recordTried(`tokens of ${path}`, verified + sent);
  },
);

test('T-04: no mutated refresh token is accepted', async () => {
  const token = (await signedIn(world, await buildPerson(world))).cookies.get('refresh_token') ?? '';
  const { refreshTokens } = world.api.services;
  const accepted = await acceptedOf(token, (mutated) => refreshTokens.verify(mutated));
  expect(accepted).toEqual([]);
  await refreshTokens.verify(token);
  recordTried('refresh tokens', verified);
});

test('T-04: no mutated session cookie is accepted', async () => {
  const value = (await signedIn(world, await buildPerson(world))).cookies.get('session') ?? '';
  const { sessionCookies } = world.api.services;
  const accepted = await acceptedOf(value, async (mutated) => {
    if ((await sessionCookies.open(mutated)) === undefined) throw new Error('refused');
  });
  expect(accepted).toEqual([]);
  expect(await sessionCookies.open(value)).toBeDefined();
  recordTried('session cookies', verified);
});

test('T-04: no mutated CSRF token is accepted', async () => {
  const client = world.client();
  await client.get('/livez');
  const token = client.cookies.get('csrf_token') ?? '';
  const key = deriveKey(world.config.current.sessions.signingkey, 'csrf');
  expect([...mutations(token, verified)].filter((mutated) => isSignedNonce(key, '', mutated))).toEqual([]);
  expect(isSignedNonce(key, '', token)).toBe(true);
  recordTried('CSRF tokens', verified);
});

/** The other texts that open something: one of them, and what throws, or returns nothing, for texts that are none. */
const others: Readonly<Record<string, () => Promise<readonly [string, (mutated: string) => unknown]>>> = {
  ...Object.fromEntries(
    (
      ['password-reset', 'email-change', 'reactivation', 'invite', 'subscriber-verification', 'unsubscribe'] as const
    ).map((purpose) => [
      `token of ${purpose}`,
      async () => {
        const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
        const accept = (text: string) => {
          checkOneTimeToken(key, purpose, claimedId(purpose, text), 1, text);
          return true;
        };
        return [oneTimeToken(key, purpose, newId(), 1), accept] as const;
      },
    ]),
  ),
  'challenge token': async () => {
    const { challengeTokens } = world.api.services;
    const proof = { userId: newId(), method: 'password', credentialId: null, credential: 'x' } as const;
    const token = await challengeTokens.issue({ ...proof, ...noSignOn });
    return [token, (text) => challengeTokens.verify(text)];
  },
  ...Object.fromEntries(
    (['support', 'impersonation'] as const).map((type) => [
      `token of ${type}`,
      async () => {
        const { delegationTokens } = world.api.services;
        const expiresAt = new Date(world.clock.now().getTime() + 3_600_000);
        const ids = { delegationId: newId(), organizationId: newId(), subjectId: newId(), actorId: newId() };
        const token = await delegationTokens.issue({ type, expiresAt, ...ids });
        return [token, (text: string) => delegationTokens.verify(type, text)] as const;
      },
    ]),
  ),
  'state of a sign-in at a provider': async () => {
    const states = new SignInStates(() => world.config.current.sessions, world.clock);
    const value = await states.seal({
      provider: 'identity',
      purpose: 'sign-in',
      state: 'state',
      nonce: 'nonce',
      verifier: 'verifier',
      target: 'https://console.example',
      session: null,
      organizationId: null,
      settings: null,
    });
    return [value, (text) => states.open(text)];
  },
  'mark of a known device': async () => {
    const key = deriveKey(world.config.current.sessions.signingkey, 'known-device');
    return [rememberDevice(key, 'account', undefined), (text) => knownDevice(key, 'account', text)];
  },
  'challenge of a passkey': async () => {
    const { signingkey } = world.config.current.sessions;
    const binding = { ceremony: 'authentication', subject: 'browser' } as const;
    const now = world.clock.now();
    const challenge = newChallenge(signingkey, binding, now).toString('base64url');
    return [challenge, (text) => isValidChallenge(signingkey, binding, text, { now, maxAgeMs: 60_000 }) || undefined];
  },
};

test.each(Object.keys(others))('T-04: no mutated %s is accepted', async (kind) => {
  const [token, open] = (await others[kind]?.()) ?? ['', () => undefined];
  const accept = async (mutated: string) => {
    if ((await open(mutated)) === undefined) throw new Error('refused');
  };
  expect(await acceptedOf(token, accept)).toEqual([]);
  await accept(token);
  recordTried(kind, verified);
});

test('T-111: no mutated link to a file is accepted', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const [stored, other] = [await createFile(world, person, client), await createFile(world, person, client)];
  const { data } = await client.graphql(`{ file(id: "${stored.id}") { content { downloadUrl } } }`);
  const link = new URL(data.file.content.downloadUrl);
  const token = link.searchParams.get('token') ?? '';
  const { downloadLinks } = world.api.services;
  const accepts = (text: string, objectId = stored.objectId) => downloadLinks.open(objectId, text) !== undefined;
  expect([...mutations(token, verified)].filter((mutated) => accepts(mutated))).toEqual([]);
  expect([accepts(token), accepts(token, other.objectId)]).toEqual([true, false]);

  // Every field replaced, exchanged with the next, or joined with it, under the signature of the link.
  const [version, keyId, content = '', signature] = token.split('.');
  const fields = JSON.parse(Buffer.from(content, 'base64url').toString()) as unknown[];
  const forged = fields.flatMap((field, index) => [
    fields.with(index, other.objectId),
    fields.with(index, Array.isArray(field) ? [...field].toReversed() : `${String(field)}0`),
    fields.with(index, fields[(index + 1) % fields.length]).with((index + 1) % fields.length, field),
    [...fields.slice(0, index), `${String(field)}${String(fields[index + 1])}`, ...fields.slice(index + 2)],
    fields.toSpliced(index, 1),
  ]);
  const texts = [...forged, [...fields, true]].map((each) => Buffer.from(JSON.stringify(each)).toString('base64url'));
  expect(texts.filter((text) => accepts([version, keyId, text, signature].join('.')))).toEqual([]);

  const stranger = world.client();
  for (const mutated of [...mutations(token, sent)].slice(0, sent)) {
    const answer = await stranger.get(`${link.pathname}?token=${encodeURIComponent(mutated)}`);
    expect([400, 404], mutated).toContain(answer.status);
  }
  const elsewhere = link.pathname.replace(stored.objectId, other.objectId);
  expectProblem(await stranger.get(elsewhere + link.search), 'not_found');
  expect((await stranger.get(link.pathname + link.search)).status).toBe(200);
  recordTried('links to files', verified + sent);
});
