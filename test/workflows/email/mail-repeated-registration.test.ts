import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSettled, storedDeliveries } from '../../kit/events/event-fixtures.ts';
import { eventually } from '../../kit/eventually.ts';
import { mailsTo, waitForMails } from '../../kit/mailbox.ts';
import { buildPerson } from '../../kit/people.ts';
import { runsOf } from '../../kit/runs.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

const hour = 3_600_000;

const signUp = (email: string) => world.client().post('/v1/register', { email, password: 'correct horse battery' });

test('sign-ups with the address of an account mail its owner once an hour, however many there are', async () => {
  // All of them within one hour of the clock.
  world.clock.advance(hour - (world.clock.now().getTime() % hour));
  const { user } = await buildPerson(world);
  const { user: neighbour } = await buildPerson(world);
  for (let attempt = 0; attempt < 3; attempt++) {
    await signUp(user.email);
    world.clock.advance(60_000);
  }
  await Promise.all(Array.from({ length: 10 }, () => signUp(user.email)));
  await signUp(neighbour.email);
  const delivered = (count: number) =>
    eventually(
      async () =>
        (await storedDeliveries(world, 'mail-repeated-registration', user.id)).length === count &&
        (await isSettled(world)) &&
        (await runsOf(world, 'ExecutionStatus = "Running"')).length === 0,
    );
  // Of ten sign-ups at once, one.
  await delivered(4);
  expect(await waitForMails(world, user.email)).toHaveLength(1);
  expect(await waitForMails(world, neighbour.email)).toHaveLength(1);

  world.clock.advance(hour);
  await signUp(user.email);
  await signUp(user.email);
  expect(await waitForMails(world, user.email, 2)).toHaveLength(2);
  await delivered(5);
  expect(await mailsTo(world, user.email)).toHaveLength(2);
});
