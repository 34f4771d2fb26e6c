import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { externalIdentity, organization, session, user } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem, messageOf } from '../../kit/expect-problem.ts';
import { mailsTo, tokenIn, unfolded, waitForMails } from '../../kit/mailbox.ts';
import {
  newPasskey,
  passkeyEnvironment,
  passkeyOrigin,
  registerPasskey,
  signInByPasskey,
} from '../../kit/identity/register-passkey.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { SoftwareAuthenticator } from '../../kit/identity/software-authenticator.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { resetToken } from '../../kit/identity/verification-token.ts';
import { whileLocked } from '../../kit/records/while-locked.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

const newPassword = 'tangerine umbrella sidewalk';
const minute = 60_000;

beforeAll(async () => {
  world = await openWorld({
    worker: true,
    environment: {
      ...passkeyEnvironment,
      CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true',
      CORE_API_TOKEN_KEY_FIRST: 'f'.repeat(40),
    },
  });
});
afterAll(() => world.close());

const forget = (email: string) => world.client().post('/v1/forgot-password', { email });
const reset = (token: string, password = newPassword) => world.client().post('/v1/password-reset', { token, password });

async function canSignIn({ user: { email } }: Person, password: string): Promise<boolean> {
  return (await world.client().post('/v1/login', { username: email, password })).status === 200;
}

async function isSignedIn(client: TestClient): Promise<boolean> {
  return (await client.graphql('{ self { id } }')).data?.self != null;
}

/** The token of the only mail. */
async function mailedToken(email: string): Promise<string> {
  const [mail = ''] = await waitForMails(world, email);
  return tokenIn(mail);
}

describe('a forgotten password', () => {
  test('is replaced with the mailed link: all devices are signed out, and a mail tells it', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const device = await signedIn(world, person);
    expect((await forget(email.toUpperCase())).status).toBe(202);
    const token = await mailedToken(email);
    expect(await canSignIn(person, testPassword)).toBe(true);
    expect((await reset(token)).status).toBe(200);
    expect(await isSignedIn(device)).toBe(false);
    expect(await canSignIn(person, testPassword)).toBe(false);
    expect(await canSignIn(person, newPassword)).toBe(true);
    expect((await waitForMails(world, email, 2)).join('\n')).toContain('Your password was changed');
    expectProblem(await reset(token), 'invalid_token');
  });

  test('T-02: ends passkeys, linked identities and personal tokens, which a stranger may have added; one mail says so', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const client = await signedIn(world, person);
    const authenticator = await newPasskey(client);
    const made = await client.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] });
    const program = world.client();
    program.bearer = made.body.token;
    const identity = await asSystem(world, person.organization.id, (data) =>
      data.create(externalIdentity, {
        userId: person.user.id,
        provider: 'identity',
        realm: 'identity',
        issuer: 'https://provider.example',
        subject: newId(),
        email,
      }),
    );
    const left = () =>
      asOwner(world, 'select 1 from external_identities where id = $1 and deleted_at is null', [identity.id]);
    const change = { password: testPassword, new_password: `${newPassword} once` };
    expect((await client.post('/v1/change-password', change)).status).toBe(200);
    expect((await program.get('/v1/tasks')).status).toBe(200);
    expect((await signInByPasskey(world.client(), authenticator)).status).toBe(200);
    expect(await left()).toHaveLength(1);

    await forget(email);
    // In a browser where somebody else is signed in.
    const stranger = await buildPerson(world);
    const theirs = await signedIn(world, stranger);
    const token = await resetToken(world, email);
    expect((await theirs.post('/v1/password-reset', { token, password: newPassword })).status).toBe(200);
    expectProblem(await program.get('/v1/tasks'), 'unauthenticated');
    expectProblem(await signInByPasskey(world.client(), authenticator), 'invalid_credentials');
    expect(await left()).toEqual([]);
    // Deliveries are settled when the mails are queued, not when they are there.
    await eventually(() => isSettled(world));
    await eventually(async () => (await mailsTo(world, email)).some((mail) => mail.includes('linked identities')));
    const mails = await mailsTo(world, email);
    expect(mails.filter((mail) => mail.includes('linked identities'))).toHaveLength(1);
    expect(mails.filter((mail) => mail.includes('A passkey was removed'))).toEqual([]);
    expect(await mailsTo(world, stranger.user.email)).toEqual([]);
  });

  test('T-02: a session that it ends adds nothing that has waited for it', async () => {
    const person = await buildPerson(world);
    const userId = person.user.id;
    const attempts: readonly ((client: TestClient) => Promise<TestAnswer>)[] = [
      (client) => client.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['task:read'] }),
      (client) => client.post('/v1/2fa/setup'),
      (client) => registerPasskey(client, new SoftwareAuthenticator(passkeyOrigin)),
    ];
    for (const attempt of attempts) {
      const client = await signedIn(world, person);
      const answer = await whileLocked(
        world,
        [user, userId],
        () => attempt(client),
        async (data) => {
          const held = await data.find(session, { where: { userId: { eq: userId } }, limit: 100 });
          const ids = held.map(({ id }) => id);
          await data.removeAll(session, ids);
        },
      );
      expectProblem(answer, 'unauthenticated', String(attempt));
    }
  });

  test('one new password makes all other links of the address useless', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    await forget(email);
    const first = await mailedToken(email);
    world.clock.advance(minute);
    await forget(email);
    const tokens = (await waitForMails(world, email, 2)).map(tokenIn);
    const second = tokens.find((token) => token !== first) ?? '';
    expect((await reset(first)).status).toBe(200);
    expectProblem(await reset(second), 'invalid_token');
  });

  test('a link works for a quarter of an hour', async () => {
    const person = await buildPerson(world);
    await forget(person.user.email);
    const token = await mailedToken(person.user.email);
    world.clock.advance(15 * minute - 1_000);
    expectProblem(await reset(token, 'short'), 'weak_password');
    world.clock.advance(1_000);
    expectProblem(await reset(token), 'token_expired');
    expect(await canSignIn(person, testPassword)).toBe(true);
  });

  test('causes one mail in a minute, and none for an address without a usable account', async () => {
    const person = await buildPerson(world);
    const suspended = await buildPerson(world);
    await asSystem(world, suspended.organization.id, (data) =>
      data.update(user, suspended.user.id, { status: 'suspended' }),
    );
    const waiting = await buildPerson(world, { isConfirmed: false });
    const silent = ['nobody@example.com', suspended.user.email, waiting.user.email];
    for (const email of [...silent, person.user.email, person.user.email])
      expect((await forget(email)).status).toBe(202);
    await waitForMails(world, person.user.email);
    await eventually(() => isSettled(world));
    world.clock.advance(minute);
    await forget(person.user.email);
    expect(await waitForMails(world, person.user.email, 2)).toHaveLength(2);
    for (const email of silent) expect(await mailsTo(world, email), email).toEqual([]);
  });

  test('a hundred requests from one address in a quarter of an hour are enough', async () => {
    const client = world.client();
    client.address = '203.0.113.200';
    await client.get('/livez');
    await asOwner(
      world,
      `insert into sign_in_failures (key, failures, first_failed_at, last_failed_at) values ($1, 100, $2, $2)`,
      [`forgot-password:${client.address}`, world.clock.now()],
    );
    expectProblem(await client.post('/v1/forgot-password', { email: 'nobody@example.com' }), 'too_many_requests');
  });

  test('a link of somebody who was deactivated meanwhile does nothing', async () => {
    const person = await buildPerson(world);
    await forget(person.user.email);
    const token = await mailedToken(person.user.email);
    await asSystem(world, person.organization.id, (data) =>
      data.update(user, person.user.id, { status: 'deactivated' }),
    );
    expectProblem(await reset(token), 'invalid_token');
  });

  test('T-03: a link used fifty times in parallel, in two processes, sets one password', async () => {
    const slow = { environment: { CORE_SERVER_WRITETIMEOUT: '600000' } };
    const person = await buildPerson(world);
    await forget(person.user.email);
    const token = await mailedToken(person.user.email);
    const [one, other] = [(await world.openInstance(slow)).client(), (await world.openInstance(slow)).client()];
    await Promise.all([one, other].map((client) => client.get('/livez')));
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        (index % 2 === 0 ? one : other).post('/v1/password-reset', { token, password: `${newPassword} ${index}` }),
      ),
    );
    const succeeded = answers.flatMap(({ status }, index) => (status === 200 ? [index] : []));
    expect(succeeded).toHaveLength(1);
    for (const answer of answers) if (answer.status !== 200) expectProblem(answer, 'invalid_token');
    expect(await canSignIn(person, `${newPassword} ${succeeded[0]}`)).toBe(true);
  });

  test('a sign-in with the old password at the same time does not outlive it', async () => {
    for (let round = 0; round < 8; round++) {
      const person = await buildPerson(world);
      const { email } = person.user;
      await forget(email);
      const token = await resetToken(world, email);
      const [answer, signedInWith] = await Promise.all([
        reset(token),
        world.client().post('/v1/login', { username: email, password: testPassword }),
      ]);
      expect(answer.status, `round ${round}`).toBe(200);
      const bearer = world.client();
      bearer.bearer = signedInWith.body.access_token;
      if (signedInWith.status === 200) expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated');
      expect(await canSignIn(person, testPassword)).toBe(false);
      expect(await canSignIn(person, newPassword)).toBe(true);
    }
  });

  test('a reset opens an account that failed sign-ins have locked', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    for (let attempt = 0; attempt < 11; attempt++) await canSignIn(person, 'wrong');
    expect(await canSignIn(person, testPassword)).toBe(false);
    await forget(email);
    expect((await reset(await resetToken(world, email))).status).toBe(200);
    expect(await canSignIn(person, newPassword)).toBe(true);
  });

  test('a changed password makes mailed links useless', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const client = await signedIn(world, person);
    await forget(email);
    const body = { password: testPassword, new_password: newPassword };
    expect((await client.post('/v1/change-password', body)).status).toBe(200);
    expectProblem(await reset(await resetToken(world, email), `${newPassword} again`), 'invalid_token');
  });
});

describe('a changed password', () => {
  const change = (client: TestClient, password: unknown, next: unknown): Promise<TestAnswer> =>
    client.post('/v1/change-password', { password, new_password: next });

  test('needs the current one, keeps this device signed in and signs out all others', async () => {
    const person = await buildPerson(world);
    const [own, other] = [await signedIn(world, person), await signedIn(world, person)];
    expectProblem(await change(own, 'wrong', newPassword), 'invalid_credentials');
    expect((await change(own, testPassword, newPassword)).status).toBe(200);
    expect(await isSignedIn(own)).toBe(true);
    expect(await isSignedIn(other)).toBe(false);
    expect(await canSignIn(person, newPassword)).toBe(true);
    expect(await canSignIn(person, testPassword)).toBe(false);
    expect((await waitForMails(world, person.user.email))[0]).toContain('Your password was changed');
  });

  test('is judged like the first one, and is another one', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    for (const weak of ['short', 'password']) {
      const refused = await change(client, testPassword, weak);
      expectProblem(refused, 'weak_password');
      expect(messageOf(refused), weak).toContain('Use several unrelated words');
    }
    await asSystem(world, person.organization.id, (data) =>
      data.update(organization, person.organization.id, { displayName: 'Aurelia Lighthouse Works' }),
    );
    for (const personal of [person.user.email, 'Aurelia Lighthouse Works', 'aurelialighthouse1', 'lighthouse-works'])
      expectProblem(await change(client, testPassword, personal), 'weak_password', personal);
    expectProblem(await change(client, testPassword, testPassword), 'weak_password');
    for (const value of ['', null, [], {}, 7, 'x'.repeat(1_025)]) {
      expectProblem(await change(client, value, newPassword), 'invalid_input');
      expectProblem(await change(client, testPassword, value), 'invalid_input');
    }
    const misnamed = await client.post('/v1/change-password', {
      old_password: testPassword,
      new_password: newPassword,
    });
    const message = 'is not a known field; did you mean "password"?';
    expect(misnamed.body.errors).toContainEqual({ path: '/old_password', message });
    expectProblem(await change(world.client(), testPassword, newPassword), 'unauthenticated');
    expect(await canSignIn(person, testPassword)).toBe(true);
  });

  test('waits after ten wrong passwords, before anything is compared', async () => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    for (let attempt = 0; attempt < 10; attempt++)
      expectProblem(await change(client, 'wrong', newPassword), 'invalid_credentials', `attempt ${attempt}`);
    const { hashes, result } = await countHashes(() => change(client, testPassword, newPassword));
    expectProblem(result, 'too_many_requests');
    expect(hashes).toBe(0);
    world.clock.advance(15 * minute);
    // Right passwords are no failures, whatever becomes of the new one.
    for (let attempt = 0; attempt < 11; attempt++)
      expectProblem(await change(client, testPassword, 'short'), 'weak_password');
    expect((await change(client, testPassword, newPassword)).status).toBe(200);
  });
});

describe('a sign-in', () => {
  test('on a device that is not known is mailed, once a day for each program and address, after the first hour', async () => {
    const person = await buildPerson(world);
    const { email } = person.user;
    const signInWith = async (userAgent: string, client = world.client()) => {
      const body = { username: email, password: testPassword };
      // The CSRF token of an earlier session counts no longer once its access token has expired.
      await client.get('/livez');
      expect((await client.post('/v1/login', body, { 'user-agent': userAgent })).status).toBe(200);
      return client;
    };
    const browser = await signInWith('Browser/1');
    world.clock.advance(61 * minute);
    await signInWith('Browser/1', browser);
    await signInWith('Script/2 (http://evil.example)');
    await signInWith('Script/2 (http://evil.example)');
    const elsewhere = world.client();
    elsewhere.address = '198.51.100.9';
    await signInWith('Script/2', elsewhere);
    const mails = await waitForMails(world, email, 2);
    await eventually(() => isSettled(world));
    expect(await mailsTo(world, email)).toHaveLength(2);
    for (const mail of mails) expect(unfolded(mail)).toContain('Device: Script/2. Network address:');
    expect(mails.join('\n')).toContain('198.51.100.9');
    expect(mails.join('\n')).not.toContain('evil');
  });
});
