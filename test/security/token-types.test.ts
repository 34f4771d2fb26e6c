import { decodeJwt, decodeProtectedHeader, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { signingKeyOf } from '../kit/identity/access-tokens.ts';
import { enroll, type Authenticator } from '../kit/identity/authenticator.ts';
import { buildPerson, signedIn, testPassword } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { FakeIdentityProvider } from '../kit/fakes/fake-identity-provider.ts';
import { beginSupport, supportEnvironment, supportFactor } from '../kit/identity/support-access.ts';
import {
  emailChangeToken,
  inviteToken,
  reactivationToken,
  resetToken,
  subscriberToken,
  unsubscribeToken,
  verificationToken,
} from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-21: values that we hand out are of a type; none is accepted in the place of another.

const types = [
  'access',
  'refresh',
  'session',
  'csrf',
  'confirmation',
  'reset',
  'emailChange',
  'reactivation',
  'challenge',
  'invite',
  'subscriber',
  'unsubscribe',
  'support',
  'supportState',
  'impersonation',
  'portal',
  'endpointSecret',
] as const;
type TokenType = (typeof types)[number];

let world: World;
let email: string;
/** Of somebody with a second factor. */
let app: Authenticator;
/** One valid value of every type. */
let values: Record<TokenType, string>;
let fake: FakeIdentityProvider;

beforeAll(async () => {
  world = await openWorld();
  fake = await FakeIdentityProvider.start(() => world.clock.now());
  await world.reconfigure(supportEnvironment(fake));
  const person = await buildPerson(world);
  const member = await buildPerson(world, { organization: person.organization, role: 'member' });
  email = person.user.email;
  const client = await signedIn(world, person);
  await client.post('/v1/forgot-password', { email });
  await client.post('/v1/invites', { recipient: 'invited@example.com' });
  await client.post('/v1/subscribers', { email: 'subscriber@example.com' });
  await client.post('/v1/register', { email: 'typed@example.com', password: 'correct horse battery' });
  await client.post('/v1/account/email', { password: testPassword, new_email: 'changed@example.com' });
  const expires = new Date(world.clock.now().getTime() + 86_400_000).toISOString();
  await client.post('/v1/support-consents', { expires_at: expires });
  const impersonation = await client.post('/v1/impersonation', { user_id: member.user.id, reason: 'one of each type' });
  const supporter = world.client();
  const asked = { ...supportFactor, organization_id: person.organization.id, reason: 'one of each type' };
  await supporter.post('/v1/support/login', asked);
  const gone = await buildPerson(world);
  await (await signedIn(world, gone)).post('/v1/account/deactivate', { password: testPassword });
  const endpoint = await client.post('/v1/webhook-endpoints', {
    name: 'one of each type',
    url: 'https://93.184.215.14/',
    topics: ['task.*'],
    scopes: ['task:read'],
  });
  values = {
    access: client.cookies.get('access_token') ?? '',
    refresh: client.cookies.get('refresh_token') ?? '',
    session: client.cookies.get('session') ?? '',
    csrf: client.cookies.get('csrf_token') ?? '',
    confirmation: await verificationToken(world, 'typed@example.com'),
    reset: await resetToken(world, email),
    invite: await inviteToken(world, 'invited@example.com'),
    subscriber: await subscriberToken(world, 'subscriber@example.com'),
    unsubscribe: await unsubscribeToken(world, 'subscriber@example.com'),
    challenge: await challengeToken(),
    emailChange: await emailChangeToken(world, 'changed@example.com'),
    reactivation: await reactivationToken(world, gone.user.email),
    support: await beginSupport(world, fake, person.organization.id),
    supportState: supporter.cookies.get('sign_in_state') ?? '',
    impersonation: impersonation.body.access_token,
    endpointSecret: endpoint.body.secret,
    portal: String((await client.post('/v1/webhook-portal/links', {})).body.url).split('#token=')[1] ?? '',
  };
});
afterAll(async () => {
  await fake.close();
  await world.close();
});

async function challengeToken(): Promise<string> {
  const careful = await buildPerson(world);
  ({ app } = await enroll(world, await signedIn(world, careful)));
  const credentials = { username: careful.user.email, password: testPassword };
  return (await world.client().post('/v1/login', credentials)).body.challenge_token;
}

const others = (own: TokenType) => types.filter((type) => type !== own);

test('every type of token has a value', () => {
  expect(Object.entries(values).filter(([, value]) => typeof value !== 'string' || value.length < 20)).toEqual([]);
});

test.each(others('access'))('T-21: a %s token is refused as an access token', async (type) => {
  const client = world.client();
  client.bearer = values[type];
  // These are for the same header; their own types say that they are no access tokens (docs/decisions/acting-as-somebody-else.md).
  const isDelegation = type === 'support' || type === 'impersonation';
  expectProblem(await client.get('/v1/sessions'), isDelegation ? 'permission_denied' : 'unauthenticated');
  client.bearer = undefined;
  client.cookies.set('access_token', values[type]);
  client.cookies.set('session', values.session);
  expect((await client.graphql('{ self { id } }')).data).toEqual({ self: null });
});

test.each(others('refresh'))('T-21, T-32: a %s token is refused as a refresh token', async (type) => {
  const client = world.client();
  expectProblem(await client.post('/v1/refresh', { refresh_token: values[type] }), 'unauthenticated');
  client.cookies.set('refresh_token', values[type]);
  expectProblem(await client.post('/v1/refresh'), 'unauthenticated');
});

test.each(others('session'))('T-21: a %s token is refused as a session cookie', async (type) => {
  const client = world.client();
  client.cookies.set('access_token', values.access);
  client.cookies.set('session', values[type]);
  expect((await client.graphql('{ self { id } }')).data).toEqual({ self: null });
});

test.each(others('csrf'))('T-21: a %s token is refused as a CSRF token', async (type) => {
  const client = world.client();
  client.cookies.set('csrf_token', values[type]);
  expectProblem(await client.post('/v1/logout'), 'csrf_token_invalid');
});

test.each(others('confirmation'))('T-21: a %s token is refused as a confirmation token', async (type) => {
  const answer = await world.client().post('/v1/verify', { token: values[type], password: 'correct horse battery' });
  expect(['invalid_token', 'invalid_input']).toContain(answer.body.code);
});

test.each(others('reset'))('T-21: a %s token is refused as a token to set a password', async (type) => {
  const body = { token: values[type], password: 'correct horse battery' };
  const answer = await world.client().post('/v1/password-reset', body);
  expect(['invalid_token', 'invalid_input']).toContain(answer.body.code);
});

test.each(others('invite'))('T-21: a %s token is refused as the token of an invitation', async (type) => {
  const client = await signedIn(world, await buildPerson(world));
  const password = 'correct horse battery';
  for (const [url, body] of [
    ['/v1/invite', { token: values[type] }],
    ['/v1/invite/accept', { token: values[type] }],
    ['/v1/invite/decline', { token: values[type] }],
    ['/v1/register', { email: 'invited@example.com', password, invite_token: values[type] }],
  ] as const) {
    const answer = await client.post(url, body);
    expect(['invalid_token', 'invalid_input'], url).toContain(answer.body.code);
  }
});

test.each([
  ['subscriber', '/v1/subscribe/verify'],
  ['unsubscribe', '/v1/unsubscribe'],
  ['unsubscribe', '/v1/unsubscribe/show'],
  ['unsubscribe', '/v1/unsubscribe/undo'],
] as const)('T-21: no other token is accepted as the one of a link for a %s', async (own, url) => {
  for (const type of others(own)) {
    const answer = await world.client().post(url, { token: values[type] });
    expect(['invalid_token', 'invalid_input'], type).toContain(answer.body.code);
  }
});

test.each(others('challenge'))('T-21: a %s token is refused as the challenge of a sign-in', async (type) => {
  const body = { challenge_token: values[type], code: await app.code(1) };
  expectProblem(await world.client().post('/v1/2fa/validate', body), 'unauthenticated');
});

test.each([
  ['emailChange', '/v1/account/email/confirm'],
  ['reactivation', '/v1/account/reactivate'],
] as const)('T-21: no other token is accepted as the one of %s', async (own, url) => {
  for (const type of others(own)) {
    const answer = await world.client().post(url, { token: values[type], password: testPassword });
    expect(['invalid_token', 'invalid_input'], type).toContain(answer.body.code);
  }
});

test('T-21: no other value is accepted as the first factor of support access', async () => {
  for (const type of others('supportState')) {
    const client = world.client();
    client.cookies.set('sign_in_state', values[type]);
    expectProblem(await client.get('/v1/support/callback?code=code&state=state'), 'provider_sign_in_failed', type);
  }
});

test.each(others('portal'))('T-21: a %s token is refused as the one of a link to the webhook portal', async (type) => {
  const headers = { 'webhook-portal-token': values[type] };
  expectProblem(await world.client().get('/v1/webhook-portal/endpoints', headers), 'unauthenticated');
});

test('T-21: a token of support access and one of an impersonation are not accepted as each other', async () => {
  for (const [type, typ] of [
    ['support', 'impersonation+jwt'],
    ['impersonation', 'support+jwt'],
  ] as const) {
    const [, payload = '', signature = ''] = values[type].split('.');
    const header = { ...decodeProtectedHeader(values[type]), typ };
    const client = world.client();
    client.bearer = [Buffer.from(JSON.stringify(header)).toString('base64url'), payload, signature].join('.');
    expectProblem(await client.get('/v1/tasks'), 'unauthenticated', type);
    const claims = decodeJwt(values[type]);
    client.bearer = await new SignJWT(claims)
      .setProtectedHeader(header as { alg: string })
      .sign(signingKeyOf(world).privateKey);
    expectProblem(await client.get('/v1/tasks'), 'unauthenticated', type);
    client.bearer = values[type];
    expect((await client.get('/v1/tasks')).status, type).toBe(200);
  }
});

test('T-21: each token is accepted in its own place', async () => {
  const client = world.client();
  client.cookies.set('access_token', values.access);
  client.cookies.set('session', values.session);
  client.cookies.set('csrf_token', values.csrf);
  const body = { token: values.confirmation, password: 'correct horse battery' };
  expect((await client.post('/v1/verify', body)).status).toBe(200);
  const joining = { email: 'invited@example.com', password: 'correct horse battery', invite_token: values.invite };
  expect((await client.post('/v1/register', joining)).status).toBe(201);
  expect((await client.graphql('{ self { id } }')).data.self).not.toBeNull();
  const headers = { 'webhook-portal-token': values.portal };
  expect((await world.client().get('/v1/webhook-portal/endpoints', headers)).status).toBe(200);
  expect((await client.post('/v1/subscribe/verify', { token: values.subscriber })).status).toBe(200);
  expect((await client.post('/v1/unsubscribe', { token: values.unsubscribe })).status).toBe(200);
  const answered = { challenge_token: values.challenge, code: await app.nextCode() };
  expect((await world.client().post('/v1/2fa/validate', answered)).status).toBe(200);
  world.clock.advance(46 * 60_000);
  const next = await world.client().post('/v1/refresh', { refresh_token: values.refresh });
  expect(next.status).toBe(200);
  for (const [url, token] of [
    ['/v1/account/reactivate', values.reactivation],
    ['/v1/account/email/confirm', values.emailChange],
  ] as const)
    expect((await world.client().post(url, { token, password: testPassword })).status, url).toBe(200);
  email = 'changed@example.com';
  // The link that was offered everywhere has expired by now.
  await client.post('/v1/forgot-password', { email });
  const reset = { token: await resetToken(world, email), password: 'another horse battery' };
  expect((await world.client().post('/v1/password-reset', reset)).status).toBe(200);
});
