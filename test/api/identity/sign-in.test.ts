import { argon2Sync, randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { HashQueue, type HashPurpose } from '#api/auth/hash-queue.ts';
import { hashPassword, verifyPassword } from '#api/auth/password.ts';
import { checkStrength, maxJudgedLength } from '#api/auth/password-strength.ts';
import { membership, user } from '#entities/index.ts';
import type { AppError } from '#entities/kit/base/errors.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson, signedIn, testPassword, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { hashPasswordsAs } from '../../kit/identity/password-hashing.ts';
import { verificationToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

/** For the tests of a block that are about the hashes of the product, or need the time that one takes. */
function hashAsTheProductDoes(): void {
  beforeAll(() => hashPasswordsAs('production'));
  afterAll(() => hashPasswordsAs('minimal'));
}

async function signUp(email: string, password: string) {
  const client = world.client();
  expect((await client.post('/v1/register', { email, password })).status).toBe(202);
  const token = await verificationToken(world, email);
  expect((await client.post('/v1/verify', { token, password })).status).toBe(200);
}

async function membershipOf(person: Person): Promise<string> {
  const [row] = await asOwner<{ id: string }>(world, 'select id from memberships where user_id = $1', [person.user.id]);
  return row?.id ?? '';
}

async function removeAsSystem(module: EntityModule, id: string): Promise<void> {
  const { database } = world.runtime;
  await database.transact({ caller: systemCaller('test'), requestId: 'remove' }, ({ data }) => data.remove(module, id));
}

async function signInStatus(username: string, password: string): Promise<number> {
  return (await world.client().post('/v1/login', { username, password })).status;
}

function randomDigits(count: number, digits: string): string {
  return Array.from({ length: count }, () => digits[randomInt(digits.length)]).join('');
}

describe('a successful sign-in', () => {
  hashAsTheProductDoes();

  test('answers with a token that works as bearer and as cookie', async () => {
    const person = await buildPerson(world);
    const client = world.client();
    const answer = await client.post('/v1/login', { username: person.user.email, password: testPassword });
    expect(answer.body).toEqual({
      access_token: client.cookies.get('access_token'),
      token_type: 'Bearer',
      expires_in: 3_600,
      session_id: expect.any(String),
      refresh_token: client.cookies.get('refresh_token'),
      refresh_not_before: new Date(world.clock.now().getTime() + 45 * 60_000).toISOString(),
      refresh_expires_in: 7_200,
      user_id: person.user.id,
      organization_id: person.organization.id,
    });
    expect((await client.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
    const bearer = world.client();
    bearer.bearer = answer.body.access_token;
    expect((await bearer.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
  });

  test('takes the address in any case and with spaces around it', async () => {
    const person = await buildPerson(world);
    expect(await signInStatus(`  ${person.user.email.toUpperCase()} `, testPassword)).toBe(200);
  });

  test('acts in the oldest membership, or in none', async () => {
    const { organization } = await buildPerson(world);
    const person = await buildPerson(world, { organization, role: 'member' });
    await removeAsSystem(membership, await membershipOf(person));
    const answer = await world.client().post('/v1/login', { username: person.user.email, password: testPassword });
    expect(answer.body).toMatchObject({ organization_id: null });
  });

  test('replaces a hash made with outdated parameters, computed outside of the transaction', async () => {
    const person = await buildPerson(world);
    const [nonce, passes] = [Buffer.from('0123456789abcdef'), 1];
    const tag = argon2Sync('argon2id', {
      message: testPassword,
      nonce,
      memory: 8_192,
      passes,
      parallelism: 1,
      tagLength: 32,
    });
    const encode = (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '');
    const outdated = `$argon2id$v=19$m=8192,t=1,p=1$${encode(nonce)}$${encode(tag)}`;
    await asOwner(world, 'update users set password_hash = $2 where id = $1', [person.user.id, outdated]);

    const { hashes, result } = await countHashes(() => signInStatus(person.user.email, testPassword));
    expect({ hashes, result }).toEqual({ hashes: 2, result: 200 });
    const [row] = await asOwner<{ password_hash: string }>(world, 'select password_hash from users where id = $1', [
      person.user.id,
    ]);
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    const again = await countHashes(() => signInStatus(person.user.email, testPassword));
    expect(again).toEqual({ hashes: 1, result: 200 });
    expect(await signInStatus(person.user.email, 'wrong')).toBe(401);
  });

  test('is refused when the password changes while it is being checked', async () => {
    const person = await buildPerson(world);
    const client = world.client();
    await client.get('/livez');
    const attempt = client.post('/v1/login', { username: person.user.email, password: testPassword });
    const [answer] = await Promise.all([
      attempt,
      world.runtime.database.transact({ caller: systemCaller('test'), requestId: 'change' }, async ({ data }) => {
        await data.update(user, person.user.id, {
          passwordHash: `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
        });
      }),
    ]);
    expectProblem(answer, 'invalid_credentials');
  });
});

describe('a password', () => {
  test('is never trimmed', async () => {
    await signUp('spaces@example.com', '  correct horse  ');
    expect(await signInStatus('spaces@example.com', 'correct horse')).toBe(401);
    expect(await signInStatus('spaces@example.com', '  correct horse')).toBe(401);
    expect(await signInStatus('spaces@example.com', '  correct horse  ')).toBe(200);
  });

  test('is the same however its characters are composed', async () => {
    await signUp('unicode@example.com', 'Zürich-Amélie-ångström'.normalize('NFD'));
    expect(await signInStatus('unicode@example.com', 'Zürich-Amélie-ångström'.normalize('NFC'))).toBe(200);
    expect(await signInStatus('unicode@example.com', 'Zurich-Amelie-angstrom')).toBe(401);
  });

  test('keeps its case and may hold any character', async () => {
    const password = 'Ünï😀\t\u{1F468}‍👩‍👧 "quotes" \\ \u{7F}';
    await signUp('characters@example.com', password);
    expect(await signInStatus('characters@example.com', password.toLowerCase())).toBe(401);
    expect(await signInStatus('characters@example.com', password)).toBe(200);
  });

  test('of 1,024 characters is taken whole, one of 1,025 is refused without being hashed', async () => {
    const longest = `${'long password '.repeat(73)}xy`;
    expect(longest).toHaveLength(1_024);
    await signUp('long@example.com', longest);
    expect(await signInStatus('long@example.com', longest)).toBe(200);
    expect(await signInStatus('long@example.com', longest.slice(0, -1))).toBe(401);
    for (const [url, body] of [
      ['/v1/login', { username: 'long@example.com', password: `${longest}z` }],
      ['/v1/register', { email: 'longer@example.com', password: `${longest}z` }],
    ] as const) {
      const { hashes, result } = await countHashes(() => world.client().post(url, body));
      expectProblem(result, 'invalid_input', url);
      expect(hashes).toBe(0);
    }
  });

  test.each([
    'a',
    'password',
    'Password1!',
    'qwertyuiop',
    '12345678901',
    'aaaaaaaaaaaaaaaaaaaa',
    'abababababababab',
    '            ',
    'iloveyou',
    'weakling',
    'weakling1',
    '123456789012',
    'password1234',
    'sunshinesunshine',
    'tangerinetangerine',
    'weakling@example.com',
    'weakling.example',
    'Weakling-Example-1',
    'weakling weakling',
  ])('that is easy to guess is refused: %s', async (password) => {
    const answer = await world.client().post('/v1/register', { email: 'weakling@example.com', password });
    expectProblem(answer, 'weak_password', password);
    expect(answer.body.errors).toMatchObject([{ path: '/password' }]);
  });

  test('that consists of the address, the names or the domain of the person is refused, whatever its length', async () => {
    const sent = { email: 'Jane.Doe@northwind-trading.example', first_name: 'Persephone', last_name: 'Featherstone' };
    for (const password of [
      'jane.doe@northwind-trading.example',
      'JaneDoeJaneDoe',
      'jane.doe.1987',
      'Northwind-Trading',
      'northwindtrading1',
      'northwind-northwind',
      'Persephone Featherstone',
      'featherstone2024',
    ])
      expectProblem(await world.client().post('/v1/register', { ...sent, password }), 'weak_password', password);
    const password = 'Jane tundra velvet quiz';
    expect((await world.client().post('/v1/register', { ...sent, password })).status).toBe(202);
  });

  test('is judged by its first 24 characters, in a thread of its own', async () => {
    // Whole, it is hard to guess, but the estimator needs seconds for it.
    const long = 'a'.repeat(maxJudgedLength) + randomDigits(1_000, 'abc');
    const answer = await world.client().post('/v1/register', { email: 'long-weakling@example.com', password: long });
    expectProblem(answer, 'weak_password');
    const hard = randomDigits(maxJudgedLength, 'abc') + 'a'.repeat(1_000);
    let turns = 0;
    const count = (): void => {
      turns++;
      turning = setImmediate(count);
    };
    let turning = setImmediate(count);
    await checkStrength(hard, []);
    clearImmediate(turning);
    // On the event loop, the estimator would let nothing else run from beginning to end.
    expect(turns).toBeGreaterThan(0);
  });

  test('that waits to be judged behind too many others is refused', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, number) => checkStrength(`x${number}`, [])),
    );
    const codes = results.map((result) =>
      result.status === 'rejected' ? (result.reason as AppError).code : 'accepted',
    );
    expect(codes.filter((code) => code === 'weak_password')).toHaveLength(128);
    expect(codes.filter((code) => code === 'overloaded')).toHaveLength(72);
  });

  test('of eleven characters that is hard to guess is taken', async () => {
    expect(
      (await world.client().post('/v1/register', { email: 'hard@example.com', password: 'x7$Kq!zR2&m' })).status,
    ).toBe(202);
  });
});

describe('the threads that hash passwords', () => {
  test('give way to those that answer requests', async () => {
    await hashPassword(testPassword);
    const priorities = readdirSync('/proc/self/task').map((thread) => {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      // The name is in parentheses; the priority is the seventeenth value after it (proc(5), field 19).
      const name = stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')'));
      return { name, priority: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]) };
    });
    const own = priorities.filter(({ name }) => name === 'libuv-worker').map(({ priority }) => priority);
    expect(new Set(own)).toEqual(new Set([Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW)]));
  });
});

describe('many sign-ups at once', () => {
  hashAsTheProductDoes();

  test('wait behind the sign-ins', async () => {
    const begun: string[] = [];
    const queue = new HashQueue({ concurrency: 2, waiting: { 'sign-in': 1, 'sign-up': 20 } });
    const hash = (purpose: HashPurpose) =>
      queue.run(purpose, () => {
        begun.push(purpose);
        return hashPassword(testPassword);
      });
    await Promise.all([...Array.from({ length: 6 }, () => hash('sign-up')), hash('sign-in')]);
    // Only those that had begun were before it.
    expect(begun.indexOf('sign-in')).toBe(2);
    expect(begun).toHaveLength(7);
  });

  test('are refused beyond a bound, and people can still sign in', async () => {
    const person = await buildPerson(world);
    // No deadline: on a busy machine, hashing takes its time.
    const client = (await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } })).client();
    await client.get('/livez');
    const { hashes, result } = await countHashes(async () => {
      const answers = Array.from({ length: 100 }, (_, number) =>
        client.post('/v1/register', { email: `crowd-${number}@example.com`, password: testPassword }),
      );
      const { status } = await client.post('/v1/login', { username: person.user.email, password: testPassword });
      return { status, answers: await Promise.all(answers) };
    });
    expect(result.status).toBe(200);
    const refused = result.answers.filter(({ status }) => status !== 202);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expectProblem(answer, 'overloaded');
      expect(answer.headers['retry-after']).toBe('5');
    }
    // What is refused costs no hash.
    expect(hashes).toBe(result.answers.length - refused.length + 1);
  });
});

describe('a sign-in that waits behind too many others', () => {
  test('is refused, and is no failure', async () => {
    const person = await buildPerson(world);
    const instance = await world.openInstance({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
    // Some milliseconds each: a place is free for a moment only, and the crowd disperses soon at the end.
    const stored = `$argon2id$v=19$m=8192,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const over = new AbortController();
    // More than may wait: those that are refused or served come again.
    const crowd = Array.from({ length: 300 }, async () => {
      while (!over.signal.aborted) {
        await verifyPassword(testPassword, stored).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    });
    // The process belongs to other test files afterwards.
    const dispersed = async () => {
      over.abort();
      await Promise.all(crowd);
    };
    onTestFinished(dispersed);
    const client = instance.client();
    client.address = '203.0.113.200';
    await client.get('/livez');
    let judged = 0;
    await eventually(async () => {
      const { status } = await client.post('/v1/login', { username: person.user.email, password: 'wrong' });
      if (status === 401) judged++;
      return status === 503;
    });
    await dispersed();
    const [counted] = await asOwner<{ failures: number }>(
      world,
      `select failures from sign_in_failures where key = 'address:203.0.113.200'`,
    );
    expect(counted?.failures).toBe(judged);
  });
});

test('somebody who is signed in may confirm another address', async () => {
  const client = await signedIn(world, await buildPerson(world));
  // From here on the state of the caller is assumed.
  await client.get('/v1/tasks');
  const email = 'second-address@example.com';
  expect((await client.post('/v1/register', { email, password: testPassword })).status).toBe(202);
  const token = await verificationToken(world, email);
  expect((await client.post('/v1/verify', { token, password: testPassword })).status).toBe(200);
});

describe('a refusal for want of a sign-in', () => {
  test('names the scheme, and whether a token was refused (RFC 6750)', async () => {
    const client = world.client();
    expect((await client.get('/v1/tasks')).headers['www-authenticate']).toBe('Bearer');
    const refused = await client.get('/v1/tasks', { authorization: 'Bearer x.y.z' });
    expect([refused.status, refused.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"']);
  });
});

describe('signing out', () => {
  test('ends the token that was sent and no other', async () => {
    const person = await buildPerson(world);
    const [first, second] = await Promise.all([signedIn(world, person), signedIn(world, person)]);
    await first.post('/v1/logout');
    expect((await second.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);
  });

  test('with a bearer token ends that token', async () => {
    const person = await buildPerson(world);
    const client = world.client();
    client.bearer = (await signedIn(world, person)).cookies.get('access_token');
    expect((await client.post('/v1/logout')).status).toBe(200);
    expectProblem(await client.post('/v1/logout'), 'unauthenticated');
  });
});
