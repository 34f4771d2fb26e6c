import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { passkey, user } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { timesOf } from '../../kit/depth.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { expectGraphqlError } from '../../kit/graphql-error.ts';
import { mailsTo, waitForMails } from '../../kit/mailbox.ts';
import {
  newPasskey,
  passkeyEnvironment,
  passkeyOptions,
  passkeyOrigin,
  registerPasskey,
  signInByPasskey,
} from '../../kit/identity/register-passkey.ts';
import { buildPerson, deletePerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { SoftwareAuthenticator, type Deviation } from '../../kit/identity/software-authenticator.ts';
import { shows } from '../../kit/shows.ts';
import type { TestClient } from '../../kit/test-client.ts';
import { recordTried } from '../../kit/tried.ts';
import { resetToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let person: Person;
let owner: TestClient;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      ...passkeyEnvironment,
      CORE_AUTH_PROVIDERS_WEBAUTHN_MAXDEVICES: '1000',
      // Races of fifty take their time on a busy machine.
      CORE_SERVER_WRITETIMEOUT: '600000',
    },
  });
  person = await buildPerson(world);
  owner = await signedIn(world, person);
});
afterAll(() => world.close());

interface StoredPasskey {
  readonly sign_count: string;
  readonly is_backed_up: boolean;
  readonly last_used_at: Date | null;
  readonly record_version: number;
}

async function stored({ credentialId }: SoftwareAuthenticator): Promise<StoredPasskey | undefined> {
  const columns = 'sign_count, is_backed_up, last_used_at, record_version';
  const [row] = await asOwner<StoredPasskey>(
    world,
    `select ${columns} from passkeys where credential_id = $1 and deleted_at is null`,
    [credentialId],
  );
  return row;
}

async function isSignedIn(client: TestClient): Promise<boolean> {
  return (await client.graphql('{ self { id } }')).data?.self != null;
}

function countOf(of: Person = person): Promise<number> {
  return asSystem(world, of.organization.id, async (data) => {
    const held = await data.find(passkey, { where: { userId: { eq: of.user.id } }, limit: 1_000 });
    return held.length;
  });
}

describe('a passkey', () => {
  test.each(['ES256', 'EdDSA', 'RS256'] as const)('with a key for %s is registered and signs in', async (algorithm) => {
    const authenticator = new SoftwareAuthenticator(passkeyOrigin, algorithm);
    const answer = await registerPasskey(owner, authenticator, {}, { name: `Key for ${algorithm}` });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({ id: expect.stringMatching(/^\w{26}$/), name: `Key for ${algorithm}` });
    const client = world.client();
    const session = await signInByPasskey(client, authenticator);
    expect(session.body).toMatchObject({ user_id: person.user.id, organization_id: person.organization.id });
    expect(await isSignedIn(client)).toBe(true);
    expect(await stored(authenticator)).toMatchObject({ sign_count: '2', last_used_at: world.clock.now() });
    expect((await signInByPasskey(world.client(), authenticator)).status).toBe(200);
  });

  test('may have a self-signed attestation, and need not count or be the only copy', async () => {
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    const copied = { signCount: 0, isBackupEligible: true };
    const answer = await registerPasskey(owner, authenticator, { ...copied, attestation: 'packed' });
    expect(answer.status).toBe(201);
    expect(answer.body.name).toBe('Passkey');
    for (let time = 0; time < 2; time++)
      expect((await signInByPasskey(world.client(), authenticator, { ...copied, isBackedUp: true })).status).toBe(200);
    expect(await stored(authenticator)).toMatchObject({ sign_count: '0', is_backed_up: true });
  });

  test('is asked for with options that name person and server, and the passkeys that exist', async () => {
    const first = await newPasskey(owner);
    const { publicKey } = await passkeyOptions(owner, 'registration');
    expect(publicKey).toMatchObject({
      rp: { id: 'example.com', name: 'Core of tests' },
      user: { name: person.user.email, displayName: person.user.displayName },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    });
    expect(Buffer.from(publicKey.user.id, 'base64url').toString()).toBe(person.user.id);
    expect(publicKey.excludeCredentials).toContainEqual(
      expect.objectContaining({ id: first.credentialId, transports: ['internal', 'hybrid'] }),
    );
    // Nobody has asked for anybody: the options of a sign-in are the same for all.
    const { publicKey: options } = await passkeyOptions(world.client(), 'authentication');
    expect(options).toEqual({
      challenge: expect.any(String),
      rpId: 'example.com',
      timeout: 60_000,
      userVerification: 'required',
    });
  });

  test('is listed, renamed and removed by its owner, over GraphQL and REST', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    const [one, other] = [await newPasskey(client), await newPasskey(client)];
    const query = `{ passkeys(orderBy: [{ field: CREATED_AT, direction: ASC }]) { edges { node {
      id name credentialId transports aaguid isBackupEligible isBackedUp lastUsedAt } } } }`;
    const list = async () =>
      (await client.graphql(query)).data.passkeys.edges.map((edge: { node: object }) => edge.node);
    const [first, second] = await list();
    expect(first).toEqual({
      id: expect.any(String),
      name: 'Passkey',
      credentialId: one.credentialId,
      transports: ['internal', 'hybrid'],
      aaguid: '00000000-0000-0000-0000-000000000000',
      isBackupEligible: false,
      isBackedUp: false,
      lastUsedAt: null,
    });
    const renamed = await client.graphql(
      'mutation ($id: ID!) { updatePasskey(id: $id, input: { name: "Phone" }) { passkey { name } } }',
      { id: first.id },
    );
    expect(renamed.data.updatePasskey.passkey.name).toBe('Phone');
    const headers = { 'x-csrf-token': client.cookies.get('csrf_token') ?? '' };
    const url = `/v1/passkeys/${second.id}`;
    expect((await client.request({ method: 'PATCH', url, headers, payload: { name: 'Key' } })).body.name).toBe('Key');
    for (const change of [{ sign_count: 0 }, { credential_id: 'x' }, { public_key: 'x' }, { user_id: person.user.id }])
      expectProblem(await client.request({ method: 'PATCH', url, headers, payload: change }), 'invalid_input');
    expect((await client.request({ method: 'DELETE', url, headers })).status).toBe(204);
    const removed = await client.graphql('mutation ($id: ID!) { deletePasskey(id: $id) { deletedId } }', {
      id: first.id,
    });
    expect(removed.errors).toBeUndefined();
    expect((await client.get('/v1/passkeys')).body.data).toEqual([]);
    for (const gone of [one, other]) expectProblem(await signInByPasskey(world.client(), gone), 'invalid_credentials');
    // What was removed can be registered again, by whoever has it.
    expect((await registerPasskey(owner, one)).status).toBe(201);
  });

  test('T-14: is seen, changed and removed by nobody else, whatever their role', async () => {
    const member = await buildPerson(world, { organization: person.organization, role: 'member' });
    const client = await signedIn(world, member);
    const authenticator = await newPasskey(client);
    const id = (await client.get('/v1/passkeys')).body.data[0].id as string;
    for (const role of ['owner', 'super_admin', 'admin'] as const) {
      const other = await signedIn(world, await buildPerson(world, { organization: person.organization, role }));
      const headers = { 'x-csrf-token': other.cookies.get('csrf_token') ?? '' };
      const url = `/v1/passkeys/${id}`;
      expectProblem(await other.get(url), 'not_found');
      expectProblem(await other.request({ method: 'PATCH', url, headers, payload: { name: 'Mine' } }), 'not_found');
      expectProblem(await other.request({ method: 'DELETE', url, headers }), 'not_found');
      const mutation = 'mutation ($id: ID!) { deletePasskey(id: $id) { deletedId } }';
      expectGraphqlError(await other.graphql(mutation, { id }), 'not_found');
    }
    expect((await signInByPasskey(world.client(), authenticator)).status).toBe(200);
  });

  test('T-14: of somebody else is not registered a second time', async () => {
    const authenticator = await newPasskey(owner);
    const other = await buildPerson(world);
    const client = await signedIn(world, other);
    expectProblem(await registerPasskey(client, authenticator), 'already_exists');
    expect(await countOf(other)).toBe(0);
  });
});

describe('T-15: a registration is refused', () => {
  const deviations: Readonly<Record<string, Deviation>> = {
    'from another origin': { origin: 'https://example.com.evil.test' },
    'from an origin of another scheme': { origin: 'http://console.example.com' },
    'from a page within a page of another origin': { crossOrigin: true },
    'for another relying party': { relyingPartyId: 'evil.test' },
    'that is a sign-in': { type: 'webauthn.get' },
    'with a challenge that nobody has made': { challenge: Buffer.alloc(54, 7).toString('base64url') },
    'without a challenge': { challenge: '' },
    'without verification of the user': { isUserVerified: false },
    'without presence of the user': { isUserPresent: false },
    'of a passkey that is copied and cannot be': { isBackedUp: true },
    'with an attestation by another key': {
      attestation: 'packed',
      privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
    },
    'with certificates': { attestation: 'packed with certificates' },
    'with an attestation of a format that was not asked for': { attestation: 'tpm' },
  };
  test.each(Object.keys(deviations))('%s', async (name) => {
    const before = await countOf();
    const answer = await registerPasskey(owner, new SoftwareAuthenticator(passkeyOrigin), deviations[name]);
    expectProblem(answer, 'invalid_passkey');
    expect(answer.body.detail).toBe('The passkey was not accepted; begin again with /v1/registration/options.');
    expect(await countOf()).toBe(before);
  });

  test('of nobody, and with the options of another session, of a sign-in, or of before', async () => {
    const before = await countOf();
    const nobody = world.client();
    expectProblem(await nobody.post('/v1/registration/options'), 'unauthenticated');
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    const options = await passkeyOptions(owner, 'registration');
    const body = authenticator.create(options);
    expectProblem(await nobody.post('/v1/registration/verification', body), 'unauthenticated');
    // Another session of the same person, and a session of another person.
    for (const other of [person, await buildPerson(world)]) {
      const client = await signedIn(world, other);
      expectProblem(await client.post('/v1/registration/verification', body), 'invalid_passkey');
    }
    const { publicKey } = await passkeyOptions(owner, 'authentication');
    const challenge = publicKey.challenge as string;
    expectProblem(await registerPasskey(owner, authenticator, { challenge }), 'invalid_passkey');
    world.clock.advance(60_000);
    expectProblem(await owner.post('/v1/registration/verification', body), 'invalid_passkey');
    expect(await countOf()).toBe(before);
  });

  test('with options that were used, in sequence and fifty times at once', async () => {
    const before = await countOf();
    const options = await passkeyOptions(owner, 'registration');
    const bodies = Array.from({ length: 50 }, () => new SoftwareAuthenticator(passkeyOrigin).create(options));
    const answers = await Promise.all(bodies.map((body) => owner.post('/v1/registration/verification', body)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) expectProblem(answer, 'invalid_passkey');
    expect(await countOf()).toBe(before + 1);
    // A refusal uses them up, too.
    const refused = await passkeyOptions(owner, 'registration');
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    const url = '/v1/registration/verification';
    expectProblem(
      await owner.post(url, authenticator.create(refused, { origin: 'https://evil.test' })),
      'invalid_passkey',
    );
    expectProblem(await owner.post(url, authenticator.create(refused)), 'invalid_passkey');
  });
});

describe('T-15: a sign-in is refused', () => {
  const text = 'The passkey was not accepted; begin again with /v1/authentication/options, or sign in with a password.';
  const deviations: Readonly<Record<string, Deviation>> = {
    'from another origin': { origin: 'https://example.com.evil.test' },
    'from a page within a page of another origin': { crossOrigin: true },
    'for another relying party': { relyingPartyId: 'evil.test' },
    'that is a registration': { type: 'webauthn.create' },
    'with a challenge that nobody has made': { challenge: Buffer.alloc(54, 7).toString('base64url') },
    'without verification of the user': { isUserVerified: false },
    'without presence of the user': { isUserPresent: false },
    'by another key': { privateKey: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey },
    'of a passkey that can be copied all of a sudden': { isBackupEligible: true },
    'of a passkey that tells no user': { userHandle: undefined },
    'of a passkey that tells another user': {
      userHandle: Buffer.from('01J00000000000000000000000').toString('base64url'),
    },
    'with the count of before': { signCount: 1 },
    'with a smaller count': { signCount: 0 },
  };
  test.each(Object.keys(deviations))('%s', async (name) => {
    const authenticator = await newPasskey(owner);
    const before = await stored(authenticator);
    const client = world.client();
    const answer = await signInByPasskey(client, authenticator, deviations[name]);
    expectProblem(answer, 'invalid_credentials');
    expect(answer.body.detail).toBe(text);
    expect(await isSignedIn(client)).toBe(false);
    expect(await stored(authenticator)).toEqual(before);
    authenticator.signCount = 1;
    expect((await signInByPasskey(client, authenticator)).status).toBe(200);
  });

  test('with a passkey that nobody has registered, or of another person', async () => {
    const client = world.client();
    const unknown = new SoftwareAuthenticator(passkeyOrigin);
    unknown.userHandle = Buffer.from(person.user.id).toString('base64url');
    const answer = await signInByPasskey(client, unknown);
    expectProblem(answer, 'invalid_credentials');
    expect(answer.body.detail).toBe(text);
    const other = await newPasskey(await signedIn(world, await buildPerson(world)));
    expectProblem(await signInByPasskey(client, other, { userHandle: unknown.userHandle }), 'invalid_credentials');
  });

  test('in another browser, without its cookie, after its time, and with options of a registration', async () => {
    const authenticator = await newPasskey(owner);
    const url = '/v1/authentication/verification';
    const client = world.client();
    const options = await passkeyOptions(client, 'authentication');
    const other = world.client();
    expectProblem(await other.post(url, authenticator.get(options)), 'invalid_credentials');
    await passkeyOptions(other, 'authentication');
    expectProblem(await other.post(url, authenticator.get(options)), 'invalid_credentials');
    const { publicKey } = await passkeyOptions(owner, 'registration');
    const challenge = publicKey.challenge as string;
    expectProblem(await client.post(url, authenticator.get(options, { challenge })), 'invalid_credentials');
    world.clock.advance(59_999);
    const late = await passkeyOptions(client, 'authentication');
    expect((await client.post(url, authenticator.get(options))).status).toBe(200);
    world.clock.advance(60_000);
    expectProblem(await client.post(url, authenticator.get(late)), 'invalid_credentials');
  });

  test('with an answer that was used, in sequence and fifty times at once, by several processes', async () => {
    const authenticator = await newPasskey(owner);
    const url = '/v1/authentication/verification';
    const here = world.client();
    const there = (await world.openInstance()).client();
    const body = authenticator.get(await passkeyOptions(here, 'authentication'));
    for (const [name, value] of here.cookies) there.cookies.set(name, value);
    const posts = Array.from({ length: 25 }, () => [here, there].map((client) => client.post(url, body)));
    const answers = await Promise.all(posts.flat());
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 200)) expectProblem(answer, 'invalid_credentials');
    expectProblem(await world.client().post(url, body), 'invalid_credentials');
  });

  test('T-21: with another value of this server in the place of a challenge, and no challenge counts in another place', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    const authenticator = await newPasskey(client);
    await client.post('/v1/forgot-password', { email: own.user.email });
    const { publicKey } = await passkeyOptions(client, 'authentication');
    const values = [...client.cookies.values(), await resetToken(world, own.user.email)];
    expect(values.length).toBeGreaterThanOrEqual(6);
    for (const challenge of values) {
      expectProblem(await signInByPasskey(client, authenticator, { challenge }), 'invalid_credentials');
      const another = new SoftwareAuthenticator(passkeyOrigin);
      expectProblem(await registerPasskey(client, another, { challenge }), 'invalid_passkey');
    }
    const { challenge: token } = publicKey;
    const bearer = world.client();
    bearer.bearer = token;
    expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated');
    expectProblem(await world.client().post('/v1/refresh', { refresh_token: token }), 'unauthenticated');
    for (const url of ['/v1/verify', '/v1/password-reset'])
      expectProblem(await world.client().post(url, { token, password: testPassword }), 'invalid_token');
  });

  test('T-01: of a person who is not active any more, until they are again', async () => {
    const locked = await buildPerson(world);
    const authenticator = await newPasskey(await signedIn(world, locked));
    const set = (status: 'active' | 'deactivated' | 'suspended' | 'inactive') =>
      asSystem(world, locked.organization.id, (data) => data.update(user, locked.user.id, { status }));
    for (const status of ['deactivated', 'suspended', 'inactive'] as const) {
      await set(status);
      const answer = await signInByPasskey(world.client(), authenticator);
      expectProblem(answer, 'invalid_credentials');
      expect(answer.body.detail).toBe(text);
    }
    await set('active');
    expect((await signInByPasskey(world.client(), authenticator)).status).toBe(200);
    await deletePerson(world, locked.user.email);
    expectProblem(await signInByPasskey(world.client(), authenticator), 'invalid_credentials');
  });
});

describe('a mail tells the owner', () => {
  const topicsOf = async (id: string) => {
    const text = 'select topic, actor, payload from events where entity_id = $1 order by occurred_at, id';
    return asOwner<{ topic: string; actor: string; payload: object }>(world, text, [id]);
  };

  test('that a passkey was added, and that it was removed', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    await registerPasskey(client, new SoftwareAuthenticator(passkeyOrigin), {}, { name: 'Prize! https://evil.test' });
    const { email } = own.user;
    const [added = ''] = await waitForMails(world, email);
    expect(added).toContain('A passkey was added to your account');
    expect(added).not.toContain('evil');
    const { id } = (await client.get('/v1/passkeys')).body.data[0];
    await client.graphql('mutation ($id: ID!) { deletePasskey(id: $id) { deletedId } }', { id });
    expect((await waitForMails(world, email, 2)).join('\n')).toContain('A passkey was removed from your account');
    const events = await topicsOf(id);
    expect(events.map(({ topic }) => topic)).toEqual(['passkey.created', 'passkey.deleted']);
    expect(events.every(({ actor }) => actor === `user:${own.user.id}`)).toBe(true);
  });

  test('T-15: once a day that a sign-in counted less than before, if the key was right', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    const authenticator = await newPasskey(client);
    const { email } = own.user;
    await waitForMails(world, email);
    await signInByPasskey(world.client(), authenticator, { signCount: 7 });
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    for (const deviation of [{ signCount: 7 }, { signCount: 6 }, { signCount: 5, privateKey }])
      expectProblem(await signInByPasskey(world.client(), authenticator, deviation), 'invalid_credentials');
    const { id } = (await client.get('/v1/passkeys')).body.data[0];
    const events = await topicsOf(id);
    expect(events.map(({ topic }) => topic)).toEqual([
      'passkey.created',
      'passkey.updated',
      'passkey.sign_count_decreased',
      'passkey.sign_count_decreased',
    ]);
    expect(events.at(-1)?.payload).toEqual({ userId: own.user.id });
    const mails = await waitForMails(world, email, 2);
    expect(mails.join('\n')).toContain('A sign-in to your account was refused');
    await eventually(() => isSettled(world));
    expect(await mailsTo(world, email)).toHaveLength(2);
  });
});

describe('bad input', () => {
  const long = 'x'.repeat(1_000_000);
  const wrong: readonly unknown[] = [null, [], ['x'], {}, 0, 1.5, true, '', ' ', '=', 'ä', '\0', long];

  /** The body with each of its fields replaced by each wrong value, or left out. */
  function* variants(body: Record<string, unknown>, names: readonly string[]): Generator<[string, object]> {
    for (const name of names) {
      const [outer, inner] = name.split('.') as [string, string?];
      for (const value of [...wrong, undefined]) {
        const about = `${name}: ${JSON.stringify(value)?.slice(0, 20)}`;
        if (inner === undefined) yield [about, { ...body, [outer]: value }];
        else yield [about, { ...body, [outer]: { ...(body[outer] as object), [inner]: value } }];
      }
    }
  }

  const fields = ['id', 'rawId', 'type', 'response', 'response.clientDataJSON'];

  test('of every field of a registration is a refusal, and registers nothing', async () => {
    const before = await countOf();
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    const body = authenticator.create(await passkeyOptions(owner, 'registration'));
    const url = '/v1/registration/verification';
    for (const [about, changed] of variants(body, [...fields, 'response.attestationObject'])) {
      const { status, body: problem } = await owner.post(url, changed);
      expect([400, 413], `${about} ${JSON.stringify(problem)}`).toContain(status);
    }
    for (const extra of [{ name: '' }, { name: null }, { name: 'x'.repeat(65) }, { other: 1 }, { name: 'a\u202eb' }]) {
      const fresh = authenticator.create(await passkeyOptions(owner, 'registration'));
      expectProblem(await owner.post(url, { ...fresh, ...extra }), 'invalid_input');
    }
    expectProblem(await owner.post(url), 'invalid_input');
    // What is no CBOR or JSON, or has more or less than it should.
    const { clientDataJSON, attestationObject } = body.response;
    const bytes = Buffer.from(attestationObject, 'base64url');
    const json = Buffer.from(clientDataJSON, 'base64url').toString();
    const broken: readonly object[] = [
      ...[1, 2, 40].map((end) => ({
        attestationObject: bytes.subarray(0, end).toString('base64url'),
      })),
      { attestationObject: Buffer.from('{}').toString('base64url') },
      { attestationObject: 'A'.repeat(60_000) },
      ...['{}', '[]', 'null', '1', '"x"', '{', json.replace('challenge', 'challenges'), `${json}x`].map((text) => ({
        clientDataJSON: Buffer.from(text).toString('base64url'),
      })),
      ...[null, 1, [], {}].map((challenge) => ({
        clientDataJSON: Buffer.from(JSON.stringify({ ...JSON.parse(json), challenge })).toString('base64url'),
      })),
    ];
    for (const response of broken) {
      const fresh = authenticator.create(await passkeyOptions(owner, 'registration'));
      const answer = await owner.post(url, { ...fresh, response: { ...fresh.response, ...response } });
      expectProblem(answer, 'invalid_passkey', JSON.stringify(response).slice(0, 100));
    }
    expect(await countOf()).toBe(before);
  });

  test('of every field of a sign-in is a refusal, and signs nobody in', async () => {
    const authenticator = await newPasskey(owner);
    const client = world.client();
    const body = authenticator.get(await passkeyOptions(client, 'authentication'));
    const names = [...fields, 'response.authenticatorData', 'response.signature'];
    for (const [about, changed] of variants(body, names)) {
      const { status, body: problem } = await client.post('/v1/authentication/verification', changed);
      expect([400, 413], `${about} ${JSON.stringify(problem)}`).toContain(status);
    }
    expect(await isSignedIn(client)).toBe(false);
    const data = Buffer.from(body.response.authenticatorData, 'base64url');
    const broken: readonly object[] = [
      { authenticatorData: data.subarray(0, 36).toString('base64url') },
      { authenticatorData: Buffer.concat([data, Buffer.from([0])]).toString('base64url') },
      { signature: 'AA' },
      { signature: body.response.signature },
    ];
    for (const response of broken) {
      const fresh = authenticator.get(await passkeyOptions(client, 'authentication'));
      const changed = { ...fresh, response: { ...fresh.response, ...response } };
      expectProblem(await client.post('/v1/authentication/verification', changed), 'invalid_credentials');
    }
    expect(await isSignedIn(client)).toBe(false);
    // None of it has used up the options that it was sent with.
    expect((await client.post('/v1/authentication/verification', body)).status).toBe(200);
  });

  test('makes a network address wait after fifty refusals, but not a browser that has signed in before', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    const authenticator = await newPasskey(client);
    const attacker = world.client();
    attacker.address = '203.0.113.9';
    client.address = attacker.address;
    for (let time = 0; time < 50; time++)
      expectProblem(
        await signInByPasskey(attacker, authenticator, { origin: 'https://evil.test' }),
        'invalid_credentials',
      );
    const answer = await signInByPasskey(attacker, authenticator);
    expectProblem(answer, 'too_many_requests');
    expect(answer.headers['retry-after']).toBe('900');
    expect((await signInByPasskey(client, authenticator)).status).toBe(200);
    const elsewhere = world.client();
    elsewhere.address = '203.0.113.10';
    expect((await signInByPasskey(elsewhere, authenticator)).status).toBe(200);
    world.clock.advance(15 * 60_000);
    expect((await signInByPasskey(attacker, authenticator)).status).toBe(200);
  });
});

describe('T-13: a passkey takes the place of the password only', () => {
  test('of a person with a second factor it asks for a code, and gives no session before', async () => {
    const own = await buildPerson(world);
    const careful = await signedIn(world, own);
    const authenticator = await newPasskey(careful);
    const { app } = await enroll(world, careful);
    const client = world.client();
    const { status, body } = await signInByPasskey(client, authenticator);
    expect(status).toBe(200);
    expect(body).toEqual({ mfa_required: true, challenge_token: expect.any(String), expires_in: expect.any(Number) });
    for (const name of ['access_token', 'session', 'refresh_token']) expect(client.cookies.has(name)).toBe(false);
    expect(await isSignedIn(client)).toBe(false);
    client.bearer = body.challenge_token;
    expectProblem(await client.post('/v1/registration/options'), 'unauthenticated');
    client.bearer = undefined;
    const code = await app.nextCode();
    const answer = await client.post('/v1/2fa/validate', { challenge_token: body.challenge_token, code });
    expect(answer.body).toMatchObject({ user_id: own.user.id });
    expect(await isSignedIn(client)).toBe(true);
  });

  test('removed, it answers no challenge that it began', async () => {
    const own = await buildPerson(world);
    const careful = await signedIn(world, own);
    const authenticator = await newPasskey(careful);
    const { app } = await enroll(world, careful);
    const { body } = await signInByPasskey(world.client(), authenticator);
    const [{ id }] = (await careful.get('/v1/passkeys')).body.data;
    expect((await careful.mutate({ method: 'DELETE', url: `/v1/passkeys/${id}` })).status).toBe(204);
    const late = { challenge_token: body.challenge_token, code: await app.nextCode() };
    expectProblem(await world.client().post('/v1/2fa/validate', late), 'unauthenticated');
  });

  test('T-14: who has found a device of somebody signed in adds no passkey: a proof of the last ten minutes is needed', async () => {
    const own = await buildPerson(world);
    const client = await signedIn(world, own);
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    world.clock.advance(9 * 60_000 + 30_000);
    const body = authenticator.create(await passkeyOptions(client, 'registration'));
    world.clock.advance(31_000);
    expectProblem(await client.post('/v1/registration/verification', body), 'step_up_required');
    expectProblem(await client.post('/v1/registration/options'), 'step_up_required');
    expect(await countOf(own)).toBe(0);
    expect((await client.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expect((await registerPasskey(client, authenticator)).status).toBe(201);
  });
});

describe('auth.providers.webauthn', () => {
  beforeAll(async () => {
    // What was proven before is too old for another passkey.
    owner = await signedIn(world, person);
  });

  const prefix = 'CORE_AUTH_PROVIDERS_WEBAUTHN_';
  const instance = (settings: Readonly<Record<string, string>>) =>
    world.openInstance({
      environment: Object.fromEntries(Object.entries(settings).map(([name, value]) => [`${prefix}${name}`, value])),
    });
  const signedInAt = async ({ client: newClient }: Pick<World, 'client'>, who: Person) => {
    const client = newClient();
    await client.post('/v1/login', { username: who.user.email, password: testPassword });
    return client;
  };

  test('enabled: off, no passkey is registered or accepted, and no origin told', async () => {
    shows('auth.providers.webauthn.enabled');
    const authenticator = await newPasskey(owner);
    const off = await instance({ ENABLED: 'false' });
    const client = await signedInAt(off, person);
    for (const ceremony of ['registration', 'authentication'] as const) {
      const refused = await client.post(`/v1/${ceremony}/options`);
      expectProblem(refused, 'not_found');
      expect(refused.body.detail).toContain('configuration auth.providers.webauthn');
    }
    const registration = new SoftwareAuthenticator(passkeyOrigin).create(await passkeyOptions(owner, 'registration'));
    expectProblem(await client.post('/v1/registration/verification', registration), 'not_found');
    const body = authenticator.get(await passkeyOptions(owner, 'authentication'));
    expectProblem(await client.post('/v1/authentication/verification', body), 'not_found');
    expectProblem(await client.get('/.well-known/webauthn'), 'not_found');
    // What is there can still be removed.
    expect((await client.get('/v1/passkeys')).body.data.length).toBeGreaterThan(0);
    const listed = await world.openInstance({
      environment: { [`${prefix}ENABLED`]: 'false', CORE_AUTH_SUPPORTEDPROVIDERS: 'webauthn' },
    });
    expect((await signInByPasskey(listed.client(), authenticator)).status).toBe(200);
  });

  test('relyingpartyid and displayname are those of the options, and the only party whose passkeys count', async () => {
    shows('auth.providers.webauthn.displayname', 'auth.providers.webauthn.relyingpartyid');
    const authenticator = await newPasskey(owner);
    const other = await instance({ RELYINGPARTYID: 'console.example.com', DISPLAYNAME: 'Another' });
    const client = await signedInAt(other, person);
    const { publicKey } = await passkeyOptions(client, 'registration');
    expect(publicKey.rp).toEqual({ id: 'console.example.com', name: 'Another' });
    expectProblem(
      await signInByPasskey(client, authenticator, { relyingPartyId: 'example.com' }),
      'invalid_credentials',
    );
    expect((await signInByPasskey(client, authenticator)).status).toBe(200);
  });

  test('requestorigins are the origins whose pages count, and are told to browsers', async () => {
    shows('auth.providers.webauthn.requestorigins');
    const origins = ['https://one.example.com', 'https://two.example.com:8443'];
    const several = await instance({ REQUESTORIGINS: origins.join(',') });
    const authenticator = await newPasskey(owner);
    const client = several.client();
    for (const origin of origins) expect((await signInByPasskey(client, authenticator, { origin })).status).toBe(200);
    expectProblem(await signInByPasskey(client, authenticator), 'invalid_credentials');
    expect((await client.get('/.well-known/webauthn')).body).toEqual({ origins });
  });

  test('T-71: maxdevices: of fifty registrations at once as many succeed as there is room for', async () => {
    shows('auth.providers.webauthn.maxdevices');
    const few = await instance({ MAXDEVICES: '5' });
    let own = person;
    let client = owner;
    const rounds = timesOf({ sample: 1, prove: 20 });
    for (let round = 0; round < rounds; round++) {
      own = await buildPerson(world);
      client = await signedInAt(few, own);
      await newPasskey(client);
      const bodies = [];
      for (let index = 0; index < 50; index++) {
        const options = await passkeyOptions(client, 'registration');
        bodies.push(new SoftwareAuthenticator(passkeyOrigin).create(options));
      }
      const at = client;
      const answers = await Promise.all(bodies.map((body) => at.post('/v1/registration/verification', body)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(4);
      for (const answer of answers.filter(({ status }) => status !== 201)) {
        expectProblem(answer, 'limit_exceeded');
        expect(answer.body.detail).toContain('5 passkeys');
      }
      expect(await countOf(own)).toBe(5);
    }
    recordTried('fifty registrations of passkeys at once', rounds);
    const { id } = (await client.get('/v1/passkeys')).body.data[0];
    await client.graphql('mutation ($id: ID!) { deletePasskey(id: $id) { deletedId } }', { id });
    await newPasskey(client);
    // At a server with less room, what is there goes on.
    const one = await signedInAt(await instance({ MAXDEVICES: '1' }), own);
    expectProblem(await registerPasskey(one, new SoftwareAuthenticator(passkeyOrigin)), 'limit_exceeded');
  });

  test('timeout is told to browsers, and ends options while enforcetimeout is on', async () => {
    shows('auth.providers.webauthn.enforcetimeout', 'auth.providers.webauthn.timeout');
    const authenticator = await newPasskey(owner);
    const url = '/v1/authentication/verification';
    const strict = (await instance({ TIMEOUT: '5000' })).client();
    const options = await passkeyOptions(strict, 'authentication');
    expect(options.publicKey.timeout).toBe(5_000);
    const again = await passkeyOptions(strict, 'authentication');
    world.clock.advance(4_999);
    expect((await strict.post(url, authenticator.get(options))).status).toBe(200);
    world.clock.advance(1);
    expectProblem(await strict.post(url, authenticator.get(again)), 'invalid_credentials');

    const lax = (await instance({ TIMEOUT: '5000', ENFORCETIMEOUT: 'false' })).client();
    const [first, second] = [await passkeyOptions(lax, 'authentication'), await passkeyOptions(lax, 'authentication')];
    world.clock.advance(24 * 3_600_000 - 1);
    const body = authenticator.get(first);
    expect((await lax.post(url, body)).status).toBe(200);
    expectProblem(await lax.post(url, body), 'invalid_credentials');
    world.clock.advance(1);
    expectProblem(await lax.post(url, authenticator.get(second)), 'invalid_credentials');
  });

  test('debug: logs what happens, and no challenge, key or signature', async () => {
    shows('auth.providers.webauthn.debug');
    const client = await signedInAt(await instance({ DEBUG: 'true' }), await buildPerson(world));
    const authenticator = new SoftwareAuthenticator(passkeyOrigin);
    const from = world.logs.length;
    const registration = authenticator.create(await passkeyOptions(client, 'registration'));
    expect((await client.post('/v1/registration/verification', registration)).status).toBe(201);
    const url = '/v1/authentication/verification';
    const signIn = authenticator.get(await passkeyOptions(client, 'authentication'));
    const wrong = authenticator.get(await passkeyOptions(client, 'authentication'), { origin: 'https://evil.test' });
    const challenge = Buffer.alloc(54, 7).toString('base64url');
    const foreign = authenticator.get(await passkeyOptions(client, 'authentication'), { challenge });
    for (const body of [wrong, foreign, signIn]) await client.post(url, body);
    const lines = world.logs.slice(from);
    expect(
      lines.filter(({ msg }) => String(msg).startsWith('passkey ')).map(({ msg, reason }) => [msg, reason]),
    ).toEqual([
      ['passkey registration begun', undefined],
      ['passkey registration completed', undefined],
      ['passkey authentication begun', undefined],
      ['passkey authentication begun', undefined],
      ['passkey authentication begun', undefined],
      ['passkey authentication refused', expect.stringContaining('https://evil.test')],
      ['passkey authentication refused', expect.stringContaining('challenge')],
      ['passkey authentication completed', undefined],
    ]);
    const text = JSON.stringify(lines);
    const { response } = signIn;
    for (const secret of [
      challenge,
      response.signature,
      response.clientDataJSON,
      registration.response.attestationObject,
    ])
      expect(text).not.toContain(secret);
    const challenges = [registration, signIn, wrong].map(
      ({ response: { clientDataJSON } }) => JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString()).challenge,
    );
    for (const made of challenges) expect(text).not.toContain(made);
    const quiet = world.logs.length;
    await signInByPasskey(world.client(), authenticator);
    expect(world.logs.slice(quiet).some(({ msg }) => String(msg).startsWith('passkey '))).toBe(false);
  });
});
