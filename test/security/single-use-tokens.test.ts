import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { verificationToken } from '../kit/identity/verification-token.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-03: a single-use token has exactly one success, in sequence and in parallel, on one process and on several.

let world: World;

beforeAll(async () => {
  // Fifty attempts hash fifty passwords; on a busy machine that takes its time.
  world = await openWorld({ environment: { CORE_SERVER_WRITETIMEOUT: '600000' } });
});
afterAll(() => world.close());

const password = 'correct horse battery';

async function tokenFor(email: string): Promise<string> {
  await world.client().post('/v1/register', { email, password });
  return verificationToken(world, email);
}

test('T-03: a single-use token used twice in sequence succeeds once', async () => {
  const token = await tokenFor('sequence@example.com');
  expect((await world.client().post('/v1/verify', { token, password })).status).toBe(200);
  expectProblem(await world.client().post('/v1/verify', { token, password }), 'invalid_token');
});

test('T-03: a single-use token used fifty times in parallel, in two processes, succeeds once', async () => {
  const token = await tokenFor('parallel@example.com');
  const clients = [world.client(), (await world.openInstance()).client()];
  await Promise.all(clients.map((client) => client.get('/livez')));
  const attempts = Array.from({ length: 25 }, () =>
    clients.map((client) => client.post('/v1/verify', { token, password })),
  );
  const answers = await Promise.all(attempts.flat());
  const refusals = answers.filter(({ status }) => status !== 200);
  expect(refusals).toHaveLength(49);
  for (const answer of refusals) expectProblem(answer, 'invalid_token');
  expect(
    await asOwner(
      world,
      `select count(*)::int as memberships, count(distinct organization_id)::int as organizations from memberships m
       join users u on u.id = m.user_id where u.email = 'parallel@example.com'`,
    ),
  ).toEqual([{ memberships: 1, organizations: 1 }]);
});
