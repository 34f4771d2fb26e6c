import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client } from 'pg';
import { asOwner } from '../kit/as-owner.ts';
import { eventually } from '../kit/eventually.ts';
import { deletePerson } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { verificationToken } from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

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
const verify = (token: string) => world.client().post('/v1/verify', { token });

async function signInStatus(username: string, password: string): Promise<number> {
  return (await world.client().post('/v1/login', { username, password })).status;
}

/** How many mails were asked for. */
async function mails(email: string): Promise<number> {
  const rows = await asOwner<{ count: number }>(
    world,
    `select count(*)::int as count from events e join email_verifications v on v.id = e.entity_id
     where v.email = $1 and topic = 'email_verification.requested'`,
    [email],
  );
  return rows[0]?.count ?? 0;
}

test('names of white space are none, for an address that has an account as for a new one', async () => {
  const email = newEmail();
  const blank = { first_name: ' ', last_name: '\t' };
  expect((await register(email, first, blank)).status).toBe(202);
  expect(await asOwner(world, 'select display_name as name from users where email = $1', [email])).toEqual([
    { name: email },
  ]);
  await verify(await verificationToken(world, email));
  expect((await register(email, second, blank)).status).toBe(202);
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

  test('is dead as soon as a newer one was sent', async () => {
    const email = newEmail();
    await register(email, first);
    const older = await verificationToken(world, email);
    world.clock.advance(minute);
    await resend(email);
    const newer = await verificationToken(world, email);
    expect(newer).not.toBe(older);
    expectProblem(await verify(older), 'invalid_token');
    expect((await verify(newer)).status).toBe(200);
  });

  test('of a person who was deleted since confirms nothing', async () => {
    const email = newEmail();
    await register(email, first);
    const token = await verificationToken(world, email);
    await deletePerson(world, email);
    expectProblem(await verify(token), 'invalid_token');
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
  test('counts whole after the pause: the newer password and only the newer link', async () => {
    const email = newEmail();
    await register(email, first, { first_name: 'Mallory' });
    const older = await verificationToken(world, email);
    world.clock.advance(minute);
    await register(email, second, { first_name: 'Ada' });
    expectProblem(await verify(older), 'invalid_token');
    expect((await verify(await verificationToken(world, email))).status).toBe(200);
    expect(await signInStatus(email, first)).toBe(401);
    expect(await signInStatus(email, second)).toBe(200);
    expect(await asOwner(world, 'select first_name, last_name from users where email = $1', [email])).toEqual([
      { first_name: 'Ada', last_name: null },
    ]);
  });

  test('within the pause changes nothing: no link could tell the two apart', async () => {
    const email = newEmail();
    await register(email, first);
    world.clock.advance(minute - 1);
    expect((await register(email, second)).status).toBe(202);
    expect(await mails(email)).toBe(1);
    expect((await verify(await verificationToken(world, email))).status).toBe(200);
    expect(await signInStatus(email, second)).toBe(401);
    expect(await signInStatus(email, first)).toBe(200);
  });

  test('with one that is confirmed changes nothing at all', async () => {
    const email = newEmail();
    await register(email, first);
    await verify(await verificationToken(world, email));
    world.clock.advance(minute);
    expect((await register(email, second, { first_name: 'Mallory' })).status).toBe(202);
    expect(await signInStatus(email, second)).toBe(401);
    expect(await signInStatus(email, first)).toBe(200);
    expect(await mails(email)).toBe(1);
  });

  test('fifty times at once makes one account and one mail', async () => {
    const email = newEmail();
    const answers = await Promise.all(Array.from({ length: 50 }, (_, count) => register(email, `${first} ${count}`)));
    expect(answers.filter(({ status }) => status === 202).length).toBeGreaterThan(30);
    // More than the server hashes for at once.
    for (const answer of answers.filter(({ status }) => status !== 202)) expectProblem(answer, 'overloaded');
    expect(await mails(email)).toBe(1);
    expect(await asOwner(world, 'select count(*)::int as count from users where email = $1', [email])).toEqual([
      { count: 1 },
    ]);
  });
});

test('an address is one address however it is written', async () => {
  const email = newEmail();
  await register(email.toUpperCase(), first);
  expect((await register(email, second)).status).toBe(202);
  expect(await asOwner(world, 'select count(*)::int as count from users where email = $1', [email])).toEqual([
    { count: 1 },
  ]);
});

test('what is no address is refused', async () => {
  for (const email of [
    'x',
    'x@',
    '@x',
    'a b@example.com',
    'a@b@c',
    'a@example.com\n',
    `${'a'.repeat(250)}@example.com`,
    'a@exam ple.com',
    '"<script>"@example.com ',
    'a\u202e@example.com\r\nBcc: b@example.com',
  ])
    expectProblem(await register(email, first), 'invalid_input', email);
});

test('a sign-up beside the confirmation never puts its password on the confirmed account', async () => {
  const email = newEmail();
  await register(email, first);
  const token = await verificationToken(world, email);
  world.clock.advance(2 * minute);
  const holder = new Client({ connectionString: world.databaseUrl });
  await holder.connect();
  await holder.query('begin');
  await holder.query('select 1 from users where email = $1 for update', [email]);
  // It has seen an account that is not confirmed, and waits to change it.
  const signUp = register(email, second);
  const waiting = async (count: number) =>
    (
      await asOwner(world, `select 1 from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`, [
        world.name,
      ])
    ).length === count;
  await eventually(() => waiting(1));
  const confirmation = verify(token);
  await eventually(() => waiting(2));
  await holder.query('rollback');
  await holder.end();
  expect((await signUp).status).toBe(202);
  expectProblem(await confirmation, 'invalid_token');
  expect(await signInStatus(email, second)).toBe(401);
});

test('an address is no password, however long', async () => {
  expectProblem(
    await register('somebody.with.a.long.name@example.com', 'Somebody.with.a.long.name@example.com'),
    'weak_password',
  );
});
