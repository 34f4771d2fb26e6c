// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { claimBatch, type ClaimedBatch } from '#entities/kit/outbox/outbox.ts';
import { asOwner } from '../kit/as-owner.ts';
import { announce, notingListener, type Announcement } from '../kit/events/event-fixtures.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
beforeAll(async () => {
  // Nobody but the tests claims, and what they claim they do not deliver: nothing for the check at the end.
  world = await openWorld({
    environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' },
    listeners: [notingListener('fair-claims', ['fair.happened'])],
    skipVerify: true,
  });
});
afterAll(() => world.close());

const events = (count: number, organizationId: string | null): Announcement[] =>
  Array.from({ length: count }, () => ({ topic: 'fair.happened', organizationId }));

function claim(afterTenant = ''): Promise<ClaimedBatch | undefined> {
  return world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    claimBatch(unit, 200, afterTenant),
  );
}

/** Events per organization in a batch. */
async function sharesIn(batch: ClaimedBatch | undefined): Promise<Map<string | null, number>> {
  const rows = await asOwner<{ organization: string | null; count: number }>(
    world,
    'select organization_id as organization, count(*)::int from events where batch_id = $1 group by 1',
    [batch?.batchId],
  );
  return new Map(rows.map((row) => [row.organization, row.count]));
}

async function claimAll(): Promise<number> {
  let batches = 0;
  for (let batch = await claim(); batch; batch = await claim(batch.lastTenant)) batches++;
  return batches;
}

test('an organization with a deep backlog does not make another wait', async () => {
  const [busy, late] = [newId(), newId()];
  await announce(world, events(3_000, busy));
  await announce(world, events(3, late));
  const shares = await sharesIn(await claim());
  expect(shares.get(late)).toBe(3);
  expect(shares.get(busy)).toBe(197);
  await claimAll();
});

test('events of no organization count as one, however many people they are about', async () => {
  const organization = newId();
  await announce(world, events(3_000, null));
  await announce(world, events(30, organization));
  const shares = await sharesIn(await claim());
  expect(shares.get(organization)).toBeGreaterThanOrEqual(20);
  await claimAll();
});

test('hundreds of waiting organizations all get their turn, the oldest first', async () => {
  const organizations = Array.from({ length: 300 }, () => newId());
  for (const organization of organizations) await announce(world, events(2, organization));
  const served = new Set<string | null>();
  let batches = 0;
  for (let batch = await claim(); batch && served.size < 300; batch = await claim(batch.lastTenant)) {
    batches++;
    for (const organization of (await sharesIn(batch)).keys()) served.add(organization);
  }
  expect(served.size).toBe(300);
  // 300 organizations at 50 a batch.
  expect(batches).toBeLessThanOrEqual(12);
  await claimAll();
});

test('a claim of everything leaves nothing and says so', async () => {
  await announce(world, events(5, newId()));
  expect(await claim()).toMatchObject({ count: 5, hasMore: false });
  expect(await claim()).toBeUndefined();
});
