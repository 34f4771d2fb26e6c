import { afterAll, beforeAll, expect, test } from 'vitest';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword } from '../../kit/people.ts';
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

let world: World;
let client: TestClient;
const day = 86_400_000;
const password = 'violet kettle marches north';

beforeAll(async () => {
  world = await openWorld();
  client = world.client();
});
afterAll(() => world.close());

const check = (purpose: string, token: string) => client.post('/v1/mailed-links/check', { purpose, token });

/** What the check says, twice: it changes nothing. */
async function statusOf(purpose: string, token: string): Promise<{ status: string; email: string | null }> {
  const [first, second] = [await check(purpose, token), await check(purpose, token)];
  expect(first.status, JSON.stringify(first.body)).toBe(200);
  expect(second.body).toEqual(first.body);
  return { status: first.body.status, email: first.body.email };
}

interface Link {
  readonly purpose: string;
  readonly email: string;
  readonly token: string;
  /** Uses the link. */
  readonly use: () => Promise<{ readonly status: number }>;
}

let count = 0;
const newEmail = (): string => `link-${count++}@example.com`;

const links: Readonly<Record<string, () => Promise<Link>>> = {
  'email-verification': async () => {
    const email = newEmail();
    await client.post('/v1/register', { email, password });
    const token = await verificationToken(world, email);
    return { purpose: 'email-verification', email, token, use: () => client.post('/v1/verify', { token, password }) };
  },
  'password-reset': async () => {
    const { email } = (await buildPerson(world)).user;
    await client.post('/v1/forgot-password', { email });
    const token = await resetToken(world, email);
    const use = () => client.post('/v1/password-reset', { token, password });
    return { purpose: 'password-reset', email, token, use };
  },
  'email-change': async () => {
    const own = await signedIn(world, await buildPerson(world));
    const email = newEmail();
    await own.post('/v1/account/email', { password: testPassword, new_email: email });
    const token = await emailChangeToken(world, email);
    const use = () => client.post('/v1/account/email/confirm', { token, password: testPassword });
    return { purpose: 'email-change', email, token, use };
  },
  'subscriber-verification': async () => {
    const own = await signedIn(world, await buildPerson(world));
    const email = newEmail();
    await own.post('/v1/subscribers', { email });
    const token = await subscriberToken(world, email);
    const use = () => client.post('/v1/subscribe/verify', { token });
    return { purpose: 'subscriber-verification', email, token, use };
  },
};

test.each(Object.keys(links))('a link for %s is usable, then used; another one expires', async (purpose) => {
  const link = await links[purpose]!();
  expect(await statusOf(purpose, link.token)).toEqual({ status: 'usable', email: link.email });
  expect((await link.use()).status).toBe(200);
  expect(await statusOf(purpose, link.token)).toEqual({ status: 'used', email: link.email });
  const late = await links[purpose]!();
  world.clock.advance(8 * day);
  expect(await statusOf(purpose, late.token)).toEqual({ status: 'expired', email: late.email });
});

test('the link of a deactivated account is usable until the account is active again, or 90 days have passed', async () => {
  const [person, late] = [await buildPerson(world), await buildPerson(world)];
  for (const one of [person, late])
    expect((await (await signedIn(world, one)).post('/v1/account/deactivate', { password: testPassword })).status).toBe(
      200,
    );
  const [token, lateToken] = [
    await reactivationToken(world, person.user.email),
    await reactivationToken(world, late.user.email),
  ];
  expect(await statusOf('reactivation', token)).toEqual({ status: 'usable', email: person.user.email });
  expect((await client.post('/v1/account/reactivate', { token, password: testPassword })).status).toBe(200);
  // The address may be another one now, so the link of then does not learn it.
  expect(await statusOf('reactivation', token)).toEqual({ status: 'used', email: null });
  const again = await client.post('/v1/account/reactivate', { token, password: testPassword });
  expectProblem(again, 'invalid_token');
  expect(
    (await (await signedIn(world, person)).post('/v1/account/deactivate', { password: testPassword })).status,
  ).toBe(200);
  expect(await statusOf('reactivation', token)).toEqual({ status: 'replaced', email: null });
  await asOwner(world, `update users set status = 'suspended' where id = $1`, [person.user.id]);
  expectProblem(await check('reactivation', token), 'invalid_token');
  world.clock.advance(91 * day);
  expect((await statusOf('reactivation', lateToken)).status).toBe('expired');
});

test('a link of an earlier e-mail stays usable until the address is confirmed', async () => {
  const { email, token } = await links['email-verification']!();
  world.clock.advance(61_000);
  expect((await client.post('/v1/resend', { email })).status).toBe(202);
  expect(await statusOf('email-verification', token)).toEqual({ status: 'usable', email });
  const newest = await verificationToken(world, email);
  expect((await client.post('/v1/verify', { token: newest, password })).status).toBe(200);
  expect((await statusOf('email-verification', token)).status).toBe('used');
});

test.each(['accept', 'decline'])('an invitation is usable, then used: %s', async (verb) => {
  const [owner, guest] = [await signedIn(world, await buildPerson(world)), await buildPerson(world)];
  const { email } = guest.user;
  const { id } = (await owner.post('/v1/invites', { recipient: email })).body;
  const first = await inviteToken(world, email);
  expect(await statusOf('invite', first)).toEqual({ status: 'usable', email });
  world.clock.advance(61_000);
  expect((await owner.post(`/v1/invites/${id}/resend`)).status).toBe(202);
  expect(await statusOf('invite', first)).toEqual({ status: 'replaced', email: null });
  const token = await inviteToken(world, email);
  const by = await signedIn(world, guest);
  expect((await by.post(`/v1/invite/${verb}`, { token })).status).toBe(200);
  expect(await statusOf('invite', token)).toEqual({ status: 'used', email });
  expect(await statusOf('invite', first)).toEqual({ status: 'used', email: null });
});

test('an invitation that is withdrawn is refused, and says nothing', async () => {
  const owner = await signedIn(world, await buildPerson(world));
  const recipient = newEmail();
  const { id } = (await owner.post('/v1/invites', { recipient })).body;
  const token = await inviteToken(world, recipient);
  expect((await owner.post(`/v1/invites/${id}/withdraw`)).status).toBe(200);
  expectProblem(await check('invite', token), 'invalid_token');
});

test('what is no token of the purpose is refused, and says nothing', async () => {
  const { token } = await links['password-reset']!();
  expectProblem(await check('email-verification', token), 'invalid_token');
  expectProblem(await check('password-reset', `${token}x`), 'invalid_token');
  expectProblem(await check('password-reset', 'nothing'), 'invalid_token');
  expectProblem(await check('invite', token), 'invalid_token');
  expectProblem(await check('unsubscribe', token), 'invalid_input');
  // A round that has not been reached yet.
  const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
  expectProblem(
    await check('password-reset', oneTimeToken(key, 'password-reset', token.split('.')[0]!, 2)),
    'invalid_token',
  );
});
