import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { organizationBilling, organizationModule, organizationSubscription } from '#entities/index.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { openBilledWorld, type BilledWorld } from '../kit/billing/paying-organization.ts';
import { markSince, settingsOf, unpaidOrganizations } from '../kit/billing/unpaid-organization.ts';
import { buildPart } from '../kit/people.ts';
import type { World } from '../kit/world.ts';

const dayMs = 86_400_000;

let billed: BilledWorld;
let world: World;
let id: string;
beforeAll(async () => {
  // It is broken on purpose, which the check at the end would rightly find.
  billed = await openBilledWorld({ skipVerify: true });
  ({ world } = billed);
});
afterAll(() => billed.close());
beforeEach(async () => {
  [id = ''] = await unpaidOrganizations(world, 1);
});

/** What is found about marks of the organization, in pages of one row. */
async function found(): Promise<string[]> {
  const lines = await verifyInstallation(world.runtime, { isQuiet: true, pageSize: 1 });
  return lines.filter(
    (line) => line.startsWith(`organization ${id} `) && / is marked | is deleted | has a deletion /.test(line),
  );
}

/** Records something after the mark, past the transaction that spares. */
const payments: Readonly<Record<string, (of: string) => Promise<unknown>>> = {
  'a payment method': (of) =>
    asSystem(world, of, async (data) => {
      const billing = await data.findOne(organizationBilling, {});
      await data.update(organizationBilling, billing?.id ?? '', { hasPaymentMethod: true });
    }),
  'a subscription': (of) =>
    asSystem(world, of, (data) =>
      data.create(organizationSubscription, { externalId: `sub_${of}`, status: 'active', isTrialOfServer: false }),
    ),
  'granted modules': (of) =>
    asSystem(world, of, (data) =>
      data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: null }),
    ),
};

test.each(Object.entries(payments))('a mark and %s of more than a day contradict each other', async (what, pay) => {
  await markSince(world, id, 3);
  expect(await found()).toEqual([]);
  await pay(id);
  // A sweep may spare it yet.
  expect(await found()).toEqual([]);
  world.clock.advance(dayMs + 1);
  const text = what === 'granted modules' ? 'an operator has granted modules' : `it has ${what}`;
  expect(await found()).toEqual([`organization ${id} is marked for deletion although ${text}`]);
  await settingsOf(world, id, { deletionRequesterId: 'owner' });
  expect(await found()).toEqual([`organization ${id} has a deletion that an owner has announced, but nothing is due`]);
});

test('a grant of an organization below a marked one contradicts the mark', async () => {
  const part = await buildPart(world, id);
  await markSince(world, id, 3);
  await payments['granted modules']?.(part.id);
  world.clock.advance(dayMs + 1);
  expect(await found()).toHaveLength(1);
});

test('the day of a deletion may become later than that of the notice, and not earlier', async () => {
  const { deletionNotBefore } = await markSince(world, id, 3);
  const day = deletionNotBefore?.getTime() ?? 0;
  await settingsOf(world, id, { deletionNotBefore: new Date(day + dayMs) });
  expect(await found()).toEqual([]);
  await settingsOf(world, id, { deletionNotBefore: new Date(day) });
  expect(await found()).toEqual([expect.stringContaining('but people were notified of')]);
  // A new mark has a day of its own.
  await settingsOf(world, id, { markedForDeletionAt: world.clock.now(), deletionNotBefore: new Date(day) });
  expect(await found()).toEqual([]);
  await asOwner(world, 'update organization_settings set deletion_not_before = null where organization_id = $1', [id]);
  expect(await found()).toEqual([`organization ${id} is marked for deletion without a day`]);
});
