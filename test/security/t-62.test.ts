import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { databaseDump } from '../kit/database-dump.ts';
import { isSettled } from '../kit/events.ts';
import { eventually } from '../kit/eventually.ts';
import { storedRuns } from '../kit/histories.ts';
import { tokenIn, waitForMails } from '../kit/mailbox.ts';
import { runsOf } from '../kit/runs.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-62: secrets that pass through are found nowhere afterwards: not in rows, history, events, workflows or log lines.

let world: World;
/** Every secret that was planted, by what it is. */
const planted = new Map<string, string>();

function plant(name: string, secret: string): string {
  if (secret.length < 12) throw new Error(`${name} is too short to be looked for`);
  planted.set(name, secret);
  return secret;
}

beforeAll(async () => {
  world = await openWorld({ worker: true });
  const email = 'canary@example.com';
  const password = plant('password', 'canary-password-8f2k');
  const client = world.client();
  const post = (url: string, body: object) => client.post(url, body);

  await client.get('/livez');
  plant('CSRF token before the sign-in', client.cookies.get('csrf_token') ?? '');
  await post('/v1/register', { email, password: plant('password of the first sign-up', 'canary-overwritten-3j9d') });
  const [first = ''] = await waitForMails(world, email);
  plant('confirmation token that was replaced', tokenIn(first));
  world.clock.advance(61_000);
  await post('/v1/register', { email, password, first_name: 'Canary' });
  const mails = await waitForMails(world, email, 2);
  const token = mails.map(tokenIn).find((candidate) => candidate !== tokenIn(first)) ?? '';
  plant('confirmation token', token);
  await post('/v1/verify', { token: `${token.slice(0, -1)}~` });
  await post('/v1/verify', { token });
  // What the page of the mail would be asked for by a client that does not know what a fragment is.
  await client.get(`/v1/verify?token=${token}`);
  await post('/v1/register', { email, password: plant('password of a repeated sign-up', 'canary-repeated-5h1s') });
  await waitForMails(world, email, 4);

  await post('/v1/login', { username: email, password: plant('wrong password', 'canary-wrong-7q4w') });
  await post('/v1/login', {
    username: email,
    password: plant('password with a surplus key', 'canary-surplus-2x6c'),
    otp: 1,
  });
  await post('/v1/login', { username: email, password: [plant('password of another type', 'canary-list-9z8v')] });
  await client.mutate({
    method: 'POST',
    url: '/v1/login',
    headers: { 'content-type': 'application/json' },
    payload: `{"username":"${email}","password":"${plant('password in half a document', 'canary-malformed-1m3b')}`,
  });
  await post('/v1/login', { username: email, password });
  const access = plant('access token', client.cookies.get('access_token') ?? '');
  plant('signature of the access token', access.slice(access.lastIndexOf('.') + 1));
  plant('CSRF token of the session', client.cookies.get('csrf_token') ?? '');
  await client.graphql('mutation { createOrganization(input: { name: "Canary Inc." }) { organization { id } } }');
  await client.get(`/livez?access_token=${access}&password=${password}`);
  await client.get(`/nowhere?access_token=${access}`, { authorization: `Bearer ${access}` });
  await client.get('/livez', {
    authorization: `Basic ${plant('basic credentials', Buffer.from(`${email}:${password}`).toString('base64'))}`,
  });
  await client.get('/livez', { 'x-api-key': plant('unknown key', 'canary-api-key-6n7m') });
  // A failure of ours, with all of it at hand.
  await asOwner(world, 'alter table sign_in_failures rename to hidden');
  const failed = await post('/v1/login', { username: email, password });
  await asOwner(world, 'alter table hidden rename to sign_in_failures');
  expect(failed.status).toBe(500);
  await post('/v1/logout', {});

  const [row] = await asOwner<{ hash: string }>(world, 'select password_hash as hash from users where email = $1', [
    email,
  ]);
  plant('password hash', row?.hash ?? '');
  await eventually(() => isSettled(world));
  await eventually(async () => (await runsOf(world, 'ExecutionStatus = "Running"')).length === 0);
}, 60_000);
afterAll(() => world.close());

function found(text: string): string[] {
  return [...planted]
    .filter(([, secret]) => text.includes(secret) || text.includes(encodeURIComponent(secret)))
    .map(([name]) => name);
}

test('in no row, but for the hash in its column', async () => {
  const dump = await databaseDump(world);
  expect(dump.get('public.users')).toHaveLength(1);
  expect(dump.get('public.history')?.length).toBeGreaterThan(3);
  expect(dump.get('public.events')?.length).toBeGreaterThan(3);
  for (const [table, rows] of dump) {
    const expected = table === 'public.users' ? ['password hash'] : [];
    expect(found(rows.join('\n')), table).toEqual(expected);
  }
});

test('in no log line', () => {
  expect(world.logs.length).toBeGreaterThan(20);
  expect(world.logs.some(({ level }) => level === 'error')).toBe(true);
  for (const line of world.logs) expect(found(JSON.stringify(line)), JSON.stringify(line)).toEqual([]);
});

test('in no workflow, not even for those who can decrypt it', async () => {
  const runs = await storedRuns(world);
  expect(runs.map(({ id }) => id.split('/')[0])).toEqual(expect.arrayContaining(['email']));
  for (const { id, stored, decrypted } of runs) expect(found(stored + decrypted), id).toEqual([]);
  expect(runs.some(({ decrypted }) => decrypted.includes('userId'))).toBe(true);
});

test('in no metric', async () => {
  const { metricsUrl } = await world.listen();
  const text = await (await fetch(metricsUrl)).text();
  expect(text).toContain('/v1/login');
  expect(found(text)).toEqual([]);
});
