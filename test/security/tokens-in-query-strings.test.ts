import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
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
