import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseRequests, takeSlot } from '#activities/clients/integrations/account-rate.ts';
import { takeAccountSlot } from '#entities/integrations/account-rate-rows.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const take = (account: string, spacingMs: number, maxWaitMs = 10_000) =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: 'rates' }, (unit) =>
    takeAccountSlot(unit, account, { spacingMs, maxWaitMs }),
  );

test('requests that come at once get one slot each, and those that would wait too long get none', async () => {
  const slots = await Promise.all(Array.from({ length: 20 }, () => take('directory/one', 1_000)));
  const taken = slots.filter(({ isTaken }) => isTaken).map(({ waitMs }) => Math.round(waitMs / 100));
  // The first is free at once; each further one is a second later, until the wait is over ten seconds.
  expect(taken.length).toBeGreaterThanOrEqual(10);
  expect(taken.length).toBeLessThanOrEqual(12);
  expect(new Set(taken).size).toBe(taken.length);
  for (const { waitMs } of slots.filter(({ isTaken }) => !isTaken)) expect(waitMs).toBeGreaterThan(5_000);
  expect(await take('directory/other', 1_000)).toMatchObject({ isTaken: true, waitMs: expect.closeTo(0, -1) });
});

test('a pause that the other system asks for holds for all', async () => {
  await pauseRequests(world.runtime, 'directory/paused', 60_000);
  // A shorter one does not end it.
  await pauseRequests(world.runtime, 'directory/paused', 1_000);
  await expect(takeSlot(world.runtime, 'directory/paused', { perSecond: 10 })).rejects.toMatchObject({
    code: 'rate_limited',
    retryAfterMs: expect.toSatisfy((pause: number) => pause > 50_000 && pause <= 60_000),
  });
  await takeSlot(world.runtime, 'directory/free', { perSecond: 1_000, cost: 2 });
});
