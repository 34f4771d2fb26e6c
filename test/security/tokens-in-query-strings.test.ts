import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { unsubscribeToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-08: a token in the address is nobody's credential, and no log line repeats it.

let world: World;

beforeAll(async () => {
  world = await openWorld({
    environment: { CORE_AUTH_TOKEN_APITOKENS_ENABLED: 'true', CORE_API_TOKEN_KEY_FIRST: 'k'.repeat(40) },
  });
});
afterAll(() => world.close());

test.each(['access_token', 'token', 'authorization', 'Authorization', 'bearer', 'jwt', 'api_key', 'session', 'sid'])(
  'T-08: a token in the query parameter "%s" signs nobody in and is not logged',
  async (name) => {
    const person = await buildPerson(world);
    const client = await signedIn(world, person);
    const access = client.cookies.get('access_token') ?? '';
    const made = await client.post('/v1/personal-access-tokens', { name: 'a program', scopes: ['user:read'] });
    const { token: personal } = made.body as { token: string };
    const query = encodeURIComponent('{ self { id } }');
    const stranger = world.client();
    for (const [token, value] of [access, personal].flatMap((one) => [
      [one, one],
      [one, `Bearer ${one}`],
    ]) as [string, string][]) {
      const parameter = `${name}=${encodeURIComponent(value)}`;
      expect((await stranger.get(`/graphql?query=${query}&${parameter}`)).body).toEqual({ data: { self: null } });
      const posted = await stranger.post(`/graphql?${parameter}`, { query: '{ self { id } }' });
      expect(posted.body).toEqual({ data: { self: null } });
      await stranger.get(`/v1/${token}?${parameter}`);
    }
    expect(world.logs.length).toBeGreaterThan(0);
    for (const token of [access, personal])
      expect(world.logs.filter((line) => JSON.stringify(line).includes(token.slice(-43)))).toEqual([]);
  },
);

test('T-08: the token of a link to the portal counts in its header alone, and no token of a link or secret of an endpoint is logged', async () => {
  const client = await signedIn(world, await buildPerson(world));
  const { body: endpoint } = await client.post('/v1/webhook-endpoints', {
    name: 'logged nowhere',
    url: 'https://93.184.216.34/',
    topics: ['task.*'],
    scopes: ['task:read'],
  });
  const { body: link } = await client.post('/v1/webhook-portal/links', {});
  await client.post('/v1/subscribers', { email: 'logged-nowhere@example.com' });
  const portal = String(link.url).split('#token=')[1] ?? '';
  const unsubscribe = await unsubscribeToken(world, 'logged-nowhere@example.com');
  const stranger = world.client();
  const url = '/v1/webhook-portal/endpoints';
  expect((await stranger.get(url, { 'webhook-portal-token': portal })).status).toBe(200);
  for (const [token, value] of Object.entries({ portal, unsubscribe, secret: endpoint.secret as string }))
    for (const name of ['token', 'webhook-portal-token', 'access_token', 'secret']) {
      const parameter = `${name}=${encodeURIComponent(value)}`;
      for (const asked of [url, '/v1/tasks', `/v1/webhook-portal/${value}`])
        expect((await stranger.get(`${asked}?${parameter}`)).status, `${token} in ${name}`).not.toBe(200);
      await stranger.get(`/v1/webhook-portal?${parameter}`);
      await stranger.post(`/v1/email/webhook/providera?${parameter}`, {});
      await stranger.post(`/v1/email/webhook/providerb?${parameter}`, {});
    }
  // The only one that belongs into the URL (RFC 8058).
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const oneClick = { method: 'POST', url: `/v1/unsubscribe?token=${unsubscribe}`, headers } as const;
  expect((await stranger.request({ ...oneClick, payload: 'List-Unsubscribe=One-Click' })).status).toBe(200);
  for (const value of [portal, unsubscribe, endpoint.secret])
    expect(world.logs.filter((line) => JSON.stringify(line).includes(String(value).slice(-43)))).toEqual([]);
});
