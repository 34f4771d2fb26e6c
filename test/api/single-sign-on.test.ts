import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { membership, organization, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { FakeIdentityProvider, type FakePerson } from '../kit/fakes/fake-identity-provider.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { resetToken } from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;
let owner: Person;
let client: TestClient;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40) },
  });
  await world.reconfigure({ CORE_AUTH_PROVIDERS_REDIRECTURL: 'https://console.example/login/sso' });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  owner = await buildPerson(world);
  client = await signedIn(world, owner);
});
afterEach(() => fake.reset());
afterAll(async () => {
  await fake.close();
  await world.close();
});

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
      expectProblem(await by.post('/v1/sso/test'), 'not_found');
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
      { allowed_domains: ['Corp.example'] },
      { allowed_domains: ['*'] },
      { allowed_domains: 'corp.example' },
      { is_enforced: true },
    ])
      expectProblem(await put(client, settings(wrong)), 'invalid_input', JSON.stringify(wrong));
    const { client_secret: _secret, ...without } = settings({ client_id: 'another' });
    expectProblem(await put(client, without), 'invalid_input');
  });

  test('are enforced only after a test of just these settings', async () => {
    await put(client, settings());
    expectProblem(await enforce(true), 'invalid_input');
    const begun = await client.post('/v1/sso/test');
    await put(client, settings({ client_secret: 'another' }));
    await put(client, settings());
    const late = await come(client, fake.approve(begun.body.location, employee()));
    expectProblem(late, 'provider_sign_in_failed');
    expectProblem(await enforce(true), 'invalid_input');
    expectProblem(await testSettings(client, employee({ email_verified: false })), 'provider_sign_in_failed');
    expectProblem(await enforce(true), 'invalid_input');
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

  test('is refused for other domains, unverified addresses and accounts that are not linked', async () => {
    await setUp(false);
    const member = await buildPerson(world, {
      organization: owner.organization,
      role: 'member',
      email: 'member-with-password@corp.example',
    });
    for (const [person, code] of [
      [employee({ email: 'a@other.example' }), 'provider_sign_in_failed'],
      [employee({ email: 'a@corp.example.evil.example' }), 'provider_sign_in_failed'],
      [employee({ email: 'a@evilcorp.example' }), 'provider_sign_in_failed'],
      [employee({ email_verified: false }), 'provider_sign_in_failed'],
      [employee({ email: member.user.email }), 'identity_not_linked'],
    ] as const) {
      const by = world.client();
      expectProblem(await signOn(person, by), code, person.email);
      expect((await by.graphql('{ self { id } }')).data.self).toBeNull();
    }
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
    for (const [url, body] of [
      ['/v1/2fa/setup', {}],
      ['/v1/personal-access-tokens', { name: 'all of it', scopes: ['task:read'] }],
    ] as const)
      expectProblem(await by.post(url, body), 'step_up_required', url);
    const create = 'mutation { createPersonalAccessToken(input: { name: "x", scopes: ["task:read"] }) { token } }';
    expect((await by.graphql(create)).errors[0].extensions.code).toBe('step_up_required');
    expectProblem(await by.post('/v1/2fa/step-up', { password: testPassword }), 'invalid_credentials');
    // Whoever reads the mail of the address takes the account over, without the provider of the organization.
    await world.client().post('/v1/forgot-password', { email: person.email ?? '' });
    const token = await resetToken(world, person.email ?? '');
    expect((await world.client().post('/v1/password-reset', { token, password: testPassword })).status).toBe(200);
    expectProblem(await signOn(person), 'identity_not_linked');
    const own = world.client();
    expect((await own.post('/v1/login', { username: person.email, password: testPassword })).status).toBe(200);
    expect((await own.post('/v1/personal-access-tokens', { name: 'x', scopes: ['task:read'] })).status).toBe(201);
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
    await enforce(false);
    expect((await world.client().post('/v1/login', { username: only.user.email, password: testPassword })).status).toBe(
      200,
    );
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
    const part = await asSystem(world, owner.organization.id, (data) =>
      data.privileged('test').create(organization, { name: newId(), parentId: owner.organization.id }),
    );
    const by = world.client();
    await signOn(employee(), by);
    expect((await by.post('/v1/switch', { target_organization_id: part.id })).status).toBe(200);
    await enforce(false);
    const admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
    const plain = await signedIn(world, admin);
    await enforce(true);
    expectProblem(await plain.post('/v1/switch', { target_organization_id: part.id }), 'single_sign_on_required');
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
      `mutation ($id: ID!, $organizationId: ID!) { ${operation}(id: $id, organizationId: $organizationId) { personalAccessToken { singleSignOnIds } } }`,
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
    return { member, plain, signedOn, id, token };
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
    expect((await authorize(signedOn, id)).body).toMatchObject({ id, single_sign_on_ids: [at] });
    expect(await opens(token)).toEqual([200, 201]);
    expect((await authorize(signedOn, id)).body).toMatchObject({ record_version: 2 });
    const listed = await signedOn.get('/v1/personal-access-tokens');
    expect(listed.body.data).toMatchObject([{ id, single_sign_on_ids: [at] }]);
    expect((await deauthorize(signedOn, id)).body).toMatchObject({ single_sign_on_ids: [] });
    expect(await opens(token)).toEqual([401, 401]);
    expectProblem(await deauthorize(signedOn, id), 'not_found');

    expect((await authorizeByGraphql(signedOn, id, at)).data).toEqual({
      authorizePersonalAccessToken: { personalAccessToken: { singleSignOnIds: [at] } },
    });
    expect(await opens(token)).toEqual([200, 201]);
    const undone = await query('deauthorizePersonalAccessToken')(plain, id, at);
    expect(undone.data.deauthorizePersonalAccessToken.personalAccessToken).toEqual({ singleSignOnIds: [] });
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
    for (const wrong of [7, null, [], '', 'x'.repeat(1_000)])
      expectProblem(
        await signedOn.post(`/v1/personal-access-tokens/${id}/authorize`, { organization_id: wrong }),
        'invalid_input',
      );
    const colleague = world.client();
    await signOn(employee(), colleague);
    expectProblem(await authorize(colleague, id), 'not_found');
    expectProblem(await authorize(client, id), 'not_found');
    expectProblem(await authorize(world.client(), id), 'unauthenticated');
    const patched = await signedOn.mutate({
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

  test('counts in the parts of the organization too, and nowhere after its owner has left', async () => {
    const { signedOn, id, token, member } = await memberWithToken();
    const part = await asSystem(world, owner.organization.id, (data) =>
      data.privileged('test').create(organization, { name: newId(), parentId: owner.organization.id }),
    );
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
