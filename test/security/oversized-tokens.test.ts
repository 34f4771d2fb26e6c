// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { expectProblem } from '../kit/expect-problem.ts';
import { exchange } from '../kit/http/raw-http.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-33: a token of a megabyte of dots costs nothing: it is refused by its length and shape, before anything is decoded.

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const dots = '.'.repeat(1_000_000);

test('T-33: a token of a megabyte is refused by the limit for headers', async () => {
  const { url } = await world.listen();
  const answer = await exchange(url, `GET /livez HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${dots}\r\n\r\n`);
  expect(answer.status).toBe(431);
});

test('T-33: a long or malformed token below that limit is refused', async () => {
  for (const token of [dots, `${'a'.repeat(4_000)}.${'.'.repeat(1_000)}`, 'a.b', 'a.b.c.d', 'x'.repeat(1_000_000)]) {
    const client = world.client();
    client.bearer = token;
    expectProblem(await client.graphql('{ self { id } }'), 'unauthenticated');
    client.bearer = undefined;
    client.cookies.set('access_token', token);
    expect((await client.get('/livez')).status).toBe(200);
  }
});

test('T-33: nothing of a long token is decoded, whatever it is offered as', async () => {
  const { accessTokens, refreshTokens, challengeTokens, delegationTokens, sessionCookies } = world.api.services;
  const decoded = vi.spyOn(Buffer, 'from');
  try {
    for (const token of [dots, `${'a'.repeat(4_000)}.${'.'.repeat(1_000)}`, 'x'.repeat(1_000_000)])
      for (const verify of [
        () => accessTokens.verify(token),
        () => refreshTokens.verify(token),
        () => challengeTokens.verify(token),
        () => delegationTokens.verify('support', token),
      ])
        await expect(verify()).rejects.toMatchObject({ code: 'unauthenticated' });
    expect(await sessionCookies.open(dots)).toBeUndefined();
    const lengths = decoded.mock.calls.map(([text]) => (typeof text === 'string' ? text.length : 0));
    expect(Math.max(0, ...lengths)).toBeLessThan(1_000);
  } finally {
    decoded.mockRestore();
  }
});
