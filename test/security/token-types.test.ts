import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { verificationToken } from '../kit/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-21: values that we hand out are of a type; none is accepted in the place of another.

let world: World;
/** One valid value of every type. */
let values: Record<'access' | 'csrf' | 'confirmation', string>;

beforeAll(async () => {
  world = await openWorld();
  const client = await signedIn(world, await buildPerson(world));
  await client.post('/v1/register', { email: 'typed@example.com', password: 'correct horse battery' });
  values = {
    access: client.cookies.get('access_token') ?? '',
    csrf: client.cookies.get('csrf_token') ?? '',
    confirmation: await verificationToken(world, 'typed@example.com'),
  };
});
afterAll(() => world.close());

test.each(['csrf', 'confirmation'] as const)('T-21: a %s token is refused as an access token', async (type) => {
  const client = world.client();
  client.bearer = values[type];
  expectProblem(await client.graphql('{ self { id } }'), 'unauthenticated');
  client.bearer = undefined;
  client.cookies.set('access_token', values[type]);
  expect((await client.graphql('{ self { id } }')).data).toEqual({ self: null });
});

test.each(['access', 'confirmation'] as const)('T-21: an %s token is refused as a CSRF token', async (type) => {
  const client = world.client();
  client.cookies.set('csrf_token', values[type]);
  expectProblem(await client.post('/v1/logout'), 'csrf_token_invalid');
});

test.each(['access', 'csrf'] as const)('T-21: an %s token is refused as a confirmation token', async (type) => {
  const answer = await world.client().post('/v1/verify', { token: values[type], password: 'correct horse battery' });
  expect(['invalid_token', 'invalid_input']).toContain(answer.body.code);
});

test('T-21: each token is accepted in its own place', async () => {
  const client = world.client();
  client.cookies.set('access_token', values.access);
  client.cookies.set('csrf_token', values.csrf);
  const body = { token: values.confirmation, password: 'correct horse battery' };
  expect((await client.post('/v1/verify', body)).status).toBe(200);
  expect((await client.graphql('{ self { id } }')).data.self).not.toBeNull();
});
