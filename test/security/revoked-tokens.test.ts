import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { buildPerson, signedIn } from '../kit/people.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { cookiesOf } from '../kit/identity/set-cookies.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-02: a revoked token is refused at once, by every process.

let world: World;

beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('T-02: signing out revokes the token at once in every process, and can be repeated', async () => {
  const person = await buildPerson(world);
  const client = await signedIn(world, person);
  const bearer = world.client();
  bearer.bearer = client.cookies.get('access_token');
  const elsewhere = (await world.openInstance()).client();
  elsewhere.bearer = bearer.bearer;
  expect((await elsewhere.graphql('{ self { id } }')).data.self.id).toBe(person.user.id);

  const answer = await client.post('/v1/logout');
  expect(answer.status).toBe(200);
  expect(cookiesOf(answer.headers).get('access_token')).toMatchObject({
    value: '',
    attributes: { 'max-age': '0', path: '/' },
  });
  expect(client.cookies.has('access_token')).toBe(false);
  for (const other of [bearer, elsewhere]) expectProblem(await other.graphql('{ self { id } }'), 'unauthenticated');

  for (let again = 0; again < 3; again++) expect((await client.post('/v1/logout')).status).toBe(200);
  const ended = 'select count(*)::int as count from sessions where deleted_at is not null';
  expect(await asOwner(world, ended)).toEqual([{ count: 1 }]);
});

test('T-02: signing out in one process is known to the other before the answer arrives', async () => {
  const elsewhere = await world.openInstance();
  for (let round = 0; round < 20; round++) {
    const client = await signedIn(world, await buildPerson(world));
    const bearer = elsewhere.client();
    bearer.bearer = client.cookies.get('access_token');
    expect((await client.post('/v1/logout')).status).toBe(200);
    expectProblem(await bearer.graphql('{ self { id } }'), 'unauthenticated', `round ${round}`);
  }
});
