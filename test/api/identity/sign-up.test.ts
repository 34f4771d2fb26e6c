import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveKey } from '#entities/kit/base/secrets/keys.ts';
import { oneTimeToken } from '#entities/kit/base/secrets/one-time-token.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { deletePerson } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const minute = 60_000;
const day = 24 * 60 * minute;
const first = 'the first password';
const second = 'the second password';

let number = 0;
const newEmail = () => `someone-${++number}@example.com`;

const register = (email: string, password: string, more: object = {}) =>
  world.client().post('/v1/register', { email, password, ...more });
const resend = (email: string) => world.client().post('/v1/resend', { email });
const verify = (token: string, password = first) => world.client().post('/v1/verify', { token, password });
const verifyWithNew = (token: string, password: string) =>
  world.client().post('/v1/verify', { token, new_password: password });

async function signInStatus(username: string, password: string): Promise<number> {
  return (await world.client().post('/v1/login', { username, password })).status;
}

/** How many mails were asked for. */
async function mails(email: string): Promise<number> {
  const rows = await asOwner<{ count: number }>(
    world,
    'select count(*)::int as count from email_verifications where email = $1 and sent_at is not null',
    [email],
  );
  return rows[0]?.count ?? 0;
}

/** The names of the account, and how often it is there. */
const accounts = (email: string) =>
  asOwner(world, 'select first_name, display_name from users where email = $1', [email]);

test('names of white space are refused, for an address that has an account as for a new one', async () => {
  const email = newEmail();
  const blank = { first_name: ' ', last_name: '\t' };
  expectProblem(await register(email, first, blank), 'invalid_input');
  expect((await register(email, first)).status).toBe(202);
  await verify(await verificationToken(world, email));
  expect(await accounts(email)).toMatchObject([{ display_name: email }]);
  expectProblem(await register(email, second, blank), 'invalid_input');
});

describe('a link', () => {
  test('confirms the address once and gives the person an organization of their own', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Ada', last_name: 'Lovelace' });
    expect(await signInStatus(email, first)).toBe(401);
    const token = await verificationToken(world, email);
    expect((await verify(token)).body).toMatchObject({ email });
    expect(await signInStatus(email, first)).toBe(200);
    expectProblem(await verify(token), 'invalid_token');
    expect(
      await asOwner(
        world,
        `select o.display_name, o.is_personal, m.role from organizations o
         join memberships m on m.organization_id = o.id join users u on u.id = m.user_id where u.email = $1`,
        [email],
      ),
    ).toEqual([{ display_name: 'Ada Lovelace', is_personal: true, role: 'owner' }]);
  });

  test('works for seven days', async () => {
    const [early, late] = [newEmail(), newEmail()];
    await Promise.all([register(early, first), register(late, first)]);
    world.clock.advance(7 * day - 1);
    expect((await verify(await verificationToken(world, early))).status).toBe(200);
    world.clock.advance(1);
    expectProblem(await verify(await verificationToken(world, late)), 'token_expired');
    // Another one is asked for and works.
    await resend(late);
    expect((await verify(await verificationToken(world, late))).status).toBe(200);
  });

  test('works although a newer one was sent, until one of them is used', async () => {
    const [email, other] = [newEmail(), newEmail()];
    for (const [address, use] of [
      [email, 'older'],
      [other, 'newer'],
    ] as const) {
      await register(address, first);
      const older = await verificationToken(world, address);
      world.clock.advance(minute);
      await resend(address);
      const newer = await verificationToken(world, address);
      expect(newer).not.toBe(older);
      const [used, unused] = use === 'older' ? [older, newer] : [newer, older];
      expect((await verify(used)).status).toBe(200);
      expectProblem(await verify(unused), 'invalid_token');
    }
  });

  test('that was sent before an account was deleted does not bring it back', async () => {
    const email = newEmail();
    await register(email, first);
    const unused = await verificationToken(world, email);
    await register(email, first);
    await verify(await verificationToken(world, email));
    await deletePerson(world, email);
    expectProblem(await verify(unused), 'invalid_token');
  });

  test('confirms nothing without the password of its sign-up, or a new one', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Ada' });
    const token = await verificationToken(world, email);
    expectProblem(await verify(token, second), 'invalid_credentials');
    expectProblem(await world.client().post('/v1/verify', { token }), 'invalid_input');
    expectProblem(
      await world.client().post('/v1/verify', { token, password: first, new_password: first }),
      'invalid_input',
    );
    expectProblem(await verifyWithNew(token, 'password'), 'weak_password');
    expect(await accounts(email)).toEqual([]);
    expect((await verify(token)).status).toBe(200);
    expect(await accounts(email)).toEqual([{ first_name: 'Ada', display_name: 'Ada' }]);
  });

  test('takes fifty passwords within a quarter of an hour', async () => {
    const email = newEmail();
    await register(email, first);
    const token = await verificationToken(world, email);
    await asOwner(
      world,
      `insert into sign_in_failures (key, failures, first_failed_at, last_failed_at) values ($1, 49, $2, $2)`,
      [`email-verification:${token.split('.')[0]}`, world.clock.now()],
    );
    expectProblem(await verify(token, second), 'invalid_credentials');
    const { hashes, result } = await countHashes(() => verify(token));
    expectProblem(result, 'too_many_requests');
    expect(hashes).toBe(0);
    world.clock.advance(15 * minute);
    expect((await verify(token)).status).toBe(200);
  });
});

describe('asking for the mail again', () => {
  test('is heard once a minute', async () => {
    const email = newEmail();
    await register(email, first);
    expect(await mails(email)).toBe(1);
    world.clock.advance(minute - 1);
    await resend(email);
    expect(await mails(email)).toBe(1);
    world.clock.advance(1);
    await resend(email);
    await resend(email);
    expect(await mails(email)).toBe(2);
  });

  test('is possible a hundred times in a quarter of an hour from one network address', async () => {
    const client = world.client();
    client.address = '203.0.113.9';
    await asOwner(
      world,
      `insert into sign_in_failures (key, failures, first_failed_at, last_failed_at) values ('resend:203.0.113.9', 99, $1, $1)`,
      [world.clock.now()],
    );
    const body = { email: newEmail() };
    expect((await client.post('/v1/resend', body)).status).toBe(202);
    const refused = await client.post('/v1/resend', body);
    expectProblem(refused, 'too_many_requests');
    expect(refused.headers['retry-after']).toBe(String(15 * 60));
    expect(await asOwner(world, 'select 1 from email_verifications where email = $1', [body.email])).toHaveLength(1);
    client.address = '203.0.113.10';
    expect((await client.post('/v1/resend', body)).status).toBe(202);
  });

  test('mails nobody who has confirmed, and nobody who never signed up', async () => {
    const email = newEmail();
    await register(email, first);
    await verify(await verificationToken(world, email));
    world.clock.advance(minute);
    expect((await resend(email)).status).toBe(202);
    expect(await mails(email)).toBe(1);
    expect((await resend(newEmail())).status).toBe(202);
  });
});

describe('signing up again with an address that is not confirmed', () => {
  test('within the pause: a stranger was first, and the owner confirms with their own password all the same', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Mallory' });
    const mailed = await verificationToken(world, email);
    world.clock.advance(minute - 1);
    expect((await register(email, second, { first_name: 'Ada' })).status).toBe(202);
    expect(await mails(email)).toBe(1);
    // The link in the owner's mailbox is that of the stranger's sign-up; it does not confirm it.
    const refused = await verify(mailed, second);
    expectProblem(refused, 'invalid_credentials');
    expect(refused.body.detail).toContain('new_password');
    // After the pause the owner's sign-up can be mailed, and counts whole.
    world.clock.advance(1);
    await resend(email);
    expect(await mails(email)).toBe(2);
    expect((await verify(await verificationToken(world, email), second)).status).toBe(200);
    expect(await signInStatus(email, first)).toBe(401);
    expect(await signInStatus(email, second)).toBe(200);
    expect(await accounts(email)).toEqual([{ first_name: 'Ada', display_name: 'Ada' }]);
    expectProblem(await verify(mailed), 'invalid_token');
  });

  test('within the pause: the owner sets a password with the link of a stranger, and nothing of the stranger counts', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Mallory' });
    const mailed = await verificationToken(world, email);
    await register(email, second, { first_name: 'Ada' });
    const unmailed = await verificationToken(world, email);
    expect((await verifyWithNew(mailed, second)).status).toBe(200);
    expect(await signInStatus(email, first)).toBe(401);
    expect(await signInStatus(email, second)).toBe(200);
    expect(await accounts(email)).toEqual([{ first_name: null, display_name: email }]);
    expectProblem(await verify(unmailed, second), 'invalid_token');
  });

  test('after the pause: a stranger comes after the owner, whose link and password go on to work', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Ada' });
    const own = await verificationToken(world, email);
    world.clock.advance(minute);
    await register(email, second, { first_name: 'Mallory' });
    const strange = await verificationToken(world, email);
    expect(await mails(email)).toBe(2);
    // The newest link does not confirm the stranger's password for whoever does not know it.
    expectProblem(await verify(strange, first), 'invalid_credentials');
    expect((await verify(own, first)).status).toBe(200);
    expectProblem(await verify(strange, second), 'invalid_token');
    expect(await signInStatus(email, second)).toBe(401);
    expect(await signInStatus(email, first)).toBe(200);
    expect(await accounts(email)).toEqual([{ first_name: 'Ada', display_name: 'Ada' }]);
  });

  test('with one that is confirmed changes nothing at all', async () => {
    const email = newEmail();
    await register(email, first);
    await verify(await verificationToken(world, email));
    world.clock.advance(minute);
    expect((await register(email, second, { first_name: 'Mallory' })).status).toBe(202);
    expect(await signInStatus(email, second)).toBe(401);
    expect(await signInStatus(email, first)).toBe(200);
    // The second tells the owner about it.
    expect(await mails(email)).toBe(2);
    expectProblem(await verify(await verificationToken(world, email), second), 'invalid_token');
  });

  test('fifty times at once makes one mail, and one account when all of them are confirmed', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 50 }, () => register(email, first)));
    expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThan(30);
    // More than the server hashes for at once.
    for (const answer of answers.filter(({ status }) => status !== 202)) expectProblem(answer, 'overloaded');
    expect(await mails(email)).toBe(1);
    const rows = await asOwner<{ id: string; round: number }>(
      world,
      'select id, round from email_verifications where email = $1 limit 5',
      [email],
    );
    const key = deriveKey(world.config.current.sessions.signingkey, 'one-time-token');
    const tokens = rows.map(({ id, round }) => oneTimeToken(key, 'email-verification', id, round));
    const confirmed = await Promise.all(tokens.map((token) => verify(token)));
    expect(confirmed.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 400, 400, 400, 400]);
    expect(await accounts(email)).toHaveLength(1);
  });
});

test('an address is one address however it is written', async () => {
  const email = newEmail();
  await register(email.toUpperCase(), first);
  await verify(await verificationToken(world, email));
  expect(await signInStatus(email, first)).toBe(200);
  await register(email, second);
  expectProblem(await verify(await verificationToken(world, email), second), 'invalid_token');
  expect(await accounts(email)).toHaveLength(1);
});

test('what is no address is refused', async () => {
  for (const email of [
    'x',
    'x@',
    '@x',
    'a b@example.com',
    'a@b@c',
    `${'a'.repeat(250)}@example.com`,
    'a@exam ple.com',
    '"<script>"@example.com ',
    'a\u202e@example.com\r\nBcc: b@example.com',
  ])
    expectProblem(await register(email, first), 'invalid_input', email);
});

test('an address is no password, however long', async () => {
  expectProblem(
    await register('somebody.with.a.long.name@example.com', 'Somebody.with.a.long.name@example.com'),
    'weak_password',
  );
});
