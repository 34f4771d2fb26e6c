import { afterAll, beforeAll, expect, test } from 'vitest';
import { identityProvider } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { enroll } from '../kit/identity/authenticator.ts';
import { eventually } from '../kit/eventually.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { FakeIdentityProvider } from '../kit/fakes/fake-identity-provider.ts';
import { mailsTo } from '../kit/mailbox.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../kit/people.ts';
import {
  newPasskey,
  passkeyEnvironment,
  registerPasskey,
  passkeyOrigin,
  signInByPasskey,
} from '../kit/identity/register-passkey.ts';
import { completeSupport, supportEnvironment } from '../kit/identity/support-access.ts';
import { SoftwareAuthenticator } from '../kit/identity/software-authenticator.ts';
import type { TestAnswer, TestClient } from '../kit/test-client.ts';
import { emailChangeToken, reactivationToken, resetToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let fake: FakeIdentityProvider;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      ...passkeyEnvironment,
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
    },
  });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure({
    ...supportEnvironment(fake),
    CORE_AUTH_SUPPORTEDPROVIDERS: 'identity',
    CORE_AUTH_PROVIDERS_REDIRECTURL: 'https://console.example',
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTID: fake.client.id,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTSECRET: fake.client.secret,
    CORE_AUTH_PROVIDERS_IDENTITY_CLIENTENDPOINT: fake.url,
  });
});
afterAll(async () => {
  await fake.close();
  await world.close();
});

/** Somebody who is signed in, and owns an organization with a member. */
interface Scene {
  readonly person: Person;
  readonly client: TestClient;
  readonly colleague: Person;
}

/** Who acts, as events and history name them. */
type Actor = 'the person' | 'anonymous' | typeof refusal;

/** What happens although the request is refused. */
const refusal = 'system:refresh token reused';

/** Does what the act is, as the last request. @returns the response of this request */
type Doing = (scene: Scene) => Promise<TestAnswer>;

const password = testPassword;
const newPassword = 'tangerine umbrella sidewalk';
const del = (client: TestClient, url: string, payload?: object) =>
  client.mutate({ method: 'DELETE', url, ...(payload ? { payload } : {}) });
const firstOf = async (client: TestClient, url: string): Promise<string> => (await client.get(url)).body.data[0].id;

async function come(client: TestClient, location: string, sub: string): Promise<TestAnswer> {
  const { pathname, search } = fake.approve(location, { sub, email: 'somebody@example.com', email_verified: true });
  return client.get(pathname + search);
}

async function link(client: TestClient, sub = newId()): Promise<TestAnswer> {
  const { body } = await client.post('/v1/account/identities', { provider: 'identity' });
  return come(client, body.location, sub);
}

const consent = (client: TestClient): Promise<TestAnswer> =>
  client.post('/v1/support-consents', { expires_at: new Date(world.clock.now().getTime() + 86_400_000).toISOString() });
const impersonate = (client: TestClient, { user: { id } }: Person): Promise<TestAnswer> =>
  client.post('/v1/impersonation', { user_id: id, reason: 'they asked for help' });

const setProvider = (client: TestClient, more: object = {}): Promise<TestAnswer> =>
  client.mutate({
    method: 'PUT',
    url: '/v1/sso/provider',
    payload: { issuer: 'https://provider.example', client_id: 'x', client_secret: 'x', ...more },
  });

async function setUpSignOn({ organization }: Person): Promise<string> {
  const settings = { issuer: 'https://provider.example', clientId: 'x', clientSecret: 'x', revision: newId() };
  const made = await asSystem(world, organization.id, (data) =>
    data.create(identityProvider, { ...settings, testedAt: world.clock.now() }),
  );
  return made.id;
}

const membershipOf = async (client: TestClient, { user: { id } }: Person): Promise<string> =>
  firstOf(client, `/v1/memberships?user_id=${id}`);

/** The settings are made after the organization. */
async function requireFactor(client: TestClient, isRequired: boolean): Promise<TestAnswer> {
  const id = await eventually(async () => (await client.get('/v1/organization-settings')).body.data[0]?.id as string);
  const payload = { requires_second_factor: isRequired };
  return client.mutate({ method: 'PATCH', url: `/v1/organization-settings/${id}`, payload });
}

/**
 * Acts that concern who may sign in as whom, with the event that tells of it, the record in whose history it stands, and the mail that
 * the person gets. Without a mail: they have just done it themselves, and it gives nobody anything.
 */
// prettier-ignore
const acts: readonly (readonly [act: string, event: string, audit: string, mail: string | null, actor: Actor, doing: Doing])[] = [
  ['a sign-in from a new device', 'session.begun_on_new_device', 'session created', 'New sign-in to your account', 'anonymous',
    ({ person }) => {
      world.clock.advance(61 * 60_000);
      return world.client().post('/v1/login', { username: person.user.email, password });
    }],
  ['a changed password', 'user.password_changed', 'user updated', 'Your password was changed', 'the person',
    ({ client }) => client.post('/v1/change-password', { password, new_password: newPassword })],
  ['a password set with a mailed link', 'user.password_changed', 'user updated', 'Your password was changed', 'anonymous',
    async ({ person: { user: { email } } }) => {
      await world.client().post('/v1/forgot-password', { email });
      return world.client().post('/v1/password-reset', { token: await resetToken(world, email), password: newPassword });
    }],
  ['a changed address', 'email_change.confirmed', 'user updated', 'The e-mail address of your account was changed', 'the person',
    async ({ client, person: { user: { id } } }) => {
      const email = `new-${id.toLowerCase()}@example.com`;
      await client.post('/v1/account/email', { password, new_email: email });
      return client.post('/v1/account/email/confirm', { token: await emailChangeToken(world, email), password });
    }],
  ['a created personal token', 'personal_access_token.created', 'personal_access_token created', 'A token for programs was created', 'the person',
    ({ client }) => client.post('/v1/personal-access-tokens', { name: 'x', scopes: ['task:read'] })],
  ['a created API token', 'api_token.created', 'api_token created', 'A token for programs was created', 'the person',
    ({ client }) => client.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'] })],
  ['a rotated API token', 'api_token.rotated', 'api_token updated', 'A token for programs was created', 'the person',
    async ({ client }) => {
      const { body } = await client.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'] });
      return client.post(`/v1/api-tokens/${body.id}/rotate`);
    }],
  ['a rotated personal token', 'personal_access_token.rotated', 'personal_access_token updated', 'A token for programs was created', 'the person',
    async ({ client }) => {
      const { body } = await client.post('/v1/personal-access-tokens', { name: 'x', scopes: ['task:read'] });
      return client.post(`/v1/personal-access-tokens/${body.id}/rotate`);
    }],
  ['a deleted API token', 'api_token.deleted', 'api_token deleted', null, 'the person',
    async ({ client }) => {
      const { body } = await client.post('/v1/api-tokens', { name: 'x', scopes: ['task:read'] });
      return del(client, `/v1/api-tokens/${body.id}`);
    }],
  ['a deleted personal token', 'personal_access_token.deleted', 'personal_access_token deleted', null, 'the person',
    async ({ client }) => {
      const { body } = await client.post('/v1/personal-access-tokens', { name: 'x', scopes: ['task:read'] });
      return del(client, `/v1/personal-access-tokens/${body.id}`);
    }],
  ['an added passkey', 'passkey.created', 'passkey created', 'A passkey was added', 'the person',
    ({ client }) => registerPasskey(client, new SoftwareAuthenticator(passkeyOrigin))],
  ['a removed passkey', 'passkey.deleted', 'passkey deleted', 'A passkey was removed', 'the person',
    async ({ client }) => {
      await newPasskey(client);
      return del(client, `/v1/passkeys/${await firstOf(client, '/v1/passkeys')}`);
    }],
  ['a second factor turned on', 'second_factor.confirmed', 'second_factor updated', 'Your account has a second factor', 'the person',
    async ({ client }) => (await enroll(world, client)).answer],
  ['a second factor turned off', 'second_factor.removed', 'second_factor deleted', 'The second factor of your account was removed', 'the person',
    async ({ client }) => {
      const { app } = await enroll(world, client);
      return client.post('/v1/2fa/disable', { code: await app.nextCode() });
    }],
  ['new recovery codes', 'second_factor.recovery_codes_replaced', 'second_factor updated', 'Your account has new recovery codes', 'the person',
    async ({ client }) => {
      await enroll(world, client);
      return client.post('/v1/2fa/recovery-codes');
    }],
  ['a used recovery code', 'second_factor.recovery_code_used', 'second_factor updated', 'A recovery code was used', 'the person',
    async ({ client }) => {
      const { recoveryCodes } = await enroll(world, client);
      return client.post('/v1/2fa/step-up', { recovery_code: recoveryCodes[0] });
    }],
  ['a linked identity', 'external_identity.linked', 'external_identity created', 'An identity was linked', 'the person',
    ({ client }) => link(client)],
  ['an unlinked identity', 'external_identity.unlinked', 'external_identity deleted', 'An identity was unlinked', 'the person',
    async ({ client }) => {
      await link(client);
      return del(client, `/v1/account/identities/${await firstOf(client, '/v1/external-identities')}`);
    }],
  ['a transferred ownership', 'membership.updated', 'membership updated', 'An organization has a new owner', 'the person',
    ({ client, person, colleague }) =>
      client.post(`/v1/organizations/${person.organization.id}/transfer-ownership`, { user_id: colleague.user.id })],
  ['a changed role', 'membership.updated', 'membership updated', null, 'the person',
    async ({ client, colleague }) =>
      client.mutate({ method: 'PATCH', url: `/v1/memberships/${await membershipOf(client, colleague)}`, payload: { role: 'admin' } })],
  ['a removed member', 'membership.deleted', 'membership deleted', null, 'the person',
    async ({ client, colleague }) => del(client, `/v1/memberships/${await membershipOf(client, colleague)}`)],
  ['a second factor required of members', 'organization_setting.updated', 'organization_setting updated', null, 'the person',
    ({ client }) => requireFactor(client, true)],
  ['a second factor required no more', 'organization_setting.updated', 'organization_setting updated', null, 'the person',
    async ({ client }) => {
      await enroll(world, client);
      await requireFactor(client, true);
      return requireFactor(client, false);
    }],
  ['a provider of single sign-on', 'identity_provider.created', 'identity_provider created', 'The provider of single sign-on was changed', 'the person',
    ({ client }) => setProvider(client)],
  ['enforced single sign-on', 'identity_provider.updated', 'identity_provider updated', 'Single sign-on is enforced', 'the person',
    async ({ client, person }) => {
      await setUpSignOn(person);
      return client.post('/v1/sso/enforcement', { is_enforced: true });
    }],
  ['removed single sign-on', 'identity_provider.deleted', 'identity_provider deleted', 'Single sign-on was removed', 'the person',
    async ({ client, person }) => del(client, `/v1/identity-providers/${await setUpSignOn(person)}`)],
  ['a consent to support access', 'support_consent.created', 'support_consent created', 'Your organization is open to support', 'the person',
    ({ client }) => consent(client)],
  ['a consent that is taken back', 'support_consent.deleted', 'support_consent deleted', null, 'the person',
    async ({ client }) => del(client, `/v1/support-consents/${(await consent(client)).body.id}`)],
  ['support access', 'delegation.begun', 'delegation created', 'Support has access to your organization', 'anonymous',
    async ({ client, person: { organization: { id } } }) => {
      await consent(client);
      return completeSupport(world, fake, id);
    }],
  // The colleague is told.
  ['an impersonation', 'delegation.begun', 'delegation created', null, 'the person',
    ({ client, colleague }) => impersonate(client, colleague)],
  ['an impersonation that is ended', 'delegation.updated', 'delegation updated', null, 'the person',
    async ({ client, colleague }) => client.post(`/v1/delegations/${(await impersonate(client, colleague)).body.delegation_id}/end`)],
  ['a revoked session', 'session.deleted', 'session deleted', null, 'the person',
    async ({ client, person }) => {
      await signedIn(world, person);
      return client.post('/v1/logout', { sessions: 'others' });
    }],
  ['a refresh token that is used twice', 'session.refresh_token_reused', 'session deleted', 'One of your sessions was ended', refusal,
    async ({ client }) => {
      const token = client.cookies.get('refresh_token');
      world.clock.advance(50 * 60_000);
      expect((await client.post('/v1/refresh')).status).toBe(200);
      // For ten seconds it has the same successor.
      world.clock.advance(11_000);
      return world.client().post('/v1/refresh', { refresh_token: token });
    }],
  ['a deactivated account', 'user.deactivated', 'user updated', 'Your account is deactivated', 'the person',
    async ({ client, person, colleague }) => {
      await client.post(`/v1/organizations/${person.organization.id}/transfer-ownership`, { user_id: colleague.user.id });
      return client.post('/v1/account/deactivate', { password });
    }],
  ['a reactivated account', 'user.reactivated', 'user updated', 'Your account is active again', 'anonymous',
    async ({ client, person, colleague }) => {
      await client.post(`/v1/organizations/${person.organization.id}/transfer-ownership`, { user_id: colleague.user.id });
      await client.post('/v1/account/deactivate', { password });
      return world.client().post('/v1/account/reactivate', { token: await reactivationToken(world, person.user.email), password });
    }],
  ['a deleted account', 'email_change.account_deleted', 'user deleted', 'Your account was deleted', 'the person',
    async ({ client, person, colleague }) => {
      await client.post(`/v1/organizations/${person.organization.id}/transfer-ownership`, { user_id: colleague.user.id });
      return del(client, '/v1/account', { password });
    }],
];

test.each(acts)('%s is the event %s, is in the history as "%s", and is told by the mail "%s"', async (...row) => {
  const [, event, audit, mail, actor, doing] = row;
  const person = await buildPerson(world);
  const colleague = await buildPerson(world, { organization: person.organization, role: 'member' });
  const client = await signedIn(world, person);
  const { status, headers, body } = await doing({ person, client, colleague });
  if (actor === refusal) expect(status).toBe(401);
  else expect(status, JSON.stringify(body)).toBeLessThan(400);
  const requestId = headers['x-request-id'];
  const expected = actor === 'the person' ? `user:${person.user.id}` : actor;
  const events = await asOwner(world, 'select topic, actor from events where request_id = $1', [requestId]);
  expect(events).toContainEqual({ topic: event, actor: expected });
  const history = await asOwner<{ change: string; actor: string }>(
    world,
    `select entity_kind || ' ' || operation as change, actor from history where request_id = $1`,
    [requestId],
  );
  expect(history).toContainEqual({ change: audit, actor: expected });
  if (mail === null) return;
  const isMailed = async () =>
    (await mailsTo(world, person.user.email)).some((text) => text.includes(`Subject: ${mail}`));
  await eventually(isMailed);
});

test('owners, and whoever acts, are told of each issuer, client and list of domains of a single sign-on, and of no change without one', async () => {
  const person = await buildPerson(world);
  const admin = await buildPerson(world, { organization: person.organization, role: 'admin' });
  const client = await signedIn(world, admin);
  const told = async ({ user }: Person, subject: string, count: number) => {
    const isOf = (text: string) => text.includes(`Subject: ${subject}`);
    return eventually(async () => (await mailsTo(world, user.email)).filter(isOf).length === count, 60_000);
  };
  let count = 0;
  for (const [settings, isTold] of [
    [{}, true],
    [{}, false],
    [{ client_id: 'another' }, true],
    [{ client_id: 'another', client_secret: 'another' }, false],
    [{ client_id: 'another', allowed_domains: ['corp.example'] }, true],
    [{ issuer: 'https://elsewhere.example' }, true],
  ] as const) {
    const { status, body } = await setProvider(client, settings);
    expect(status, JSON.stringify(body)).toBe(200);
    if (isTold) count++;
    for (const one of [person, admin]) await told(one, 'The provider of single sign-on was changed', count);
  }
  await del(client, `/v1/identity-providers/${await firstOf(client, '/v1/identity-providers')}`);
  for (const one of [person, admin]) {
    await told(one, 'Single sign-on was removed', 1);
    await told(one, 'The provider of single sign-on was changed', count);
    expect((await mailsTo(world, one.user.email)).join()).toContain('https://elsewhere.example');
  }
});

test('T-01: one deactivation ends every credential of a person, and none of their organization', async () => {
  const person = await buildPerson(world);
  const colleague = await buildPerson(world, { organization: person.organization, role: 'owner' });
  const member = await buildPerson(world, { organization: person.organization, role: 'member' });
  const client = await signedIn(world, person);
  const other = await signedIn(world, person);
  const passkey = await newPasskey(client);
  expect((await link(client, person.user.id)).status).toBe(302);
  const token = { name: 'x', scopes: ['task:read'] };
  const personal = (await client.post('/v1/personal-access-tokens', token)).body.token;
  const ofOrganization = (await client.post('/v1/api-tokens', token)).body.token;
  const delegate = (await impersonate(client, member)).body.access_token;
  const read = (bearer: string) => world.client().get('/v1/tasks', { authorization: `Bearer ${bearer}` });
  const signIns: readonly (() => Promise<TestAnswer>)[] = [
    () => world.client().post('/v1/login', { username: person.user.email, password }),
    () => signInByPasskey(world.client(), passkey),
    async () => {
      const browser = world.client();
      return come(browser, (await browser.get('/v1/identity/login')).body.location, person.user.id);
    },
  ];
  const tokens = [other.cookies.get('access_token') ?? '', personal, delegate];
  for (const one of [...tokens, ofOrganization]) expect((await read(one)).status).toBe(200);
  for (const signIn of signIns) expect((await signIn()).status).toBeLessThan(400);

  expect((await client.post('/v1/account/deactivate', { password })).status).toBe(200);
  for (const one of tokens) expect((await read(one)).body.code).toBe('unauthenticated');
  expect((await other.get('/v1/tasks')).body.code).toBe('unauthenticated');
  for (const signIn of signIns) expectProblem(await signIn(), 'invalid_credentials');
  world.clock.advance(50 * 60_000);
  expect((await other.post('/v1/refresh')).body.code).toBe('unauthenticated');
  expect((await read(ofOrganization)).status).toBe(200);
  expect((await signedIn(world, colleague)).cookies.has('access_token')).toBe(true);
});
