import type { GraphQLSchema } from 'graphql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SignInProviders } from '#api/auth/sign-in-providers.ts';
import { routesOf } from '#api/rest/routes.ts';
import { deriveSchema } from '#api/graphql/derived/derive-schema.ts';
import { productSchema } from '#api/graphql/graphql-schema.ts';
import { externalIdentity, membership, personalAccessToken, registry, session, user } from '#entities/index.ts';
import { isAppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { callerOf, type Caller, type Role } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { asSystem, transactAs } from '../../kit/as-person.ts';
import { AuthorizationFixtures } from '../../kit/records/authorization-fixtures.ts';
import { callerNow } from '../../kit/caller-now.ts';
import { expectClosed } from '../../kit/processes/closed-routes.ts';
import { DnsServer } from '../../kit/servers/dns-server.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { FakeIdentityProvider, type FakePerson } from '../../kit/fakes/fake-identity-provider.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPart, buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { newPasskey, passkeyEnvironment, signInByPasskey } from '../../kit/identity/register-passkey.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { resetToken } from '../../kit/identity/verification-token.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import { readmit } from '../../kit/records/readmit.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;
let dns: DnsServer;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  dns = await DnsServer.start();
  world = await openWorld({
    emailNetwork: { nameServers: [dns.address], limitMs: 1_000 },
    environment: {
      ...passkeyEnvironment,
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
    },
  });
  await world.reconfigure({ CORE_AUTH_PROVIDERS_REDIRECTURL: 'https://console.example/login/sso' });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
beforeEach(() => {
  dns.zone.clear();
  prove('corp.example', owner.organization.id);
});
afterEach(() => fake.reset());
afterAll(async () => {
  await world.close();
  await Promise.all([fake.close(), dns.close()]);
});

const proofOf = (domain: string, organizationId: string) => `organization=${organizationId};domain=${domain}`;

/** Publishes the record with which a domain lets an organization vouch for its people. */
function prove(domain: string, organizationId: string): void {
  dns.zone.set(`_core-single-sign-on.${domain}`, { txt: ['something else', proofOf(domain, organizationId)] });
}

const settings = (more: object = {}) => ({
  issuer: fake.url,
  client_id: fake.client.id,
  client_secret: fake.client.secret,
  allowed_domains: ['corp.example'],
  ...more,
});

let count = 0;
const employee = (more: Partial<FakePerson> = {}): FakePerson => {
  const id = `employee-${count++}`;
  return { sub: id, email: `${id}@corp.example`, email_verified: true, name: id, ...more };
};

const put = (by: TestClient, body: object) => by.mutate({ method: 'PUT', url: '/v1/sso/provider', payload: body });
const come = (by: TestClient, { pathname, search }: URL) => by.get(pathname + search);
const enforce = (isEnforced: boolean, by = client) => by.post('/v1/sso/enforcement', { is_enforced: isEnforced });

/** A client that came back from the provider. */
async function signOn(person: FakePerson, by = world.client(), { id } = owner.organization): Promise<TestAnswer> {
  const begun = await by.get(`/v1/sso/login?organization_id=${id}`);
  expect(begun.status, JSON.stringify(begun.body)).toBe(302);
  return come(by, fake.approve(begun.body.location, person));
}

/** The provider of the organization is one of the server, too. */
async function useServerProvider(): Promise<void> {
  await world.reconfigure({
    CORE_AUTH_SUPPORTEDPROVIDERS: 'identity',
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTID: fake.client.id,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTSECRET: fake.client.secret,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTENDPOINT: fake.url,
  });
}

const signInAtServer = async (by: TestClient, person: FakePerson) =>
  come(by, fake.approve((await by.get('/v1/identity/login')).body.location, person));

async function testSettings(by = client, person = employee()): Promise<TestAnswer> {
  const { status, body } = await by.post('/v1/sso/test');
  expect(status, JSON.stringify(body)).toBe(200);
  return come(by, fake.approve(body.location, person));
}

/** Sets up single sign-on, tested and enforced. */
async function setUp(isEnforced = true): Promise<void> {
  expect((await put(client, settings())).status).toBe(200);
  expect((await testSettings(client, { ...employee(), sub: 'owner', email: 'owner@corp.example' })).status).toBe(302);
  expect((await enforce(isEnforced)).body).toMatchObject({ is_enforced: isEnforced });
}

describe('the settings', () => {
  test('are seen and changed by managers alone, and the secret by nobody', async () => {
    const answer = await put(client, settings());
    expect(answer.body).toEqual({
      id: expect.any(String),
      issuer: fake.url,
      client_id: fake.client.id,
      allowed_domains: ['corp.example'],
      domain_records: [
        {
          domain: 'corp.example',
          record_name: '_core-single-sign-on.corp.example',
          record_value: `organization=${owner.organization.id};domain=corp.example`,
        },
      ],
      tested_at: null,
      is_enforced: false,
    });
    const read = await client.get(`/v1/identity-providers/${answer.body.id}`);
    expect(JSON.stringify(read.body)).not.toContain('secret');
    const [row] = await asOwner<{ text: string }>(world, 'select to_jsonb(p)::text as text from identity_providers p');
    expect(row?.text).not.toContain(fake.client.secret);
    for (const role of ['member', 'auditor'] as const) {
      const by = await signedIn(world, await buildPerson(world, { organization: owner.organization, role }));
      expectProblem(await put(by, settings()), 'permission_denied');
      const refused = await by.post('/v1/sso/test');
      expectProblem(refused, 'not_found');
      expect(refused.body.detail).toContain('set it with PUT /v1/sso/provider');
      expectProblem(await enforce(true, by), 'not_found');
      expectProblem(await by.get(`/v1/identity-providers/${answer.body.id}`), 'not_found');
    }
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.get(`/v1/identity-providers/${answer.body.id}`), 'not_found');
    expectProblem(await put(world.client(), settings()), 'unauthenticated');
  });

  test('are refused unless they are those of a provider', async () => {
    for (const wrong of [
      { issuer: 'ftp://corp.example' },
      { issuer: 'https://corp.example/?a=b' },
      { issuer: 7 },
      { client_id: '' },
      { client_secret: null },
      { allowed_domains: ['corp example'] },
      { allowed_domains: ['a@corp.example'] },
      { allowed_domains: ['*'] },
      { allowed_domains: 'corp.example' },
      { is_enforced: true },
    ])
      expectProblem(await put(client, settings(wrong)), 'invalid_input', JSON.stringify(wrong));
    const { client_secret: _secret, ...without } = settings({ client_id: 'another' });
    expectProblem(await put(client, without), 'rule_violated');
  });

  test('are enforced only after a test of just these settings', async () => {
    await put(client, settings());
    expectProblem(await enforce(true), 'rule_violated');
    const begun = await client.post('/v1/sso/test');
    await put(client, settings({ client_secret: 'another' }));
    await put(client, settings());
    const late = await come(client, fake.approve(begun.body.location, employee()));
    expectProblem(late, 'provider_sign_in_failed');
    expectProblem(await enforce(true), 'rule_violated');
    expectProblem(await testSettings(client, employee({ email_verified: false })), 'provider_sign_in_failed');
    expectProblem(await enforce(true), 'rule_violated');
    await setUp();
    const { client_secret: _secret, ...kept } = settings({ allowed_domains: ['corp.example', 'other.example'] });
    expect((await put(client, kept)).body).toMatchObject({ is_enforced: true });
    expect((await put(client, settings())).body).toMatchObject({ is_enforced: false, tested_at: null });
  });

  test('of a provider that says it is another one are of no use', async () => {
    await put(client, settings({ issuer: `${fake.url}/.well-known/openid-configuration` }));
    expectProblem(await client.post('/v1/sso/test'), 'provider_unavailable');
  });

  test('of a provider in a private network, or of a machine beside it, are of no use', async () => {
    for (const issuer of ['https://10.0.0.1', 'https://169.254.169.254', 'https://[fd00::1]', 'http://192.168.0.1']) {
      await put(client, settings({ issuer }));
      expectProblem(await client.post('/v1/sso/test'), 'provider_unavailable', issuer);
    }
  });
});

describe('a sign-in', () => {
  test('makes people of allowed domains members, in a session that counts in the organization alone', async () => {
    await setUp(false);
    const person = employee();
    const by = world.client();
    expect((await signOn(person, by)).headers['location']).toBe('https://console.example/login/sso');
    expect((await by.post('/v1/tasks', { title: 'within' })).status).toBe(201);
    const [{ active_organization_id: at, single_sign_on_id: began }] = (await by.get('/v1/sessions')).body.data;
    expect([at, began]).toEqual([owner.organization.id, owner.organization.id]);
    const rows = await asOwner<{ organization_id: string; role: string }>(
      world,
      `select m.organization_id, m.role from memberships m join users u on u.id = m.user_id where u.email = $1 order by m.created_at`,
      [person.email],
    );
    expect(rows.map(({ role }) => role)).toEqual(['owner', 'member']);
    const personal = rows[0]?.organization_id;
    expectProblem(await by.post('/v1/switch', { target_organization_id: personal }), 'not_found');
    expectProblem(await by.post('/v1/account/identities', { provider: 'identity' }), 'permission_denied');
    expect((await signOn(person)).status).toBe(302);
  });

  test('is refused for other domains, unverified addresses and accounts that are not linked, always in the same way', async () => {
    await setUp(false);
    const member = await buildPerson(world, {
      organization: owner.organization,
      role: 'member',
      email: 'member-with-password@corp.example',
    });
    const texts = new Set<string>();
    for (const person of [
      employee({ email: 'a@other.example' }),
      employee({ email: 'a@corp.example.evil.example' }),
      employee({ email: 'a@evilcorp.example' }),
      employee({ email: 'corp.example' }),
      employee({ email: 'a@evil.com@corp.example' }),
      employee({ email: '"a@evil.com"@corp.example' }),
      employee({ email_verified: false }),
      employee({ email: member.user.email }),
    ]) {
      const by = world.client();
      const answer = await signOn(person, by);
      expectProblem(answer, 'provider_sign_in_failed', person.email);
      texts.add(answer.body.detail);
      expect((await by.graphql('{ self { id } }')).data.self).toBeNull();
    }
    expect(texts.size).toBe(1);
  });

  test('proves nothing to the account: what concerns all of it needs a credential of its own', async () => {
    await setUp(false);
    const by = world.client();
    const person = employee();
    expect((await signOn(person, by)).status).toBe(302);
    await asSystem(world, owner.organization.id, async (data) => {
      const held = await data.findOne(user, { email: { eq: person.email ?? '' } });
      const joined = await data.findOne(membership, { userId: { eq: held?.id ?? '' } });
      await data.privileged('test').update(membership, joined?.id ?? '', { role: 'admin' });
    });
    expectProblem(await by.post('/v1/sso/test'), 'step_up_required');
    expectProblem(await by.post('/v1/2fa/step-up', { password: testPassword }), 'invalid_credentials');
    // Whoever reads the mail of the address takes the account over, without the provider of the organization.
    await world.client().post('/v1/forgot-password', { email: person.email ?? '' });
    const token = await resetToken(world, person.email ?? '');
    expect((await world.client().post('/v1/password-reset', { token, password: testPassword })).status).toBe(200);
    expectProblem(await signOn(person), 'provider_sign_in_failed');
    const own = world.client();
    expect((await own.post('/v1/login', { username: person.email, password: testPassword })).status).toBe(200);
    expect((await own.post('/v1/personal-access-tokens', { name: 'x', scopes: ['task:read'] })).status).toBe(201);
  });

  test('T-07: creates no account of a domain that the configuration blocks', async () => {
    await setUp(false);
    await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: 'corp.example' });
    const person = employee();
    expectProblem(await signOn(person), 'invalid_input');
    expect(await asOwner(world, 'select 1 from users where email = $1', [person.email])).toEqual([]);
    await world.reconfigure({ CORE_ORMCONFIG_EMAILVALIDATION_BLOCKEDDOMAINS: undefined });
    expect((await signOn(person)).status).toBe(302);
  });

  test('signs members in who have linked their identity', async () => {
    await setUp(false);
    const member = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const by = await signedIn(world, member);
    const link = { provider: 'single_sign_on', organization_id: owner.organization.id };
    const begun = await by.post('/v1/account/identities', link);
    const person = employee({ email: 'another-address@elsewhere.example' });
    expect((await come(by, fake.approve(begun.body.location, person))).status).toBe(302);
    const later = world.client();
    expect((await signOn(person, later)).status).toBe(302);
    expect((await later.graphql('{ self { id } }')).data.self.id).toBe(member.user.id);
    const stranger = await signedIn(world, await buildPerson(world));
    expectProblem(await stranger.post('/v1/account/identities', link), 'not_found');
  });

  test('T-20, T-21: belongs to one browser and one organization', async () => {
    await setUp(false);
    const url = fake.approve(
      (await world.client().get(`/v1/sso/login?organization_id=${owner.organization.id}`)).body.location,
      employee(),
    );
    expectProblem(await come(world.client(), url), 'provider_sign_in_failed');
    for (const id of [newId(), (await buildPerson(world)).organization.id, 'x'])
      expectProblem(await world.client().get(`/v1/sso/login?organization_id=${id}`), 'not_found');
  });
});

describe('enforced single sign-on', () => {
  test('is required of members for sign-in, switch and refresh, and of sessions and tokens of before, at once', async () => {
    await setUp(false);
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const before = await signedIn(world, member);
    const elsewhere = await buildPerson(world);
    await asSystem(world, elsewhere.organization.id, (data) =>
      data.create(membership, { userId: member.user.id, role: 'member' }),
    );
    const personal = await before.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] });
    const program = world.client();
    program.bearer = personal.body.token;
    expect((await program.get('/v1/tasks')).status).toBe(200);
    await setUp();
    expect((await before.post('/v1/tasks', { title: 'without' })).status).toBe(403);
    expectProblem(await program.get('/v1/tasks'), 'unauthenticated');
    const target = { target_organization_id: owner.organization.id };
    const refused = await before.post('/v1/switch', target);
    expectProblem(refused, 'single_sign_on_required');
    const url = `https://api.test/v1/sso/login?organization_id=${owner.organization.id}`;
    expect(refused.body).toMatchObject({ sign_in_url: url, detail: expect.stringContaining(url) });
    world.clock.advance(50 * 60_000);
    expectProblem(await before.post('/v1/refresh'), 'single_sign_on_required');
    // They still act where it is not required.
    const login = { username: member.user.email, password: testPassword };
    expect((await world.client().post('/v1/login', login)).body).toMatchObject({
      organization_id: elsewhere.organization.id,
    });
    const only = await buildPerson(world, { organization: owner.organization, role: 'super_admin' });
    const answer = await world.client().post('/v1/login', { username: only.user.email, password: testPassword });
    expectProblem(answer, 'single_sign_on_required');
    expectProblem(await enforce(false), 'step_up_required');
    expectProblem(await put(client, settings()), 'step_up_required');
    const [provider] = (await client.get('/v1/identity-providers')).body.data;
    const removal = { method: 'DELETE', url: `/v1/identity-providers/${provider.id}` } as const;
    expectProblem(await client.mutate(removal), 'step_up_required');
    expect((await client.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expect((await enforce(false)).status).toBe(200);
    expect((await world.client().post('/v1/login', { username: only.user.email, password: testPassword })).status).toBe(
      200,
    );
  });

  test('is required of whoever comes with a passkey or with a provider of this server', async () => {
    await setUp(false);
    await useServerProvider();
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const by = await signedIn(world, member);
    const passkey = await newPasskey(by);
    const identity = employee();
    const { body } = await by.post('/v1/account/identities', { provider: 'identity' });
    expect((await come(by, fake.approve(body.location, identity))).status).toBe(302);
    await setUp();
    const sessions = () => asOwner(world, 'select id from sessions where user_id = $1', [member.user.id]);
    const before = await sessions();
    const comings = [
      (browser: TestClient) => signInByPasskey(browser, passkey),
      (browser: TestClient) => signInAtServer(browser, identity),
    ];
    for (const comes of comings) {
      const browser = world.client();
      expectProblem(await comes(browser), 'single_sign_on_required');
      expect(browser.cookies.has('access_token')).toBe(false);
      expect(await sessions()).toEqual(before);
    }
    await enforce(false);
    for (const comes of comings) expect((await comes(world.client())).status).toBeLessThan(400);
    expect(await sessions()).toHaveLength(before.length + comings.length);
  });

  test('is not asked of API tokens, which stand for the organization', async () => {
    await setUp(false);
    const manager = await signedIn(world, owner);
    const made = await manager.post('/v1/api-tokens', { name: 'a program', scopes: ['task:read'] });
    await setUp();
    const program = world.client();
    program.bearer = made.body.token;
    expect((await program.get('/v1/tasks')).status).toBe(200);
  });

  test('leaves owners their password, and members their work after single sign-on', async () => {
    await setUp();
    const emergency = await signedIn(world, owner);
    expect((await emergency.post('/v1/tasks', { title: 'emergency' })).status).toBe(201);
    const by = world.client();
    expect((await signOn(employee(), by)).status).toBe(302);
    expect((await by.post('/v1/tasks', { title: 'signed on' })).status).toBe(201);
    world.clock.advance(50 * 60_000);
    expect((await by.post('/v1/refresh')).status).toBe(200);
    expect((await by.post('/v1/tasks', { title: 'refreshed' })).status).toBe(201);
    client = await signedIn(world, owner);
  });

  test('counts in the organizations that are part of it', async () => {
    await setUp();
    const part = await buildPart(world, owner.organization.id);
    const by = world.client();
    await signOn(employee(), by);
    expect((await by.post('/v1/switch', { target_organization_id: part.id })).status).toBe(200);
    await enforce(false);
    const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const plain = await signedIn(world, admin);
    await enforce(true);
    expectProblem(await plain.post('/v1/switch', { target_organization_id: part.id }), 'single_sign_on_required');
  });

  test('is not got around with the single sign-on of a part, tested, enforced or neither', async () => {
    await setUp();
    const part = await buildPart(world, owner.organization.id);
    const admin = await buildPerson(world, { organization: part, role: 'admin' });
    await enforce(false);
    const manager = await signedIn(world, admin);
    await put(manager, settings());
    const person = employee({ email: admin.user.email });
    expect((await testSettings(manager, person)).status).toBe(302);
    const by = world.client();
    expect((await signOn(person, by, part)).status).toBe(302);
    expect((await by.post('/v1/tasks', { title: 'before' })).status).toBe(201);
    expect((await enforce(true, manager)).body).toMatchObject({ is_enforced: true });
    await enforce(true);
    expect((await by.post('/v1/tasks', { title: 'after' })).status).toBe(403);
    expectProblem(await by.post('/v1/switch', { target_organization_id: part.id }), 'single_sign_on_required');
    expectProblem(await signOn(person, world.client(), part), 'single_sign_on_required');
  });

  test('is required of owners of a part, too, and not of owners of the organization in its parts', async () => {
    await setUp(false);
    const part = await buildPart(world, owner.organization.id);
    const ofPart = await buildPerson(world, { organization: part, role: 'owner' });
    const before = await signedIn(world, ofPart);
    const personal = await before.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] });
    const program = world.client();
    program.bearer = personal.body.token;
    expect((await program.get('/v1/tasks')).status).toBe(200);
    await setUp();
    expect((await before.post('/v1/tasks', { title: 'without' })).status).toBe(403);
    expectProblem(await program.get('/v1/tasks'), 'unauthenticated');
    const target = { target_organization_id: part.id };
    expectProblem(await before.post('/v1/switch', target), 'single_sign_on_required');
    const login = { username: ofPart.user.email, password: testPassword };
    expectProblem(await world.client().post('/v1/login', login), 'single_sign_on_required');
    const emergency = await signedIn(world, owner);
    expect((await emergency.post('/v1/switch', target)).status).toBe(200);
    expect((await emergency.post('/v1/tasks', { title: 'emergency' })).status).toBe(201);
    // Where the part enforces its own alone, its owner keeps the password.
    await enforce(false);
    const manager = await signedIn(world, ofPart);
    await put(manager, settings());
    expect((await testSettings(manager)).status).toBe(302);
    expect((await enforce(true, manager)).body).toMatchObject({ is_enforced: true });
    await signedIn(world, ofPart);
  });

  test('ends with the settings, which managers delete', async () => {
    await setUp();
    const { data } = (await client.get('/v1/identity-providers')).body;
    const removed = await client.mutate({ method: 'DELETE', url: `/v1/identity-providers/${data[0].id}` });
    expect(removed.status).toBe(204);
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    await signedIn(world, member);
    expectProblem(await world.client().get(`/v1/sso/login?organization_id=${owner.organization.id}`), 'not_found');
  });
});

describe('a personal token where single sign-on is enforced', () => {
  const query = (operation: string) => (by: TestClient, id: string, organizationId: string) =>
    by.graphql(
      `mutation ($id: ID!, $organizationId: ID!) { ${operation}(id: $id, organizationId: $organizationId) { tokenId organizationId isAuthorized } }`,
      { id, organizationId },
    );
  const authorizeByGraphql = query('authorizePersonalAccessToken');
  const act =
    (verb: string) =>
    (by: TestClient, id: string, organizationId = owner.organization.id) =>
      by.post(`/v1/personal-access-tokens/${id}/${verb}`, { organization_id: organizationId });
  const authorize = act('authorize');
  const deauthorize = act('deauthorize');

  /** A member with a password and a linked identity, who has made a token before single sign-on was enforced. */
  async function memberWithToken() {
    await setUp(false);
    const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const plain = await signedIn(world, member);
    const identity = employee();
    const link = { provider: 'single_sign_on', organization_id: owner.organization.id };
    const begun = await plain.post('/v1/account/identities', link);
    expect((await come(plain, fake.approve(begun.body.location, identity))).status).toBe(302);
    const { id, token } = await createdToken(plain);
    await setUp();
    const signedOn = world.client();
    expect((await signOn(identity, signedOn)).status).toBe(302);
    return { member, identity, plain, signedOn, id, token };
  }

  async function createdToken(by: TestClient): Promise<{ id: string; token: string }> {
    const answer = await by.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:write'] });
    expect(answer.status, JSON.stringify(answer.body)).toBe(201);
    expect(answer.body).toMatchObject({ single_sign_on_ids: [] });
    return answer.body;
  }

  /** What a program with the token gets in the organization: the status of a read and of a change. */
  async function opens(token: string, organizationId = owner.organization.id): Promise<number[]> {
    const program = world.client();
    program.bearer = token;
    const headers = { 'x-organization-id': organizationId };
    const read = await program.get('/v1/tasks', headers);
    const made = await program.request({ method: 'POST', url: '/v1/tasks', headers, payload: { title: 'x' } });
    return [read.status, made.status];
  }

  test('works once its owner has authorized it in a session of the single sign-on, until that is undone', async () => {
    const { signedOn, plain, id, token } = await memberWithToken();
    const { id: at } = owner.organization;
    expect(await opens(token)).toEqual([401, 401]);
    const answer = { token_id: id, organization_id: at };
    expect((await authorize(signedOn, id)).body).toEqual({ ...answer, is_authorized: true });
    expect(await opens(token)).toEqual([200, 201]);
    expect((await authorize(signedOn, id)).status).toBe(200);
    const listed = async () => (await plain.get('/v1/personal-access-tokens')).body.data;
    expect(await listed()).toMatchObject([{ id, single_sign_on_ids: [at], record_version: 2 }]);
    expect((await deauthorize(plain, id)).body).toEqual({ ...answer, is_authorized: false });
    expect(await listed()).toMatchObject([{ id, single_sign_on_ids: [] }]);
    expect(await opens(token)).toEqual([401, 401]);
    expectProblem(await deauthorize(plain, id), 'not_found');

    expect((await authorizeByGraphql(signedOn, id, at)).data).toEqual({
      authorizePersonalAccessToken: { tokenId: id, organizationId: at, isAuthorized: true },
    });
    expect(await opens(token)).toEqual([200, 201]);
    const undone = await query('deauthorizePersonalAccessToken')(plain, id, at);
    expect(undone.data.deauthorizePersonalAccessToken).toMatchObject({ isAuthorized: false });
    expect(await opens(token)).toEqual([401, 401]);

    const events = await asOwner<{ topic: string }>(
      world,
      `select topic from events where entity_id = $1 and topic like '%authorized' order by occurred_at, id`,
      [id],
    );
    expect(events.map(({ topic }) => topic.replace('personal_access_token.', ''))).toEqual([
      'authorized',
      'deauthorized',
      'authorized',
      'deauthorized',
    ]);
  });

  test('is authorized in no other session, by nobody else, and for no other organization', async () => {
    const { signedOn, plain, id, token, member } = await memberWithToken();
    const other = await buildPerson(world);
    await asSystem(world, other.organization.id, (data) =>
      data.create(membership, { userId: member.user.id, role: 'member' }),
    );
    const refused = await authorize(plain, id);
    expectProblem(refused, 'single_sign_on_required');
    expect(refused.body.sign_in_url).toContain(owner.organization.id);
    for (const organizationId of [other.organization.id, newId()]) {
      expectProblem(await authorize(signedOn, id, organizationId), 'single_sign_on_required');
      const answer = await authorizeByGraphql(signedOn, id, organizationId);
      expect(answer.errors).toMatchObject([{ extensions: { code: 'single_sign_on_required' } }]);
    }
    for (const wrong of [7, null, [], 'x'.repeat(1_000)])
      expectProblem(
        await signedOn.post(`/v1/personal-access-tokens/${id}/authorize`, { organization_id: wrong }),
        'invalid_input',
      );
    for (const wrong of ['', 'x']) expectProblem(await authorize(signedOn, id, wrong), 'not_found');
    const colleague = world.client();
    await signOn(employee(), colleague);
    // Without waiting for the token of somebody else.
    let hasEnded = false;
    const foreign = await whileLocked(
      world,
      [personalAccessToken, id],
      () => authorize(colleague, id).finally(() => (hasEnded = true)),
      async () => expect(hasEnded).toBe(true),
    );
    expectProblem(foreign, 'not_found');
    expectProblem(await authorize(client, id), 'single_sign_on_required');
    expectProblem(await deauthorize(client, id), 'not_found');
    expectProblem(await authorize(world.client(), id), 'unauthenticated');
    const patched = await plain.mutate({
      method: 'PATCH',
      url: `/v1/personal-access-tokens/${id}`,
      payload: { single_sign_on_ids: [owner.organization.id] },
    });
    expectProblem(patched, 'invalid_input');
    expect(await opens(token)).toEqual([401, 401]);
  });

  test('loses the authorization with its secret, so that no password alone gets one that works', async () => {
    const { signedOn, plain, id, token } = await memberWithToken();
    await authorize(signedOn, id);
    expect(await opens(token)).toEqual([200, 201]);
    const rotated = await plain.post(`/v1/personal-access-tokens/${id}/rotate`);
    expect(rotated.body).toMatchObject({ single_sign_on_ids: [] });
    expect(await opens(rotated.body.token)).toEqual([401, 401]);
  });

  test('loses it with the provider, and keeps it when other settings change', async () => {
    const { signedOn, id, token } = await memberWithToken();
    await authorize(signedOn, id);
    const { client_secret: _secret, ...others } = settings({ allowed_domains: ['corp.example', 'other.example'] });
    expect((await put(client, others)).body).toMatchObject({ is_enforced: true });
    expect(await opens(token)).toEqual([200, 201]);
    await put(client, settings({ client_id: 'another' }));
    await setUp();
    expect(await opens(token)).toEqual([401, 401]);
  });

  test('loses it with the membership of its owner, who authorizes it again after being admitted again', async () => {
    const { signedOn, id, token, member, identity } = await memberWithToken();
    await authorize(signedOn, id);
    expect(await opens(token)).toEqual([200, 201]);
    await readmit(world, owner.organization.id, member);
    expect(await opens(token)).toEqual([401, 401]);
    expectProblem(await authorize(signedOn, id), 'unauthenticated');
    const anew = world.client();
    expect((await signOn(identity, anew)).status).toBe(302);
    expect((await authorize(anew, id)).status).toBe(200);
    expect(await opens(token)).toEqual([200, 201]);
  });

  test('counts in the parts of the organization too, and nowhere after its owner has left', async () => {
    const { signedOn, id, token, member } = await memberWithToken();
    const part = await buildPart(world, owner.organization.id);
    expect(await opens(token, part.id)).toEqual([401, 401]);
    await authorize(signedOn, id);
    expect(await opens(token, part.id)).toEqual([200, 201]);
    await asSystem(world, owner.organization.id, async (data) => {
      const held = await data.findOne(membership, { userId: { eq: member.user.id } });
      await data.remove(membership, held?.id ?? '');
    });
    expect(await opens(token)).toEqual([401, 401]);
  });
});

/** A member with a password who has linked an identity, and has more than the organization: their own, a token, another session. */
async function memberWithAccount(role: Role = 'member') {
  await setUp(false);
  const member = await buildPerson(world);
  await asSystem(world, owner.organization.id, (data) => data.create(membership, { userId: member.user.id, role }));
  const own = await signedIn(world, member);
  const link = { provider: 'single_sign_on', organization_id: owner.organization.id };
  const person = employee({ email: `${member.user.id.toLowerCase()}@elsewhere.example` });
  const begun = await own.post('/v1/account/identities', link);
  expect((await come(own, fake.approve(begun.body.location, person))).status).toBe(302);
  const token = await own.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] });
  const by = world.client();
  expect((await signOn(person, by)).status).toBe(302);
  return { member, own, by, person, tokenId: token.body.id as string };
}

describe('a session of single sign-on', () => {
  test('reaches nothing of its person outside the organization', async () => {
    const { member, own, by, tokenId } = await memberWithAccount('admin');
    const { id } = owner.organization;
    const ids = async (path: string) => (await by.get(path)).body.data.map((one: { id: string }) => one.id);
    const [ownSession] = (await by.get('/v1/sessions')).body.data;
    expect(ownSession.single_sign_on_id).toBe(id);
    expect(await ids('/v1/sessions')).toHaveLength(1);
    expect(await ids('/v1/organizations')).toEqual([id]);
    for (const path of ['personal-access-tokens', 'passkeys', 'external-identities', 'second-factors'])
      expect((await by.get(`/v1/${path}`)).body.data ?? [], path).toEqual([]);
    const held = (await by.get('/v1/memberships')).body.data;
    expect(held.length).toBeGreaterThan(1);
    expect(new Set(held.map((one: { organization_id: string }) => one.organization_id))).toEqual(new Set([id]));
    const home = (await own.get('/v1/memberships')).body.data.find(
      (one: { organization_id: string }) => one.organization_id === member.organization.id,
    );
    const elsewhere = (await own.get('/v1/sessions')).body.data.find(
      (one: { single_sign_on_id: string | null }) => one.single_sign_on_id === null,
    );
    for (const path of [`memberships/${home.id}`, `sessions/${elsewhere.id}`, `personal-access-tokens/${tokenId}`])
      expectProblem(await by.mutate({ method: 'DELETE', url: `/v1/${path}` }), 'not_found', path);
    const rename = {
      method: 'PATCH',
      url: `/v1/users/${member.user.id}`,
      payload: { display_name: 'Mallory' },
    } as const;
    expectProblem(await by.mutate(rename), 'permission_denied');
    const bulk = `mutation { updateBulkUser(ids: ["${member.user.id}"], input: { displayName: "Mallory" }) { refused { code } } }`;
    expect(JSON.stringify((await by.graphql(bulk)).body)).not.toContain('"refused":[]');
    expect((await by.graphql(`{ node(id: "${tokenId}") { id } }`)).errors[0].extensions.code).toBe('not_found');
    expect((await by.graphql('{ self { id } }')).data.self.id).toBe(member.user.id);
    expect((await by.get('/v1/account/userinfo')).body).toMatchObject({
      sub: member.user.id,
      default_organization_id: null,
    });
    const histories = await by.graphql('{ organizationHistories { edges { node { recordId } } } }');
    const recorded = histories.data.organizationHistories.edges.map(
      (edge: { node: { recordId: string } }) => edge.node.recordId,
    );
    expect(new Set(recorded)).toEqual(new Set([id]));
    // It goes on acting in the organization.
    expect((await by.post('/v1/tasks', { title: 'within' })).status).toBe(201);
    expect((await by.post('/v1/logout', { sessions: 'all' })).status).toBe(200);
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
    expect((await own.get('/v1/tasks')).status).toBe(200);
  });

  test('is refused by every route that does not say that it stays within the organization', async () => {
    const { by } = await memberWithAccount();
    await expectClosed(by, (route) => !route.acceptsSingleSignOn);
    // Whoever adds a line has seen that the route does nothing for its caller beyond the organization, not even with `privileged`.
    const derived = registry.modules.map(({ table }) => `/v1/${table.replaceAll('_', '-')}`);
    const open = routesOf(registry).filter((route) => route.acceptsSingleSignOn);
    const byHand = open
      .map(({ method, url }) => `${method} ${url}`)
      .filter((line) => {
        const [, path = ''] = line.split(' ');
        return !derived.some((one) =>
          [one, `${one}/:id`, `${one}/aggregates`, `${one}/import-template`].includes(path),
        );
      });
    expect(byHand.toSorted()).toEqual([
      'DELETE /v1/uploads/:id',
      'GET /oauth/userinfo',
      'GET /trace/:id',
      'GET /v1/account/features',
      'GET /v1/account/roles',
      'GET /v1/account/userinfo',
      'GET /v1/billing/catalogue',
      'GET /v1/billing/plan',
      'GET /v1/event-deliveries',
      'GET /v1/event-types',
      'GET /v1/events/:id',
      'GET /v1/events/:id/runs',
      'GET /v1/files/:id/download',
      'GET /v1/groups/:id/join-requests',
      'GET /v1/integration-definitions',
      'GET /v1/kinds',
      'GET /v1/notifications/inbox',
      'GET /v1/roles',
      'GET /v1/search',
      'GET /v1/uploads/:id',
      'GET /v1/webhook-endpoints/:id/attempts',
      'GET /v1/webhook-endpoints/:id/messages',
      'GET /v1/webhook-portal/endpoints',
      'GET /v1/webhook-portal/endpoints/:id/attempts',
      'GET /v1/webhook-portal/endpoints/:id/messages',
      'GET /v1/workflow-assignments/mine',
      'GET /v1/workflow-metadata',
      'GET /v1/workflow-proposals/:recordKind/:id/preview',
      'PATCH /v1/uploads/:id',
      'POST /v1/2fa/step-up',
      'POST /v1/account/access',
      'POST /v1/account/roles',
      'POST /v1/api-tokens/:id/rotate',
      'POST /v1/billing/cancel',
      'POST /v1/billing/checkout',
      'POST /v1/billing/portal',
      'POST /v1/billing/resume',
      'POST /v1/delegations/:id/end',
      'POST /v1/email-suppressions/:id/release',
      'POST /v1/emails/:id/resend',
      'POST /v1/exports/:id/cancel',
      'POST /v1/exports/:id/restart',
      'POST /v1/group-join-requests/:id/accept',
      'POST /v1/group-join-requests/:id/decline',
      'POST /v1/group-join-requests/:id/withdraw',
      'POST /v1/groups/:id/join',
      'POST /v1/impersonation',
      'POST /v1/imports/:id/cancel',
      'POST /v1/imports/:id/restart',
      'POST /v1/integration-runs/:id/cancel',
      'POST /v1/integration-runs/:id/confirm',
      'POST /v1/integration-webhooks/:id/rotate',
      'POST /v1/integrations/:definitionId/config',
      'POST /v1/integrations/:id/disconnect',
      'POST /v1/integrations/:id/operations/run',
      'POST /v1/integrations/auth/start',
      'POST /v1/invites/:id/resend',
      'POST /v1/invites/:id/withdraw',
      'POST /v1/logout',
      'POST /v1/notification-templates/preview',
      'POST /v1/notifications/read',
      'POST /v1/organizations/:id/announce-deletion',
      'POST /v1/organizations/:id/keep',
      'POST /v1/personal-access-tokens/:id/authorize',
      'POST /v1/sso/domains/verify',
      'POST /v1/sso/enforcement',
      'POST /v1/sso/test',
      'POST /v1/subscribers/:id/resend',
      'POST /v1/switch',
      'POST /v1/uploads',
      'POST /v1/uploads/:id/complete',
      'POST /v1/uploads/direct',
      'POST /v1/uploads/resumable',
      'POST /v1/webhook-endpoints/:id/replay',
      'POST /v1/webhook-endpoints/:id/rotate',
      'POST /v1/webhook-endpoints/:id/test',
      'POST /v1/webhook-portal/endpoints/:id/replay',
      'POST /v1/webhook-portal/endpoints/:id/test',
      'POST /v1/webhook-portal/links',
      'POST /v1/workflow-assignments/:id/approve',
      'POST /v1/workflow-assignments/:id/delegate',
      'POST /v1/workflow-assignments/:id/reassign',
      'POST /v1/workflow-assignments/:id/reject',
      'POST /v1/workflow-assignments/:id/request-changes',
      'POST /v1/workflow-definitions/:id/dry-run',
      'POST /v1/workflow-definitions/:id/publish',
      'POST /v1/workflow-definitions/:id/retire',
      'POST /v1/workflow-definitions/:id/try',
      'POST /v1/workflow-definitions/validate',
      'POST /v1/workflow-instances/:id/cancel',
      'POST /v1/workflow-instances/:id/force-complete',
      'POST /v1/workflow-instances/cancel',
      'POST /v1/workflow-instances/force-complete',
      'POST /v1/workflow-proposals/:recordKind/:id/edit',
      'POST /v1/workflow-proposals/:recordKind/:id/submit',
      'POST /v1/workflow-proposals/:recordKind/:id/withdraw',
      'PUT /v1/sso/provider',
    ]);
  });

  test('is nobody for public routes', async () => {
    const { by, own } = await memberWithAccount();
    expect((await by.post('/v1/forgot-password', { email: 'nobody@example.com' })).status).toBe(202);
    // A sign-in in the same browser takes its place.
    const other = await buildPerson(world);
    expect((await by.post('/v1/login', { username: other.user.email, password: testPassword })).status).toBe(200);
    expect((await by.graphql('{ self { id } }')).data.self.id).toBe(other.user.id);
    const { data } = (await own.get('/v1/sessions')).body;
    expect(data.map((one: { single_sign_on_id: string | null }) => one.single_sign_on_id)).toEqual([null]);
  });

  test('is refused by GraphQL fields that are written by hand, unless they say that they stay within the organization', async () => {
    const { by } = await memberWithAccount('owner');
    const fieldsOf = (schema: GraphQLSchema) =>
      [schema.getQueryType(), schema.getMutationType()].flatMap((type) => Object.entries(type?.getFields() ?? {}));
    const derived = new Set(fieldsOf(deriveSchema(registry, [])).map(([name]) => name));
    const caller = callerOf({ kind: 'user', subjectId: newId(), singleSignOnId: newId() });
    const open: string[] = [];
    for (const [name, { resolve }] of fieldsOf(productSchema()).filter((entry) => !derived.has(entry[0]))) {
      // Whatever comes after the refusal fails without a unit of work.
      const attempt = async () => resolve?.(null, { input: {} }, { unit: { context: { caller } } }, {} as never);
      const error: unknown = await attempt().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (!isAppError(error) || !error.message.includes('single sign-on')) open.push(name);
    }
    // Whoever adds a name has seen that the field does nothing for its caller beyond the organization.
    expect(open.toSorted()).toEqual([
      'acceptGroupJoinRequest',
      'announceOrganizationDeletion',
      'approveWorkflowAssignment',
      'authorizePersonalAccessToken',
      'billingCatalogue',
      'billingPlan',
      'cancelExport',
      'cancelImport',
      'cancelIntegrationRun',
      'cancelSubscription',
      'cancelWorkflowInstance',
      'cancelWorkflowInstances',
      'configureIntegration',
      'confirmIntegrationRun',
      'createApiToken',
      'createIntegrationWebhook',
      'createWebhookEndpoint',
      'declineGroupJoinRequest',
      'delegateWorkflowAssignment',
      'disconnectIntegration',
      'dryRunWorkflowDefinition',
      'editWorkflowProposal',
      'explainAccess',
      'forceCompleteWorkflowInstance',
      'forceCompleteWorkflowInstances',
      'integrationDefinitions',
      'joinGroup',
      'keepOrganization',
      'markAllNotificationsRead',
      'myWorkflowAssignments',
      'notificationInbox',
      'openBillingPortal',
      'openCheckout',
      'openGroupJoinRequests',
      'previewNotificationTemplate',
      'previewWorkflowProposal',
      'publishWorkflowDefinition',
      'reassignWorkflowAssignment',
      'rejectWorkflowAssignment',
      'releaseEmailSuppression',
      'replayWebhookMessages',
      'requestChangesWorkflowAssignment',
      'resendEmail',
      'resendInvite',
      'resendSubscriberVerification',
      'restartExport',
      'restartImport',
      'resumeSubscription',
      'retireWorkflowDefinition',
      'rotateApiToken',
      'rotateIntegrationWebhook',
      'rotateWebhookEndpoint',
      'runIntegrationOperation',
      'self',
      'startIntegrationAuth',
      'submitWorkflowProposal',
      'testWebhookEndpoint',
      'tryWorkflowDefinition',
      'updateWebhookEndpoint',
      'validateWorkflowDefinition',
      'webhookAttempts',
      'webhookMessages',
      'withdrawGroupJoinRequest',
      'withdrawInvite',
      'withdrawWorkflowProposal',
      'workflowMetadata',
    ]);
    for (const operation of [
      'createOrganization(input: { name: "another one" }) { organization { id } }',
      'createPersonalAccessToken(input: { name: "x", scopes: ["task:read"] }) { token }',
      `rotatePersonalAccessToken(id: "${newId()}") { token }`,
      `transferOwnership(id: "${owner.organization.id}", userId: "${newId()}") { membership { id } }`,
      `deauthorizePersonalAccessToken(id: "${newId()}", organizationId: "${owner.organization.id}") { isAuthorized }`,
    ])
      expect((await by.graphql(`mutation { ${operation} }`)).errors[0].extensions.code, operation).toBe(
        'permission_denied',
      );
    const api = 'mutation { createApiToken(input: { name: "x", scopes: ["task:read"] }) { apiToken { name } } }';
    expect((await by.graphql(api)).data.createApiToken.apiToken.name).toBe('x');
  });

  test('reaches of every kind nothing but the organization, its own session, and people as others see them', async () => {
    const elsewhere = await buildPerson(world);
    const person = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    await asSystem(world, elsewhere.organization.id, (data) =>
      data.create(membership, { userId: person.user.id, role: 'admin' }),
    );
    await signedIn(world, person);
    const fixtures = new AuthorizationFixtures(world, elsewhere);
    const plain = await callerNow(world.runtime, person.user.id, owner.organization.id);
    const [{ id: sessionId } = { id: '' }] = await transactAs(world.runtime, plain, ({ data }) =>
      data.find(session, { limit: 1 }),
    );
    const confined = callerOf({ ...plain, sessionId, singleSignOnId: owner.organization.id });
    const idsFor = (caller: Caller, module: EntityModule) =>
      transactAs(world.runtime, caller, async ({ data }) =>
        (await data.find(module, { limit: 1_000 })).map(
          (row) => row as { readonly id: string; readonly organizationId?: string },
        ),
      );
    const kinds = registry.modules.filter(
      ({ tenancy, rlsUsing, policy }) => policy && (tenancy !== 'organization' || rlsUsing),
    );
    for (const module of kinds) {
      const situation = module.tenancy === 'user' || module.kind === 'membership' ? 'themselves' : 'any';
      const { id, change } = await fixtures.record(module.kind, situation, person.user.id);
      const [before, after] = [await idsFor(plain, module), await idsFor(confined, module)];
      const reached = {
        none: [],
        view: before,
        organization: before.filter((row) => row.id === owner.organization.id),
        session: before.filter((row) => row.id === sessionId),
        own: before.filter((row) => row.organizationId === owner.organization.id),
      }[module.tenancy === 'organization' ? 'own' : (module.confinedReach ?? 'none')];
      expect(after, module.kind).toEqual(reached);
      if (module.tenancy === 'user')
        expect(
          before.map((row) => row.id),
          module.kind,
        ).toContain(id);
      const refused = { code: expect.stringMatching(/^(not_found|permission_denied)$/) };
      const attempt = (work: (data: DataClient) => Promise<unknown>) =>
        expect(
          transactAs(world.runtime, confined, ({ data }) => work(data)),
          module.kind,
        ).rejects.toMatchObject(refused);
      await attempt((data) => data.update(module, id, change));
      await attempt((data) => data.remove(module, id));
      await attempt((data) => data.update(module, person.user.id, change));
    }
    expect(kinds.flatMap(({ kind, confinedReach: reach }) => (reach ? [`${kind}: ${reach}`] : [])).toSorted()).toEqual([
      'organization: organization',
      'session: session',
      'user: view',
    ]);
  });

  test('ends when its provider is replaced or deleted, and refreshes no longer', async () => {
    const { by, person } = await memberWithAccount();
    const { client_secret: _secret, ...same } = settings();
    await put(client, same);
    expect((await by.get('/v1/tasks')).status).toBe(200);
    await put(client, settings({ client_id: 'another' }));
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
    world.clock.advance(50 * 60_000);
    expectProblem(await by.post('/v1/refresh'), 'unauthenticated');
    client = await signedIn(world, owner);
    // Nor does the one of before come back with its settings.
    await setUp(false);
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
    const again = world.client();
    expect((await signOn(person, again)).status).toBe(302);
    const [{ id }] = (await client.get('/v1/identity-providers')).body.data;
    await client.mutate({ method: 'DELETE', url: `/v1/identity-providers/${id}` });
    expectProblem(await again.get('/v1/tasks'), 'unauthenticated');
    await setUp(false);
    expectProblem(await again.get('/v1/tasks'), 'unauthenticated');
    world.clock.advance(50 * 60_000);
    expectProblem(await again.post('/v1/refresh'), 'unauthenticated');
    client = await signedIn(world, owner);
  });
});

test('a session of single sign-on ends with the membership, also for whoever is admitted again', async () => {
  const { member, own, by } = await memberWithAccount();
  expect((await by.get('/v1/tasks')).status).toBe(200);
  await readmit(world, owner.organization.id, member);
  expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
  // Their own session belongs to the person, and stays.
  expect((await own.post('/v1/switch', { target_organization_id: owner.organization.id })).status).toBe(200);
  world.clock.advance(46 * 60_000);
  await by.get('/livez');
  expectProblem(await by.post('/v1/refresh'), 'unauthenticated');
  client = await signedIn(world, owner);
});

test('a second factor that is asked for after single sign-on is of no use once the membership has ended', async () => {
  const { member, own, person } = await memberWithAccount();
  const { recoveryCodes } = await enroll(world, own);
  const by = world.client();
  const asked = new URL((await signOn(person, by)).headers['location'] ?? '').hash.slice(1);
  await readmit(world, owner.organization.id, member);
  const answer = {
    challenge_token: new URLSearchParams(asked).get('challenge_token'),
    recovery_code: recoveryCodes[0],
  };
  expectProblem(await by.post('/v1/2fa/validate', answer), 'unauthenticated');
});

test('a second factor that is asked for after single sign-on is of no use once the provider is replaced', async () => {
  const { own, person } = await memberWithAccount();
  const { recoveryCodes } = await enroll(world, own);
  const challenge = async (by: TestClient) =>
    new URLSearchParams(new URL((await signOn(person, by)).headers['location'] ?? '').hash.slice(1)).get(
      'challenge_token',
    );
  const answer = async (by: TestClient, token: string | null, code = '') =>
    by.post('/v1/2fa/validate', { challenge_token: token, recovery_code: code });
  const by = world.client();
  expect((await answer(by, await challenge(by), recoveryCodes[0])).status).toBe(200);
  const late = world.client();
  const asked = await challenge(late);
  await put(client, settings({ client_id: 'another' }));
  expectProblem(await answer(late, asked, recoveryCodes[1]), 'unauthenticated');
  await setUp(false);
  expectProblem(await answer(late, asked, recoveryCodes[1]), 'unauthenticated');
});

describe('whoever runs the provider of an organization', () => {
  const login = (by: TestClient, { user: { email } }: Person, password = testPassword) =>
    by.post('/v1/login', { username: email, password });
  const times = async (count: number, attempt: () => Promise<TestAnswer>): Promise<string[]> => {
    const codes: string[] = [];
    for (let index = 0; index < count; index++) codes.push((await attempt()).body.code);
    return codes;
  };
  /** Ten wrong attempts, and one that is not judged. */
  const tenWrong = [...Array.from({ length: 10 }, () => 'invalid_credentials'), 'too_many_requests'];
  const challengeOf = ({ headers }: TestAnswer) =>
    new URLSearchParams(new URL(headers['location'] ?? '').hash.slice(1)).get('challenge_token');

  test('gets no attempts at the password of its members beyond those of everybody', async () => {
    const { member, by, person } = await memberWithAccount();
    expect(await times(10, () => login(by, member, 'wrong'))).toEqual(tenWrong.slice(0, 10));
    // They count at the account, although the browser has signed in with single sign-on before.
    expectProblem(await login(world.client(), member), 'too_many_requests');
    world.clock.advance(61 * 60_000);
    const announced = async () =>
      (
        await asOwner(
          world,
          `select 1 from events where topic = 'session.begun_on_new_device' and payload->>'userId' = $1`,
          [member.user.id],
        )
      ).length;
    expect((await signOn(person, by)).status).toBe(302);
    expect(await announced()).toBe(0);
    expect((await login(by, member)).status).toBe(200);
    expect(await announced()).toBe(1);
    client = await signedIn(world, owner);
  });

  test('does not keep its members from their account with wrong codes', async () => {
    const { member, own, person } = await memberWithAccount();
    const { app, recoveryCodes } = await enroll(world, own);
    const by = world.client();
    const token = challengeOf(await signOn(person, by));
    const first = { challenge_token: token, recovery_code: recoveryCodes[0] };
    expect((await by.post('/v1/2fa/validate', first)).status).toBe(200);
    const wrong = { recovery_code: 'WRONGWRONG' };
    expect(await times(11, () => by.post('/v1/2fa/step-up', wrong))).toEqual(tenWrong);
    // It has no further attempts at the next sign-in.
    const later = world.client();
    const again = challengeOf(await signOn(person, later));
    expectProblem(await later.post('/v1/2fa/validate', { challenge_token: again, ...wrong }), 'too_many_requests');
    const home = world.client();
    const { body } = await login(home, member);
    const proven = await home.post('/v1/2fa/validate', {
      challenge_token: body.challenge_token,
      code: await app.nextCode(),
    });
    expect(proven.status).toBe(200);
  });

  test('does not keep its members from their account with wrong passwords', async () => {
    const { own, by } = await memberWithAccount();
    expect(await times(11, () => by.post('/v1/2fa/step-up', { password: 'wrong' }))).toEqual(tenWrong);
    expect((await own.post('/v1/2fa/step-up', { password: testPassword })).status).toBe(200);
    expectProblem(await by.post('/v1/2fa/step-up', { password: testPassword }), 'too_many_requests');
  });

  test('does not end other sessions of its members with many of its own', async () => {
    const { member, own, person } = await memberWithAccount();
    const now = world.clock.now().getTime();
    const addSessions = (amount: number, singleSignOnId: string) => {
      const input = {
        userId: member.user.id,
        singleSignOnId,
        address: '198.51.100.7',
        lastSeenAt: new Date(now + 1_000),
        expiresAt: new Date(now + 3_600_000),
        refreshTokenHash: 'none',
      };
      const more = Array.from({ length: amount }, () => ({ module: session, input, path: '' }));
      return asSystem(world, owner.organization.id, (data) => data.createAll(more));
    };
    const count = async () =>
      (await asOwner(world, 'select 1 from sessions where user_id = $1 and deleted_at is null', [member.user.id]))
        .length;
    await addSessions(120, owner.organization.id);
    expect((await signOn(person)).status).toBe(302);
    expect((await own.get('/v1/tasks')).status).toBe(200);
    // A hundred with this single sign-on, and the one without.
    expect(await count()).toBe(101);
    // Those of many organizations are no more than one operation can end.
    await addSessions(500, newId());
    expect((await signOn(person)).status).toBe(302);
    expect(await count()).toBe(401);
    const changed = await own.post('/v1/logout', { sessions: 'others' });
    expect(changed.status, JSON.stringify(changed.body)).toBe(200);
    expect(await count()).toBe(1);
  });

  test('is asked again after twelve hours: a session of single sign-on is not refreshed beyond', async () => {
    const { own, by } = await memberWithAccount();
    const [{ id }] = (await by.get('/v1/sessions')).body.data;
    const beganBefore = (hours: number) =>
      asOwner(world, `update sessions set created_at = created_at - make_interval(hours => $2) where id = $1`, [
        id,
        hours,
      ]);
    const untilEnd = async (refreshing: TestClient) => {
      const { status, body } = await refreshing.post('/v1/refresh');
      expect(status, JSON.stringify(body)).toBe(200);
      return body.refresh_expires_in;
    };
    await beganBefore(10);
    world.clock.advance(50 * 60_000);
    const whole = await untilEnd(own);
    expect(whole).toBe(world.config.current.auth.token.refreshduration / 1_000);
    expect(await untilEnd(by)).toBe(70 * 60);
    world.clock.advance(50 * 60_000);
    expect(await untilEnd(own)).toBe(whole);
    expect(await untilEnd(by)).toBe(20 * 60);
    world.clock.advance(20 * 60_000);
    expectProblem(await by.get('/v1/tasks'), 'unauthenticated');
    expectProblem(await by.post('/v1/refresh'), 'unauthenticated');
    expect((await own.get('/v1/tasks')).status).toBe(200);
    client = await signedIn(world, owner);
  });
});

describe('a domain', () => {
  test('counts while its zone names the organization', async () => {
    await setUp(false);
    const verify = async () => (await client.post('/v1/sso/domains/verify')).body.domains;
    expect(await verify()).toEqual([expect.objectContaining({ domain: 'corp.example', is_proven: true })]);
    for (const [name, zone] of [
      ['no record', undefined],
      ['no answer', 'failing'],
      ['that of another organization', { txt: [proofOf('corp.example', newId())] }],
      ['that of another domain', { txt: [proofOf('other.example', owner.organization.id)] }],
      ['that of no domain', { txt: [`organization=${owner.organization.id}`] }],
      ['a longer value', { txt: [`${proofOf('corp.example', owner.organization.id)}0`] }],
      ['another type', { a: ['127.0.0.1'] }],
    ] as const) {
      dns.zone.clear();
      // That of a domain above proves nothing about it, and that of its own name is no proof either.
      const proof = { txt: [proofOf('corp.example', owner.organization.id)] };
      dns.zone.set('_core-single-sign-on.example', proof);
      dns.zone.set('corp.example', proof);
      if (zone) dns.zone.set('_core-single-sign-on.corp.example', zone);
      expect((await verify())[0].is_proven, name).toBe(false);
      const newcomer = employee();
      expectProblem(await signOn(newcomer), 'provider_sign_in_failed', name);
      const rows = await asOwner(world, 'select id from users where email = $1', [newcomer.email]);
      expect(rows, name).toEqual([]);
    }
    prove('corp.example', owner.organization.id);
    const person = employee();
    expect((await signOn(person)).status).toBe(302);
    // Members go on without it.
    dns.zone.clear();
    expect((await signOn(person)).status).toBe(302);
    const member = await signedIn(
      world,
      await buildPerson(world, { organization: owner.organization, role: 'member' }),
    );
    expectProblem(await member.post('/v1/sso/domains/verify'), 'not_found');
  });

  test('is not to be tried with many people: refusals count for the organization, and members go on', async () => {
    const by = await buildPerson(world);
    const manager = await signedIn(world, by);
    await put(manager, settings());
    const own = employee({ email: by.user.email });
    expect((await testSettings(manager, own)).status).toBe(302);
    const codes: string[] = [];
    for (let attempt = 0; attempt < 21; attempt++)
      codes.push((await signOn(employee(), world.client(), by.organization)).body.code);
    expect(codes.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 'provider_sign_in_failed'));
    expect(codes[20]).toBe('too_many_requests');
    expect((await signOn(own, world.client(), by.organization)).status).toBe(302);
  });
});

test('a member who was removed joins by invitation alone', async () => {
  await setUp(false);
  const person = employee();
  expect((await signOn(person)).status).toBe(302);
  await asSystem(world, owner.organization.id, async (data) => {
    const held = await data.findOne(user, { email: { eq: person.email ?? '' } });
    const joined = await data.findOne(membership, {
      userId: { eq: held?.id ?? '' },
      organizationId: { eq: owner.organization.id },
    });
    await data.remove(membership, joined?.id ?? '');
  });
  expectProblem(await signOn(person), 'provider_sign_in_failed');
  expectProblem(await signOn(person), 'provider_sign_in_failed');
  // Nor does it help to come back as somebody else: without the identity, and without the account.
  const own = await withPassword(person);
  expectProblem(await signOn(person), 'provider_sign_in_failed');
  const deletion = { method: 'DELETE', url: '/v1/account', payload: { password: testPassword } } as const;
  expect((await own.mutate(deletion)).status).toBe(200);
  expectProblem(await signOn(person), 'provider_sign_in_failed');
  // The same for those who never had an identity here.
  const withoutIdentity = employee();
  const { user: former } = await buildPerson(world, {
    organization: owner.organization,
    role: 'member',
    email: withoutIdentity.email ?? '',
  });
  await asSystem(world, owner.organization.id, async (data) => {
    const joined = await data.findOne(membership, { userId: { eq: former.id } });
    await data.remove(membership, joined?.id ?? '');
  });
  const alone = await signedIn(world, { user: former, organization: owner.organization });
  expect((await alone.mutate(deletion)).status).toBe(200);
  expectProblem(await signOn(withoutIdentity), 'provider_sign_in_failed');
  const rows = await asOwner(world, 'select id from users where email = $1 and deleted_at is null', [person.email]);
  expect(rows).toEqual([]);
});

/** A client of a person who has set a password with a mailed link, which unlinks their identities. */
async function withPassword({ email = '' }: FakePerson): Promise<TestClient> {
  await world.client().post('/v1/forgot-password', { email });
  const token = await resetToken(world, email);
  expect((await world.client().post('/v1/password-reset', { token, password: testPassword })).status).toBe(200);
  const by = world.client();
  expect((await by.post('/v1/login', { username: email, password: testPassword })).status).toBe(200);
  return by;
}

describe('a newcomer who is refused for what the organization requires', () => {
  /** Another organization with single sign-on of its own. */
  async function joinable(parentId: string | null = null) {
    const home = await buildPart(world, parentId);
    const manager = await buildPerson(world, { organization: home });
    const by = await signedIn(world, manager);
    await put(by, settings());
    expect((await testSettings(by, employee({ sub: newId() }))).status).toBe(302);
    prove('corp.example', home.id);
    return home;
  }
  const standing = ({ id }: { readonly id: string }, { email }: FakePerson) =>
    asOwner<{ role: string; failures: number }>(
      world,
      `select m.role, (select failures from sign_in_failures where key = 'sso-refusal:' || $1) as failures
        from memberships m join users u on u.id = m.user_id where m.organization_id = $1 and u.email = $2`,
      [id, email],
    );

  test('has become a member, and does not count as refused', async () => {
    const home = await joinable();
    const requireFactor = (requiresSecondFactor: boolean) => changeSettings(world, home.id, { requiresSecondFactor });
    await requireFactor(true);
    const person = employee();
    for (let attempt = 0; attempt < 2; attempt++)
      expectProblem(await signOn(person, world.client(), home), 'second_factor_required');
    expect(await standing(home, person)).toEqual([{ role: 'member', failures: 0 }]);
    await requireFactor(false);
    expect((await signOn(person, world.client(), home)).status).toBe(302);
    // The account is theirs: they set a password, and then the second factor.
    await requireFactor(true);
    const own = await withPassword(person);
    await enroll(world, own);
    expect((await own.post('/v1/switch', { target_organization_id: home.id })).status).toBe(200);
  });

  test('of a part below another single sign-on is a member, too', async () => {
    await setUp(false);
    const part = await joinable(owner.organization.id);
    await enforce(true);
    const person = employee();
    expectProblem(await signOn(person, world.client(), part), 'single_sign_on_required');
    expect(await standing(part, person)).toEqual([{ role: 'member', failures: 0 }]);
  });
});

test('nobody signs in at a provider that was never tested, and personal organizations have none', async () => {
  await put(client, settings({ client_secret: 'another' }));
  expectProblem(await world.client().get(`/v1/sso/login?organization_id=${owner.organization.id}`), 'not_found');
  await put(client, settings());
  const begun = await client.post('/v1/sso/test');
  expectProblem(await world.client().get(`/v1/sso/login?organization_id=${owner.organization.id}`), 'not_found');
  expect((await come(client, fake.approve(begun.body.location, { ...employee(), sub: 'owner' }))).status).toBe(302);
  expect((await world.client().get(`/v1/sso/login?organization_id=${owner.organization.id}`)).status).toBe(302);
  const person = employee();
  const by = world.client();
  expect((await signOn(person, by)).status).toBe(302);
  const [personal] = await asOwner<{ id: string }>(
    world,
    `select o.id from organizations o join memberships m on m.organization_id = o.id join users u on u.id = m.user_id
      where o.is_personal and u.email = $1`,
    [person.email],
  );
  const own = await withPassword(person);
  expect((await own.post('/v1/switch', { target_organization_id: personal?.id })).status).toBe(200);
  expectProblem(await put(own, settings()), 'permission_denied');
});

test('settings that two managers set at the same time do not mix', async () => {
  await put(client, settings());
  const other = await signedIn(world, await buildPerson(world, { organization: owner.organization, role: 'admin' }));
  for (let round = 0; round < 5; round++) {
    await put(client, settings({ client_id: 'first', client_secret: 'of the first' }));
    // The secret that is left out is that of the first client: the second must not get it.
    const { client_secret: _secret, ...kept } = settings({ client_id: 'first' });
    const [one, two] = await Promise.all([
      put(client, settings({ client_id: 'second', client_secret: 'of the second' })),
      put(other, kept),
    ]);
    expect(one.status).toBe(200);
    if (two.status !== 200) expectProblem(two, 'rule_violated');
    const [{ client_id: now }] = (await client.get('/v1/identity-providers')).body.data;
    expect(now).toBe('second');
  }
});

test('a provider is asked for its metadata once by many, and not again right after a failure', async () => {
  const broken = await FakeIdentityProvider.start(() => world.clock.now());
  const discovery = '/.well-known/openid-configuration';
  const asked = () => broken.asked.filter((path) => path === discovery).length;
  try {
    broken.instead.set(discovery, (response) => response.writeHead(404).end());
    await put(client, settings({ issuer: broken.url }));
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.post('/v1/sso/test')));
    for (const answer of answers) expectProblem(answer, 'provider_unavailable');
    expectProblem(await client.post('/v1/sso/test'), 'provider_unavailable');
    expect(asked()).toBe(1);
    broken.instead.clear();
    world.clock.advance(30_000);
    expect((await client.post('/v1/sso/test')).status).toBe(200);
    expect(asked()).toBe(2);
  } finally {
    await broken.close();
  }
});

test('an organization that names a provider of the private network does not keep the operator from it', async () => {
  const providers = new SignInProviders(world.clock, 50);
  const begin = (allowsPrivate: boolean) =>
    providers.begin({
      issuer: 'https://10.0.0.1',
      clientId: 'client',
      clientSecret: 'secret',
      scopes: ['openid'],
      callbackUrl: 'https://api.test/callback',
      rules: { isDev: false, allowsPrivate },
    });
  await expect(begin(false)).rejects.toThrow('must not be asked');
  // It is asked; what becomes of that is up to the network of the machine.
  await expect(begin(true)).rejects.toThrow(/cannot be reached|does not answer/);
});

test('ids of organizations are not to be tried', async () => {
  await setUp(false);
  const by = world.client();
  by.address = '203.0.113.77';
  const attempt = (id: string) => by.get(`/v1/sso/login?organization_id=${id}`);
  // An id that is right does not count.
  for (let count = 0; count < 3; count++) expect((await attempt(owner.organization.id)).status).toBe(302);
  for (let count = 0; count < 30; count++) expectProblem(await attempt(newId()), 'not_found');
  const [wrong, right] = [await attempt(newId()), await attempt(owner.organization.id)];
  expectProblem(wrong, 'too_many_requests');
  expectProblem(right, 'too_many_requests');
  expect(right.body.detail).toBe(wrong.body.detail);
});

test('a sign-in or a link that began at another provider is not finished at the one that took its place', async () => {
  const { own } = await memberWithAccount();
  const next = await FakeIdentityProvider.start(() => world.clock.now());
  try {
    const signIn = world.client();
    const begun = await signIn.get(`/v1/sso/login?organization_id=${owner.organization.id}`);
    const link = { provider: 'single_sign_on', organization_id: owner.organization.id };
    const linking = await own.post('/v1/account/identities', link);
    const others = settings({ issuer: next.url, client_id: next.client.id, client_secret: next.client.secret });
    expect((await put(client, others)).status).toBe(200);
    const test = await client.post('/v1/sso/test');
    expect((await come(client, next.approve(test.body.location, employee()))).status).toBe(302);
    const asked = () => next.asked.filter((path) => path === '/token').length;
    expect(asked()).toBe(1);
    expectProblem(await come(signIn, fake.approve(begun.body.location, employee())), 'provider_sign_in_failed');
    expectProblem(await come(own, fake.approve(linking.body.location, employee())), 'provider_sign_in_failed');
    // The codes and their verifiers were not sent to it.
    expect(asked()).toBe(1);
  } finally {
    await next.close();
  }
});

test('an identity of single sign-on is no way to sign in to the account, so the last other one stays', async () => {
  const { own, member } = await memberWithAccount();
  const ofServer = await asSystem(world, member.organization.id, async (data) => {
    await data.update(user, member.user.id, { passwordHash: null });
    return data.create(externalIdentity, {
      userId: member.user.id,
      provider: 'identity',
      realm: 'identity',
      issuer: fake.url,
      subject: newId(),
      email: member.user.email,
    });
  });
  const unlink = (id: string) => own.mutate({ method: 'DELETE', url: `/v1/account/identities/${id}` });
  expectProblem(await unlink(ofServer.id), 'last_way_in');
  const held = (await own.get('/v1/external-identities')).body.data as { id: string; provider: string }[];
  const ofOrganization = held.find(({ provider }) => provider === 'single_sign_on');
  expect((await unlink(ofOrganization?.id ?? '')).status).toBe(200);
});

test('one identity counts apart in each organization and at the provider of this server', async () => {
  await setUp(false);
  const person = employee();
  const first = world.client();
  expect((await signOn(person, first)).status).toBe(302);
  const other = await buildPerson(world);
  const manager = await signedIn(world, other);
  await put(manager, settings());
  // The same person of the provider is somebody else there: the manager who has tested with their identity.
  expect((await testSettings(manager, person)).status).toBe(302);
  const second = world.client();
  expect((await signOn(person, second, other.organization)).status).toBe(302);
  const self = async (by: TestClient) => (await by.graphql('{ self { id email } }')).data.self;
  expect(await self(second)).toMatchObject({ id: other.user.id });
  expect(await self(first)).toMatchObject({ email: person.email });
  await useServerProvider();
  expectProblem(await signInAtServer(world.client(), person), 'identity_not_linked');
  const elsewhere = { ...person, email: 'the-same-person@elsewhere.example' };
  const third = world.client();
  expect((await signInAtServer(third, elsewhere)).status).toBe(302);
  expect(await self(third)).toMatchObject({ email: elsewhere.email });
});

test('/.well-known/webfinger answers the same for people and organizations that are known here and for others', async () => {
  const ask = (resource: string) =>
    world.client().get(`/.well-known/webfinger?resource=${encodeURIComponent(resource)}`);
  const forms = async (known: string, unknown: string) => {
    const [first, second] = [await ask(known), await ask(unknown)];
    expect(first.status).toBe(200);
    const text = (answer: TestAnswer, own: string) =>
      JSON.stringify(answer.body).replaceAll(own.replace(/^\w+:/, ''), '…');
    expect(text(first, known)).toBe(text(second, unknown));
  };
  await forms(`acct:${owner.user.email}`, 'acct:nobody@example.com');
  await forms(`org:${owner.organization.id}`, `org:${newId()}`);
  for (const wrong of ['', 'acct:', 'org:1', 'https://example.com', owner.user.email])
    expectProblem(await ask(wrong), 'invalid_input', wrong);
});
