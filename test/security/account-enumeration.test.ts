import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { countHashes } from '../kit/identity/count-hashes.ts';
import { buildPerson, deletePerson, signedIn, testPassword } from '../kit/people.ts';
import type { TestAnswer } from '../kit/test-client.ts';
import { requestStatements } from '../kit/request-statements.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-130: answers tell nobody whether an address has an account. Times are measured by the benchmarks; here work is counted.

let world: World;
const statements: string[] = [];
/** Statements of the requests alone. */
const texts: string[] = [];

beforeAll(async () => {
  const all = { statement: ({ text }: { readonly text: string }) => void statements.push(text) };
  world = await openWorld({ observers: [all, requestStatements(texts)] });
});
afterAll(() => world.close());

interface Shape {
  readonly status: number;
  readonly body: string;
  readonly headers: Record<string, unknown>;
  readonly hashes: number;
  /** The statements of the request, in their order. */
  readonly statements: readonly string[];
}

/** What a stranger sees of an answer, without what differs from request to request and without the address that was asked about. */
async function seen(email: string, ask: () => Promise<TestAnswer>): Promise<Shape> {
  texts.length = 0;
  const { hashes, result } = await countHashes(ask);
  const requestId = String(result.headers['x-request-id']);
  return {
    status: result.status,
    body: JSON.stringify(result.body).replaceAll(requestId, 'REQUEST').replaceAll(email, 'EMAIL'),
    headers: { ...result.headers, 'x-request-id': 'REQUEST', 'content-length': 'LENGTH', date: 'DATE' },
    hashes,
    statements: [...texts],
  };
}

function expectAlike(shapes: Readonly<Record<string, Shape>>): void {
  const [first, ...others] = Object.entries(shapes);
  for (const [name, shape] of others) expect(shape, `${name} compared with ${first?.[0]}`).toEqual(first?.[1]);
}

/** How long statements may take is said anew when time has passed, whoever is asked about. */
function withoutTimes(statements: readonly string[]): string[] {
  return statements.filter((text) => !text.startsWith('set local statement_timeout'));
}

let number = 0;
/** Addresses of one length. */
const newEmail = () => `someone-${String(++number).padStart(4, '0')}@example.com`;

async function withStatus(status: string): Promise<string> {
  const email = newEmail();
  const { user } = await buildPerson(world, { email });
  await asOwner(world, 'update users set status = $2 where id = $1', [user.id, status]);
  return email;
}

describe('T-130: a refused sign-in', () => {
  test('has the same answer and the same cost for every reason', async () => {
    const right = newEmail();
    await buildPerson(world, { email: right });
    const unconfirmed = newEmail();
    await buildPerson(world, { email: unconfirmed, isConfirmed: false });
    const deleted = newEmail();
    const gone = await buildPerson(world, { email: deleted });
    await deletePerson(world, gone.user.email);
    const passwordless = newEmail();
    const oauth = await buildPerson(world, { email: passwordless });
    await asOwner(world, 'update users set password_hash = null where id = $1', [oauth.user.id]);

    const cases: Record<string, [string, string]> = {
      'a wrong password': [right, 'wrong horse battery staple'],
      'an unknown address': [newEmail(), testPassword],
      'an unconfirmed address': [unconfirmed, testPassword],
      'a deleted account': [deleted, testPassword],
      'an account without password': [passwordless, testPassword],
      'a deactivated account': [await withStatus('deactivated'), testPassword],
      'a suspended account': [await withStatus('suspended'), testPassword],
      'an inactive account': [await withStatus('inactive'), testPassword],
    };
    const shapes: Record<string, Shape> = {};
    for (const [name, [email, password]] of Object.entries(cases)) {
      const client = world.client();
      await client.get('/livez');
      shapes[name] = await seen(email, () => client.post('/v1/login', { username: email, password }));
    }
    expect(shapes['a wrong password']).toMatchObject({ status: 401, hashes: 1 });
    const refused = await world.client().post('/v1/login', { username: unconfirmed, password: testPassword });
    expect(refused.body.detail).toContain('POST /v1/resend sends a new link');
    // Whoever knows the password may find out by the work that it is right.
    expectAlike(
      Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { ...shape, statements: [] }])),
    );
  });
});

describe.each([
  ['sign-up', '/v1/register', 1],
  ['asking for the mail again', '/v1/resend', 0],
  ['asking for a new password', '/v1/forgot-password', 0],
])('T-130: %s', (_name, url, hashes) => {
  const bodyOf = (email: string) => (url === '/v1/register' ? { email, password: 'correct horse battery' } : { email });

  test('has the same answer and the same cost whether or not the address has an account', async () => {
    const taken = newEmail();
    await buildPerson(world, { email: taken });
    const waiting = newEmail();
    await world.client().post('/v1/register', { email: waiting, password: 'correct horse battery' });
    const cases = {
      'a new address': newEmail(),
      'an address with an account': taken,
      'an address that waits for confirmation': waiting,
      'an account that is locked out': await withStatus('suspended'),
    };
    world.clock.advance(61_000);
    const shapes: Record<string, Shape> = {};
    for (const [name, email] of Object.entries(cases)) {
      const client = world.client();
      await client.get('/livez');
      shapes[name] = await seen(email, () => client.post(url, bodyOf(email)));
    }
    expect(shapes['a new address']).toMatchObject({ status: 202, hashes });
    expectAlike(shapes);
  });

  test('answers parallel requests alike, whether or not the address has an account', async () => {
    const taken = newEmail();
    await buildPerson(world, { email: taken });
    const client = world.client();
    await client.get('/livez');
    const fresh = newEmail();
    const answers = await Promise.all(
      [fresh, fresh, fresh, fresh, fresh, taken, taken, taken].map((email) => client.post(url, bodyOf(email))),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 202));
  });
});

test('T-130: a change of the address has the same answer and cost whether or not the new one has an account', async () => {
  const taken = newEmail();
  await buildPerson(world, { email: taken });
  const shapes: Record<string, Shape> = {};
  for (const [name, email] of Object.entries({ 'a new address': newEmail(), 'an address with an account': taken })) {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const shape = await seen(email, () =>
      client.post('/v1/account/email', { password: testPassword, new_email: email }),
    );
    const { id } = person.organization;
    shapes[name] = {
      ...shape,
      statements: withoutTimes(shape.statements).map((text) => text.replaceAll(id, 'ORGANIZATION')),
    };
  }
  expect(shapes['a new address']).toMatchObject({ status: 202, hashes: 1 });
  expectAlike(shapes);
});

test('T-130: fifty parallel requests for the same mail send one', async () => {
  const email = newEmail();
  const client = world.client();
  await client.post('/v1/register', { email, password: 'correct horse battery' });
  world.clock.advance(61_000);
  await Promise.all(Array.from({ length: 50 }, () => client.post('/v1/resend', { email })));
  expect(
    await asOwner(
      world,
      'select count(*)::int as count from email_verifications where email = $1 and sent_at is not null',
      [email],
    ),
  ).toEqual([{ count: 2 }]);
});

test('T-130: no SQL text ever contains an address', () => {
  expect(statements.length).toBeGreaterThan(50);
  expect(statements.filter((text) => text.includes('@example.com'))).toEqual([]);
});
