import { afterAll, beforeAll, expect, test } from 'vitest';
import { mailsTo, tokenIn, unfolded, waitForMails } from '../kit/mailbox.ts';
import { exchange } from '../kit/http/raw-http.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-26: what a client says of the host it talks to ends up in no mail, no redirect and no answer.

let world: World;

beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

const evil = 'evil.example.net';
const hostile: Record<string, string> = {
  host: evil,
  'x-forwarded-host': evil,
  'x-forwarded-proto': 'http',
  'x-forwarded-server': evil,
  'x-original-host': evil,
  'x-host': evil,
  forwarded: `host=${evil};proto=http`,
  origin: `https://${evil}`,
  referer: `https://${evil}/`,
};

test('T-26: links in mails use the configured address', async () => {
  const email = 'hosted@example.com';
  const client = world.client();
  await client.get('/livez');
  const send = (url: string, body: object) => client.post(url, body, hostile);
  expect((await send('/v1/register', { email, password: 'correct horse battery' })).status).toBe(202);
  await waitForMails(world, email);
  world.clock.advance(61_000);
  expect((await send('/v1/resend', { email })).status).toBe(202);
  const [, newer = ''] = await waitForMails(world, email, 2);
  for (const mail of await mailsTo(world, email)) {
    expect(mail).not.toContain(evil);
    expect(unfolded(mail)).toContain('https://api.test/v1/verify#token');
  }
  const tokens = (await mailsTo(world, email)).map(tokenIn);
  expect(tokens).toContain(tokenIn(newer));
  const password = 'correct horse battery';
  const statuses = await Promise.all(
    tokens.map(async (token) => (await send('/v1/verify', { token, password })).status),
  );
  expect(new Set(statuses)).toEqual(new Set([200, 400]));
  for (const mail of await waitForMails(world, email, 3)) expect(mail).not.toContain(evil);
});

test('T-26: no answer repeats a hostile host header', async () => {
  const client = world.client();
  const paths = Object.keys(world.api.app.swagger().paths ?? {});
  for (const url of [...paths, '/graphql', '/nowhere', '/%']) {
    const { headers, body } = await client.get(url, hostile);
    expect(JSON.stringify({ headers, body }), url).not.toContain(evil);
  }
  expect((await client.get('/', hostile)).headers['location']).toBe('/docs');
});

test('T-26: no answer on a real connection repeats a host from the request target', async () => {
  const { url } = await world.listen();
  for (const target of [`http://${evil}/`, '/', `//${evil}/`, `/\\${evil}`]) {
    const answer = await exchange(url, `GET ${target} HTTP/1.1\r\nHost: ${evil}\r\nConnection: close\r\n\r\n`);
    expect(answer.status, target).toBeLessThan(500);
    expect(answer.headers['location'] ?? '/docs', target).toBe('/docs');
  }
});
