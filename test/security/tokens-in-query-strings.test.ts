import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-08: a token in the address is nobody's credential, and no log line repeats it.

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test.each(['access_token', 'token', 'authorization', 'Authorization', 'bearer', 'jwt', 'api_key', 'session', 'sid'])(
  'T-08: a token in the query parameter "%s" signs nobody in and is not logged',
  async (name) => {
    const person = await buildPerson(world);
    const token = (await signedIn(world, person)).cookies.get('access_token') ?? '';
    const query = encodeURIComponent('{ self { id } }');
    const stranger = world.client();
    for (const value of [token, `Bearer ${token}`]) {
      const parameter = `${name}=${encodeURIComponent(value)}`;
      expect((await stranger.get(`/graphql?query=${query}&${parameter}`)).body).toEqual({ data: { self: null } });
      const posted = await stranger.post(`/graphql?${parameter}`, { query: '{ self { id } }' });
      expect(posted.body).toEqual({ data: { self: null } });
      await stranger.get(`/v1/${token}?${parameter}`);
    }
    expect(world.logs.length).toBeGreaterThan(0);
    expect(world.logs.filter((line) => JSON.stringify(line).includes(token.slice(-43)))).toEqual([]);
  },
);
