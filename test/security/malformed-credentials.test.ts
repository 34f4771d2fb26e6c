import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { forgedToken } from '../kit/identity/access-tokens.ts';
import { asOwner } from '../kit/as-owner.ts';
import { countHashes } from '../kit/identity/count-hashes.ts';
import { buildPerson, testPassword, type Person } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-06: a credential that is empty, absent or of another type is refused by its shape; it never signs anybody in.

let world: World;
let person: Person;
/** An access token of the person. */
let session: string;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
  person = await buildPerson(world);
  session = await forgedToken(world, person);
});
afterAll(() => world.close());

const values: [string, unknown][] = [
  ['absent', undefined],
  ['empty', ''],
  ['null', null],
  ['a number', 0],
  ['true', true],
  ['an empty list', []],
  ['a list with the right value', ['RIGHT']],
  ['an empty object', {}],
  ['an object with the right value', { value: 'RIGHT' }],
  ['an operator', { $ne: null }],
  ['another operator', { like: '%' }],
  ['a megabyte', 'x'.repeat(1_000_000)],
];

/** The value with the right one in its place. */
function filled(value: unknown, right: string): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value).replace('RIGHT', right));
}

const mailed = { token: `${newId()}.${'x'.repeat(43)}`, password: 'correct horse battery' };

describe.each<[url: string, field: string, right: () => object, isSignedIn?: true]>([
  ['/v1/login', 'username', () => ({ username: person.user.email, password: testPassword })],
  ['/v1/login', 'password', () => ({ username: person.user.email, password: testPassword })],
  ['/v1/register', 'email', () => ({ email: 'new@example.com', password: testPassword })],
  ['/v1/register', 'password', () => ({ email: 'new@example.com', password: testPassword })],
  ['/v1/register', 'invite_token', () => ({ email: 'new@example.com', password: testPassword, invite_token: 'x.y' })],
  ['/v1/resend', 'email', () => ({ email: 'new@example.com' })],
  ['/v1/verify', 'token', () => mailed],
  ['/v1/verify', 'password', () => mailed],
  ['/v1/verify', 'new_password', () => ({ token: mailed.token, new_password: mailed.password })],
  ['/v1/forgot-password', 'email', () => ({ email: person.user.email })],
  ['/v1/password-reset', 'token', () => mailed],
  ['/v1/password-reset', 'password', () => mailed],
  ['/v1/2fa/validate', 'challenge_token', () => ({ challenge_token: 'x'.repeat(60), code: '123456' })],
  ['/v1/2fa/step-up', 'password', () => ({ password: testPassword }), true],
  ['/v1/account/email/confirm', 'token', () => mailed],
  ['/v1/account/email/confirm', 'password', () => mailed],
  ['/v1/account/reactivate', 'token', () => mailed],
  ['/v1/account/reactivate', 'password', () => mailed],
  ['/v1/account/deactivate', 'password', () => ({ password: testPassword }), true],
])('T-06: %s refuses a malformed %s', (url, field, right, isSignedIn) => {
  // Signing up needs no invitation.
  const tried = values.filter(([about]) => field !== 'invite_token' || about !== 'absent');
  test.each(tried)('%s', async (_about, value) => {
    const body: Record<string, unknown> = { ...right() };
    body[field] = filled(value, String(body[field]));
    const client = world.client();
    client.bearer = isSignedIn && session;
    const { hashes, result } = await countHashes(() => client.post(url, body));
    expectProblem(result, result.status === 413 ? 'body_too_large' : 'invalid_input');
    expect(result.headers['set-cookie']).toBeUndefined();
    expect(client.cookies.has('access_token')).toBe(false);
    expect(hashes).toBe(0);
  });
});

test('T-06: no malformed credential counted as an attempt or as a sign-up', async () => {
  expect(await asOwner(world, 'select key from sign_in_failures')).toEqual([]);
  expect(await asOwner(world, `select 1 from email_verifications where email = 'new@example.com'`)).toEqual([]);
});

test.each([
  ['/v1/verify', mailed, 'POST /v1/resend'],
  ['/v1/password-reset', mailed, 'POST /v1/forgot-password'],
  ['/v1/account/email/confirm', mailed, 'POST /v1/account/email'],
  ['/v1/account/reactivate', mailed, 'POST /v1/resend'],
  ['/v1/invite/decline', { token: mailed.token }, 'ask a manager'],
])('T-06: a link that is none is refused by %s with the way to another one', async (url, body, remedy) => {
  for (const token of [mailed.token, 'x'.repeat(60)]) {
    const answer = await world.client().post(url, { ...body, token });
    expectProblem(answer, 'invalid_token');
    expect(answer.body.detail).toContain(remedy);
  }
});

test('T-06: an account without a password accepts no password', async () => {
  const passwordless = await buildPerson(world);
  await asOwner(world, 'update users set password_hash = null where id = $1', [passwordless.user.id]);
  for (const password of [' ', 'null', '$argon2id$', testPassword]) {
    const answer = await world.client().post('/v1/login', { username: passwordless.user.email, password });
    expectProblem(answer, 'invalid_credentials', password);
  }
});

test('T-06: the stored hash is not accepted as a password', async () => {
  const [row] = await asOwner<{ hash: string }>(world, 'select password_hash as hash from users where id = $1', [
    person.user.id,
  ]);
  const answer = await world.client().post('/v1/login', { username: person.user.email, password: row?.hash });
  expectProblem(answer, 'invalid_credentials');
});

test('T-06: no malformed Authorization header is anybody, and none is an error of ours', async () => {
  const id = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  for (const token of [
    'core_',
    'pat_',
    'core__',
    `core_${id}`,
    `core_${id}_`,
    `core_${id}_null`,
    `pat_${id}_undefined`,
    `pat_${id.toLowerCase()}_x`,
    `core_${'8'.repeat(26)}_x`,
    `core_${id}_${'x'.repeat(4_000)}`,
    `core_[]_{}`,
    'null',
    'undefined',
  ])
    for (const header of [`Bearer ${token}`, `bearer ${token}`, `Bearer  ${token} `, token, `Basic ${token}`, 'Bearer'])
      for (const url of ['/v1/tasks', '/v1/logout', '/graphql?query={self{id}}']) {
        const method = url === '/v1/logout' ? 'POST' : 'GET';
        const answer = await world.client().request({ method, url, headers: { authorization: header } });
        expectProblem(answer, 'unauthenticated', `${url} ${header}`);
      }
});
