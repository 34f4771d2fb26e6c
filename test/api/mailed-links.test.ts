import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectProblem } from '../kit/expect-problem.ts';
import { buildPerson, signedIn, testPassword } from '../kit/people.ts';
import type { TestClient } from '../kit/test-client.ts';
import {
  emailChangeToken,
  reactivationToken,
  resetToken,
  subscriberToken,
  unsubscribeToken,
  verificationToken,
} from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

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
  expectProblem(await check('reactivation', token), 'invalid_token');
  world.clock.advance(91 * day);
  expect((await statusOf('reactivation', lateToken)).status).toBe('expired');
});

test('a link that unsubscribes works again and again', async () => {
  const own = await signedIn(world, await buildPerson(world));
  const email = newEmail();
  await own.post('/v1/subscribers', { email });
  const token = await unsubscribeToken(world, email);
  expect(await statusOf('unsubscribe', token)).toEqual({ status: 'usable', email: null });
  expect((await client.post('/v1/unsubscribe', { token })).status).toBe(200);
  expect((await statusOf('unsubscribe', token)).status).toBe('usable');
});

test('what is no token of the purpose is refused, and says nothing', async () => {
  const { token } = await links['password-reset']!();
  expectProblem(await check('email-verification', token), 'invalid_token');
  expectProblem(await check('password-reset', `${token}x`), 'invalid_token');
  expectProblem(await check('password-reset', 'nothing'), 'invalid_token');
  expectProblem(await check('invite', token), 'invalid_input');
});
