import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { countHashes } from '../../kit/identity/count-hashes.ts';
import { buildPerson, testPassword, type Person } from '../../kit/people.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';
import { resetToken } from '../../kit/identity/verification-token.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

let number = 0;

/** A browser somewhere else than all others. */
async function somewhere(from: World | Instance = world): Promise<TestClient> {
  const client = from.client();
  client.address = `203.0.113.${++number}`;
  await client.get('/livez');
  return client;
}

function signIn(client: TestClient, person: Person, password = testPassword): Promise<TestAnswer> {
  // Signed out again by forgetting, not by asking; in parallel the cookies of others come in between.
  client.cookies.clear();
  return client.post('/v1/login', { username: person.user.email, password });
}

const body = ({ user: { email } }: Person, password = testPassword) => ({ username: email, password });

async function failures(key: string): Promise<number> {
  const rows = await asOwner<{ failures: number }>(world, 'select failures from sign_in_failures where key = $1', [
    key,
  ]);
  return rows[0]?.failures ?? 0;
}

const addressKey = (client: TestClient) => `address:${client.address}`;

describe('an account', () => {
  test('waits after ten failures, even for the right password, until a quarter of an hour has passed', async () => {
    const person = await buildPerson(world);
    const client = await somewhere();
    for (let attempt = 0; attempt < 10; attempt++)
      expectProblem(await signIn(client, person, 'wrong'), 'invalid_credentials', `attempt ${attempt}`);
    const { hashes, result } = await countHashes(() => signIn(client, person));
    expectProblem(result, 'too_many_requests');
    expect(hashes).toBe(0);
    expect(Number(result.headers['retry-after'])).toBe(15 * 60);
    expect(result.body.detail).toContain('try again in 15 minutes');

    world.clock.advance(10 * 60_000);
    const later = await signIn(client, person);
    expectProblem(later, 'too_many_requests');
    expect(Number(later.headers['retry-after'])).toBe(5 * 60);
    world.clock.advance(5 * 60_000);
    expect((await signIn(client, person)).status).toBe(200);
  });

  test('waits wherever the attempts come from, and others do not', async () => {
    const [person, neighbour] = await Promise.all([buildPerson(world), buildPerson(world)]);
    for (let attempt = 0; attempt < 10; attempt++) await signIn(await somewhere(), person, 'wrong');
    const client = await somewhere();
    expectProblem(await signIn(client, person), 'too_many_requests');
    expect((await signIn(client, neighbour)).status).toBe(200);
  });

  test('knows no browser any more after a new password, except the one in which it was changed', async () => {
    const person = await buildPerson(world);
    const [thief, owner] = [await somewhere(), await somewhere()];
    for (const client of [thief, owner]) expect((await client.post('/v1/login', body(person))).status).toBe(200);
    const changed = 'tangerine umbrella sidewalk';
    await owner.post('/v1/change-password', { password: testPassword, new_password: changed });
    for (let attempt = 0; attempt < 10; attempt++) await signIn(await somewhere(), person, 'wrong');
    // The mark of the thief counts no longer: the account waits for them as for everybody.
    expectProblem(await thief.post('/v1/login', body(person, changed)), 'too_many_requests');
    expect((await owner.post('/v1/login', body(person, changed))).status).toBe(200);

    await world.client().post('/v1/forgot-password', { email: person.user.email });
    const reset = { token: await resetToken(world, person.user.email), password: testPassword };
    expect((await world.client().post('/v1/password-reset', reset)).status).toBe(200);
    for (let attempt = 0; attempt < 10; attempt++) await signIn(await somewhere(), person, 'wrong');
    expectProblem(await owner.post('/v1/login', body(person)), 'too_many_requests');
  });

  test('that does not exist waits as well', async () => {
    const client = await somewhere();
    const attempt = () => client.post('/v1/login', { username: 'Nobody@example.com ', password: 'x' });
    for (let count = 0; count < 10; count++) expectProblem(await attempt(), 'invalid_credentials');
    expectProblem(await attempt(), 'too_many_requests');
  });

  test('waits after a restart too, and on every other process', async () => {
    const person = await buildPerson(world);
    for (let attempt = 0; attempt < 10; attempt++) await signIn(await somewhere(), person, 'wrong');
    expectProblem(await signIn(await somewhere(await world.openInstance()), person), 'too_many_requests');
  });

  test('starts anew with every success', async () => {
    const person = await buildPerson(world);
    const client = await somewhere();
    for (let round = 0; round < 3; round++) {
      for (let attempt = 0; attempt < 9; attempt++) await signIn(client, person, 'wrong');
      expect((await signIn(client, person)).status).toBe(200);
    }
  });

  test('has exactly ten of fifty parallel attempts evaluated', async () => {
    const person = await buildPerson(world);
    const client = await somewhere();
    const { hashes, result } = await countHashes(() =>
      Promise.all(Array.from({ length: 50 }, (_, guess) => signIn(client, person, `guess ${guess}`))),
    );
    expect(hashes).toBe(10);
    expect(result.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(result.filter(({ status }) => status === 429)).toHaveLength(40);
    expect(await failures(addressKey(client))).toBe(10);
  });

  test('lets fifty parallel right passwords in, or refuses them, but never loses count', async () => {
    const person = await buildPerson(world);
    const client = await somewhere();
    const answers = await Promise.all(Array.from({ length: 50 }, () => signIn(client, person)));
    const refused = answers.filter(({ status }) => status !== 200);
    for (const answer of refused) expectProblem(answer, 'too_many_requests');
    expect(refused.length).toBeLessThan(50);
    expect(await failures(addressKey(client))).toBe(0);
    expect((await signIn(client, person)).status).toBe(200);
  });
});

describe('a browser that has signed in before', () => {
  /** Signs in and keeps nothing but the cookie that tells the browser. */
  async function knownBrowser(person: Person): Promise<TestClient> {
    const client = await somewhere();
    expect((await signIn(client, person)).status).toBe(200);
    const device = client.cookies.get('known_devices');
    client.cookies.clear();
    await client.get('/livez');
    client.cookies.set('known_devices', device ?? '');
    return client;
  }
  const ask = (client: TestClient, person: Person, password = testPassword) =>
    client.post('/v1/login', { username: person.user.email, password });

  test('signs in while others have locked the account and the address', async () => {
    const person = await buildPerson(world);
    const [known, attacker] = [await knownBrowser(person), await somewhere()];
    for (let attempt = 0; attempt < 10; attempt++) await ask(attacker, person, 'wrong');
    for (let attempt = 0; attempt < 40; attempt++)
      await attacker.post('/v1/login', { username: `nobody-${attempt}@example.com`, password: 'x' });
    expectProblem(await ask(attacker, person), 'too_many_requests');
    known.address = attacker.address;
    expect((await ask(known, person)).status).toBe(200);
    // It has proved nothing for others.
    expectProblem(await ask(attacker, person), 'too_many_requests');
  });

  test('waits after ten failures of its own, which count nowhere else', async () => {
    const person = await buildPerson(world);
    const known = await knownBrowser(person);
    for (let attempt = 0; attempt < 10; attempt++)
      expectProblem(await ask(known, person, 'wrong'), 'invalid_credentials', `attempt ${attempt}`);
    const refused = await ask(known, person);
    expectProblem(refused, 'too_many_requests');
    expect(refused.body.detail).toBe(
      'Too many failed sign-ins; try again in 15 minutes; a new password (POST /v1/forgot-password) ends the wait of an account.',
    );
    expect(await failures(addressKey(known))).toBe(0);
    expect((await ask(await somewhere(), person)).status).toBe(200);
  });

  test('is known for each of its people, and for nobody else', async () => {
    const [one, other, stranger] = await Promise.all([buildPerson(world), buildPerson(world), buildPerson(world)]);
    const known = await knownBrowser(one);
    expect((await ask(known, other)).status).toBe(200);
    const attacker = await somewhere();
    for (const person of [one, other, stranger])
      for (let attempt = 0; attempt < 10; attempt++) await ask(attacker, person, 'wrong');
    for (const person of [one, other]) expect((await ask(known, person)).status).toBe(200);
    expectProblem(await ask(known, stranger), 'too_many_requests');
  });

  test.each([
    ['another signature', (mark: string) => `${mark.slice(0, -2)}${mark.endsWith('AA') ? 'BB' : 'AA'}`],
    ['another nonce', (mark: string) => `${'A'.repeat(22)}${mark.slice(22)}`],
    ['nothing', () => ''],
    ['a great length', (mark: string) => `${'~'.repeat(3_000)}${mark}`],
  ])('is not known by a cookie with %s', async (_name, changed) => {
    const person = await buildPerson(world);
    const client = await knownBrowser(person);
    client.cookies.set('known_devices', changed(client.cookies.get('known_devices') ?? ''));
    await ask(client, person, 'wrong');
    expect(await failures(addressKey(client))).toBe(1);
  });

  test('has a cookie that scripts cannot read', async () => {
    const person = await buildPerson(world);
    const { headers } = await signIn(await somewhere(), person);
    expect([headers['set-cookie']].flat().find((cookie) => cookie?.startsWith('known_devices='))).toMatch(
      /; Max-Age=15724800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
  });
});

describe('an address', () => {
  test('waits after fifty failures over many accounts; successes do not count', async () => {
    const person = await buildPerson(world);
    const client = await somewhere();
    for (let attempt = 0; attempt < 50; attempt++) {
      if (attempt % 10 === 0) expect((await signIn(client, person)).status).toBe(200);
      const answer = await client.post('/v1/login', { username: `nobody-${attempt}@example.com`, password: 'x' });
      expectProblem(answer, 'invalid_credentials', `attempt ${attempt}`);
    }
    expectProblem(await signIn(client, person), 'too_many_requests');
    expect((await signIn(await somewhere(), person)).status).toBe(200);
  });
});
