import type { InjectOptions } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { membership, supportConsent, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { runOperatorCommand } from '#tools/commands/operator-commands.ts';
import { forgedToken } from '../../kit/identity/access-tokens.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { enroll } from '../../kit/identity/authenticator.ts';
import { FakeIdentityProvider } from '../../kit/fakes/fake-identity-provider.ts';
import { changeSettings } from '../../kit/records/organization-settings.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { beginSupport, supportEnvironment, supportFactor } from '../../kit/identity/support-access.ts';
import type { TestClient } from '../../kit/test-client.ts';
import {
  emailChangeToken,
  inviteToken,
  reactivationToken,
  resetToken,
  subscriberToken,
  verificationToken,
} from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';
import { endpoints, outcomes, type Credential, type Endpoint } from './outcomes.ts';

const firstKey = 'k'.repeat(40);

let world: World;
let owner: Person;
let member: Person;
let fake: FakeIdentityProvider;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: firstKey },
  });
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure(supportEnvironment(fake));
  owner = await buildPerson(world);
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  // Operators of the installation, without the second factor that it needs (operations.test.ts).
  for (const { user: operator } of [owner, member])
    await runOperatorCommand(
      { name: 'grant', person: operator.id, by: 'a test', reason: 'a test' },
      { runtime: world.runtime, print: () => {} },
    );
  const expiresAt = new Date(world.clock.now().getTime() + 86_400_000);
  await asSystem(world, owner.organization.id, (data) => data.create(supportConsent, { expiresAt }));
  // Some endpoints move the clock.
  await asOwner(world, `update support_consents set expires_at = expires_at + interval '1 year'`);
});
afterAll(async () => {
  await world.close();
  await fake.close();
});

/** The request that stands for a class of endpoints. */
const requests: Readonly<Record<Endpoint, InjectOptions & { readonly url: string }>> = {
  anybody: { method: 'GET', url: '/livez' },
  'reads records': { method: 'GET', url: '/v1/tasks' },
  'changes records': { method: 'POST', url: '/v1/tasks', payload: { title: 'of a credential' } },
  'GraphQL reads': { method: 'POST', url: '/graphql', payload: { query: '{ tasks { totalCount } }' } },
  'GraphQL changes': {
    method: 'POST',
    url: '/graphql',
    payload: { query: 'mutation { createTask(input: { title: "of a credential" }) { task { id } } }' },
  },
  'own account': { method: 'GET', url: '/v1/account/userinfo' },
  'own sessions': { method: 'POST', url: '/v1/logout', payload: { sessions: 'others' } },
  'gives tokens': {
    method: 'POST',
    url: '/v1/personal-access-tokens',
    payload: { name: 'of a credential', scopes: ['task:read'] },
  },
  'sets up factors': { method: 'POST', url: '/v1/2fa/setup' },
  'manages single sign-on': {
    method: 'PUT',
    url: '/v1/sso/provider',
    payload: { issuer: 'https://provider.example', client_id: 'x', client_secret: 'x' },
  },
  'acts as others': { method: 'POST', url: '/v1/impersonation', payload: { reason: 'a member asked for help' } },
  'operates the installation': { method: 'GET', url: '/v1/operations/deliveries' },
  refreshes: { method: 'POST', url: '/v1/refresh' },
};

/** Makes a client with one credential. */
const holders: Readonly<Record<Credential, () => Promise<TestClient>>> = {
  none: async () => world.client(),
  'access token': async () => bearer(await forgedToken(world, owner)),
  'cookies of a session': () => signedIn(world, owner),
  'access cookie alone': async () => withCookies('access_token'),
  'session cookie alone': async () => withCookies('session'),
  'refresh token as bearer': async () => bearer((await signedIn(world, owner)).cookies.get('refresh_token') ?? ''),
  'refresh cookie alone': async () => withCookies('refresh_token'),
  'CSRF token as bearer': async () => bearer((await signedIn(world, owner)).cookies.get('csrf_token') ?? ''),
  'mark of a known device as bearer': async () =>
    bearer((await signedIn(world, owner)).cookies.get('known_devices') ?? ''),
  'API token that reads tasks': () => program('api-tokens', 'task:read'),
  'API token that changes tasks': () => program('api-tokens', 'task:write'),
  'personal token that reads tasks': () => program('personal-access-tokens', 'task:read'),
  'personal token that changes tasks': () => program('personal-access-tokens', 'task:write'),
  'personal token without the authorization that single sign-on asks for': async () =>
    bearer((await enforcedToken()).token),
  'personal token with this authorization': async () => {
    const { client, organizationId, id, token } = await enforcedToken();
    const url = `/v1/personal-access-tokens/${id}/authorize`;
    expect((await client.post(url, { organization_id: organizationId })).status).toBe(200);
    return bearer(token);
  },
  'expired API token': () => expired('api-tokens'),
  'expired personal token': () => expired('personal-access-tokens'),
  'API token of a revoked key': async () => {
    const key = 'o'.repeat(40);
    await world.reconfigure({ CORE_API_TOKEN_KEY_FIRST: `deprecated:${firstKey}`, CORE_API_TOKEN_KEY_OTHER: key });
    const client = await program('api-tokens', 'task:write');
    await world.reconfigure({ CORE_API_TOKEN_KEY_FIRST: firstKey, CORE_API_TOKEN_KEY_OTHER: `revoked:${key}` });
    return client;
  },
  'deleted API token': async () => {
    const client = await signedIn(world, owner);
    const { body } = await client.post('/v1/api-tokens', { name: 'gone', scopes: ['task:write'] });
    await client.mutate({ method: 'DELETE', url: `/v1/api-tokens/${body.id}` });
    return bearer(body.token);
  },
  'access token of a session that ended': async () => {
    const client = await signedIn(world, owner);
    const token = client.cookies.get('access_token') ?? '';
    await client.post('/v1/logout');
    return bearer(token);
  },
  'expired access token': async () => {
    const now = Math.floor(world.clock.now().getTime() / 1_000);
    return bearer(await forgedToken(world, owner, { claims: { iat: now - 7_200, nbf: now - 7_200, exp: now - 1 } }));
  },
  'access token of a deactivated person': async () => {
    const person = await buildPerson(world);
    const token = await forgedToken(world, person);
    await asSystem(world, person.organization.id, (data) =>
      data.update(user, person.user.id, { status: 'deactivated' }),
    );
    return bearer(token);
  },
  'access token of somebody who left': async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const token = await forgedToken(world, person);
    await asSystem(world, owner.organization.id, async (data) => {
      const held = await data.findOne(membership, { userId: { eq: person.user.id } });
      await data.remove(membership, held?.id ?? '');
    });
    return bearer(token);
  },
  'session of a member where single sign-on is enforced': async () => {
    const { organization, manager } = await signedOn();
    const client = await signedIn(world, await buildPerson(world, { organization, role: 'member' }));
    expect((await manager.post('/v1/sso/enforcement', { is_enforced: true })).status).toBe(200);
    return client;
  },
  'session without the factor that the organization requires': async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    await changeSettings(world, person.organization.id, { requiresSecondFactor: true });
    return client;
  },
  'support access': async () => bearer(await beginSupport(world, fake, owner.organization.id)),
  'support access without consent': async () => {
    const { organization } = await buildPerson(world);
    const expiresAt = new Date(world.clock.now().getTime() + 86_400_000);
    const { id } = await asSystem(world, organization.id, (data) => data.create(supportConsent, { expiresAt }));
    const token = await beginSupport(world, fake, organization.id);
    await asSystem(world, organization.id, (data) => data.remove(supportConsent, id));
    return bearer(token);
  },
  'support access in a cookie': async () => {
    const client = await withCookies('session');
    client.cookies.set('access_token', await beginSupport(world, fake, owner.organization.id));
    return client;
  },
  'first factor of support access': async () => {
    const client = world.client();
    const reason = 'only one of two factors';
    await client.post('/v1/support/login', { ...supportFactor, organization_id: owner.organization.id, reason });
    return bearer(client.cookies.get('sign_in_state') ?? '');
  },
  'impersonation of a member': async () => bearer(await impersonationToken()),
  'impersonation that was ended': async () => {
    const client = bearer(await impersonationToken());
    await client.post('/v1/delegation/end');
    return client;
  },
  'token of an assessment': async () => bearer(await forgedToken(world, owner, { header: { typ: 'assessment+jwt' } })),
  'token of an NDA request': async () => bearer(await forgedToken(world, owner, { header: { typ: 'nda+jwt' } })),
  'session of single sign-on': async () => (await signedOn()).client,
  'session of a deleted single sign-on': async () => {
    const { client, manager, id } = await signedOn();
    await manager.mutate({ method: 'DELETE', url: `/v1/identity-providers/${id}` });
    return client;
  },
  'challenge of a sign-in that needs a code': async () => {
    const person = await buildPerson(world);
    await enroll(world, await signedIn(world, person));
    const { body } = await world.client().post('/v1/login', { username: person.user.email, password: testPassword });
    return bearer(body.challenge_token);
  },
  'token of a confirmation link': async () => {
    await world.client().post('/v1/register', { email: 'new@example.com', password: 'correct horse battery' });
    return bearer(await verificationToken(world, 'new@example.com'));
  },
  'token of a password link': async () => {
    await world.client().post('/v1/forgot-password', { email: owner.user.email });
    return bearer(await resetToken(world, owner.user.email));
  },
  'token of an invitation': async () => {
    const recipient = `${newId().toLowerCase()}@example.com`;
    await (await signedIn(world, owner)).post('/v1/invites', { recipient });
    return bearer(await inviteToken(world, recipient));
  },
  'token of a subscriber': async () => {
    const email = `${newId().toLowerCase()}@example.com`;
    await (await signedIn(world, owner)).post('/v1/subscribers', { email });
    return bearer(await subscriberToken(world, email));
  },
  'token of a link that changes the address': async () => {
    const newEmail = `${newId().toLowerCase()}@example.com`;
    await (await signedIn(world, owner)).post('/v1/account/email', { password: testPassword, new_email: newEmail });
    return bearer(await emailChangeToken(world, newEmail));
  },
  'token of a reactivation link': async () => {
    const person = await buildPerson(world, { organization: owner.organization, role: 'member' });
    const { status } = await (await signedIn(world, person)).post('/v1/account/deactivate', { password: testPassword });
    expect(status).toBe(200);
    return bearer(await reactivationToken(world, person.user.email));
  },
  'token of a link to the webhook portal': async () => {
    const { body } = await (await signedIn(world, owner)).post('/v1/webhook-portal/links', {});
    return bearer(String(body.url).split('#token=')[1] ?? '');
  },
  'token in the query string': async () => world.client(),
};

async function impersonationToken(): Promise<string> {
  const request = { user_id: member.user.id, reason: 'a member asked for help' };
  return (await (await signedIn(world, owner)).post('/v1/impersonation', request)).body.access_token;
}

/** Comes back from the provider of single sign-on. */
async function come(client: TestClient, location: string, { user: { id, email } }: Person): Promise<void> {
  const { pathname, search } = fake.approve(location, { sub: id, email, email_verified: true });
  expect((await client.get(pathname + search)).status).toBe(302);
}

/** Signs in with the single sign-on of the person's organization. */
async function signOn(person: Person): Promise<TestClient> {
  const client = world.client();
  const { body } = await client.get(`/v1/sso/login?organization_id=${person.organization.id}`);
  await come(client, body.location, person);
  return client;
}

/** Somebody who has linked an identity with the test of the single sign-on of their organization, and has signed in with it. */
async function signedOn() {
  const person = await buildPerson(world);
  const manager = await signedIn(world, person);
  const payload = { issuer: fake.url, client_id: fake.client.id, client_secret: fake.client.secret };
  const { body } = await manager.mutate({ method: 'PUT', url: '/v1/sso/provider', payload });
  await come(manager, (await manager.post('/v1/sso/test')).body.location, person);
  return { client: await signOn(person), manager, id: body.id as string, organization: person.organization };
}

/** A personal token of a member where single sign-on is enforced, and their session of this single sign-on. */
async function enforcedToken() {
  const { manager, organization } = await signedOn();
  const person = await buildPerson(world, { organization, role: 'member' });
  const plain = await signedIn(world, person);
  const begun = await plain.post('/v1/account/identities', {
    provider: 'single_sign_on',
    organization_id: organization.id,
  });
  await come(plain, begun.body.location, person);
  const { body } = await plain.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:write'] });
  expect((await manager.post('/v1/sso/enforcement', { is_enforced: true })).status).toBe(200);
  return { client: await signOn(person), organizationId: organization.id, id: body.id, token: body.token };
}

async function expired(path: 'api-tokens' | 'personal-access-tokens'): Promise<TestClient> {
  const client = await program(path, 'task:write');
  await asOwner(world, `update ${path.replaceAll('-', '_')} set expires_at = $1`, [world.clock.now()]);
  return client;
}

function bearer(token: string): TestClient {
  const client = world.client();
  client.bearer = token;
  return client;
}

/** A browser that has one cookie of a session, and the CSRF token that fits it. */
async function withCookies(name: string): Promise<TestClient> {
  const whole = await signedIn(world, owner);
  const client = world.client();
  client.cookies.set(name, whole.cookies.get(name) ?? '');
  return client;
}

async function program(path: string, scope: string): Promise<TestClient> {
  const { body } = await (await signedIn(world, owner)).post(`/v1/${path}`, { name: 'a program', scopes: [scope] });
  return bearer(body.token);
}

const known = new Map<Credential, Promise<TestClient>>();

/** A client with this credential; for a refresh that succeeds, one whose session no other request has ended. */
function holderOf(credential: Credential, endpoint: Endpoint): Promise<TestClient> {
  if (endpoint === 'refreshes' && outcomes[credential].refreshes === 'yes') return holders[credential]();
  const holder = known.get(credential) ?? holders[credential]();
  known.set(credential, holder);
  return holder;
}

/** Sends the request of an endpoint. @returns `yes`, or the code of the error */
async function outcome(credential: Credential, endpoint: Endpoint): Promise<string> {
  const client = await holderOf(credential, endpoint);
  const { url, ...request } = requests[endpoint];
  if (endpoint === 'acts as others') Object.assign(request.payload as object, { user_id: member.user.id });
  const query = credential === 'token in the query string' ? `?access_token=${await forgedToken(world, owner)}` : '';
  // The refresh token counts from some time before the access token expires.
  if (endpoint === 'refreshes') world.clock.advance(46 * 60_000);
  const { status, body } = await client.mutate({ ...request, url: url + query });
  return status < 300 && !body.errors ? 'yes' : (body.code ?? body.errors[0].extensions.code);
}

describe.each(Object.keys(outcomes) as Credential[])('%s', (credential) => {
  test.each(endpoints)('%s', async (endpoint) => {
    expect(await outcome(credential, endpoint)).toBe(outcomes[credential][endpoint]);
  });
});
