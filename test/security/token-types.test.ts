import { afterAll, beforeAll, expect, test } from 'vitest';
import { enroll, type Authenticator } from '../kit/authenticator.ts';
import { buildPerson, signedIn, testPassword } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import {
  emailChangeToken,
  inviteToken,
  reactivationToken,
  resetToken,
  verificationToken,
} from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-21: values that we hand out are of a type; none is accepted in the place of another.

let world: World;
let email: string;
/** Of somebody with a second factor. */
let app: Authenticator;
/** One valid value of every type. */
let values: Record<
  | 'access'
  | 'refresh'
  | 'session'
  | 'csrf'
  | 'confirmation'
  | 'reset'
  | 'emailChange'
  | 'reactivation'
  | 'challenge'
  | 'invite',
  string
>;

beforeAll(async () => {
  world = await openWorld();
  const person = await buildPerson(world);
  email = person.user.email;
  const client = await signedIn(world, person);
  await client.post('/v1/forgot-password', { email });
  await client.post('/v1/invites', { recipient: 'invited@example.com' });
  await client.post('/v1/register', { email: 'typed@example.com', password: 'correct horse battery' });
  await client.post('/v1/account/email', { password: testPassword, new_email: 'changed@example.com' });
  const gone = await buildPerson(world);
  await (await signedIn(world, gone)).post('/v1/account/deactivate', { password: testPassword });
  values = {
    access: client.cookies.get('access_token') ?? '',
    refresh: client.cookies.get('refresh_token') ?? '',
    session: client.cookies.get('session') ?? '',
    csrf: client.cookies.get('csrf_token') ?? '',
    confirmation: await verificationToken(world, 'typed@example.com'),
    reset: await resetToken(world, email),
    invite: await inviteToken(world, 'invited@example.com'),
    challenge: await challengeToken(),
    emailChange: await emailChangeToken(world, 'changed@example.com'),
    reactivation: await reactivationToken(world, gone.user.email),
  };
});
afterAll(() => world.close());

async function challengeToken(): Promise<string> {
  const careful = await buildPerson(world);
  ({ app } = await enroll(world, await signedIn(world, careful)));
  const credentials = { username: careful.user.email, password: testPassword };
  return (await world.client().post('/v1/login', credentials)).body.challenge_token;
}

type TokenType = keyof typeof values;
const others = (own: TokenType) =>
  (
    [
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
    ] as const
  ).filter((type) => type !== own);

test.each(others('access'))('T-21: a %s token is refused as an access token', async (type) => {
  const client = world.client();
  client.bearer = values[type];
  expectProblem(await client.graphql('{ self { id } }'), 'unauthenticated');
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
