import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import {
  billingOf,
  customerOf,
  modulesOf,
  openReceivingWorld,
  sweepBilling,
  untilRead,
} from '../../kit/billing/reconciled-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPerson } from '../../kit/people.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({ environment: { CORE_BACKFILL_ENABLED: 'true' } });
});
afterAll(() => billed.close());

test('an organization from before billing gets its billing and one trial from a backfill', async () => {
  const { world, fake } = billed;
  const { organization } = await buildPerson(world);
  await asOwner(
    world,
    `with gone as (delete from organization_billings where organization_id = $1 returning id),
       announced as (delete from events where entity_id in (select id from gone))
     delete from history where entity_id in (select id from gone)`,
    [organization.id],
  );
  const worker = await world.startWorker();
  try {
    const changed = () =>
      asOwner<{ changed: string }>(
        world,
        `select changed_records as changed from backfill_runs where routine = 'billing-rows' and status = 'completed'`,
      );
    expect(await eventually(async () => (await changed())[0])).toEqual({ changed: '1' });
    expect(await billingOf(billed, organization.id)).toMatchObject({ trialEndsAt: null, customerId: null });
    // The first reading begins the trial; those after it find it.
    await sweepBilling(billed, 'sweep-entitlements');
    const customer = await customerOf(billed, organization.id);
    await untilRead(billed, organization.id);
    const { trialEndsAt, appliedRound } = await billingOf(billed, organization.id);
    expect(trialEndsAt?.getTime()).toBeGreaterThan(world.clock.now().getTime());
    expect(await modulesOf(billed, organization.id)).toEqual(
      expect.arrayContaining([expect.stringMatching(/:trial$/)]),
    );
    world.clock.advance(86_400_000);
    await sweepBilling(billed, 'compare-billing');
    await untilRead(billed, organization.id, appliedRound);
    expect(fake.desk.customersOf(organization.id)).toHaveLength(1);
    expect(fake.ledger.subscriptionsOf(customer)).toHaveLength(1);
    expect((await billingOf(billed, organization.id)).trialEndsAt).toEqual(trialEndsAt);
  } finally {
    await worker.stop();
  }
});
