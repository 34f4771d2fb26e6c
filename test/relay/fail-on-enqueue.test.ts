import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../kit/as-owner.ts';
import { storedEvents } from '../kit/event-fixtures.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  // Events are made impossible to write, so changes have none.
  world = await openWorld({ skipVerify: true });
  await asOwner(world, `alter table events add constraint unwritable check (topic not like 'email_verification.%')`);
});
afterAll(() => world.close());

const signUp = (email: string) =>
  world.client().post('/v1/register', { email, password: 'correct horse battery staple' });
const signUps = (email: string) => asOwner(world, 'select 1 from email_verifications where email = $1', [email]);

test('dispatch.failonenqueueerror on: a request whose events cannot be written fails and leaves nothing', async () => {
  const answer = await signUp('lost@example.com');
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await signUps('lost@example.com')).toEqual([]);
});

test('off: the request goes on without them, with its history, and the log says so', async () => {
  await world.reconfigure({ CORE_WORKFLOWS_DISPATCH_FAILONENQUEUEERROR: 'false' });
  const answer = await signUp('kept@example.com');
  expect(answer.status).toBe(202);
  expect(await signUps('kept@example.com')).toHaveLength(1);
  expect(
    await asOwner(world, 'select 1 from history where request_id = $1', [answer.headers['x-request-id']]),
  ).not.toEqual([]);
  expect((await storedEvents(world, 'email_verification.%')).length).toBe(0);
  expect(world.logs.some((line) => String(line['msg']).includes('the change is kept without them'))).toBe(true);
});
