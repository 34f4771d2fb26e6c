import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { integration } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { listBilling } from '#tools/commands/billing-list.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import {
  billingOf,
  differencesOf,
  modulesOf,
  openReceivingWorld,
  settledOrganization,
  sweepBilling,
  untilSettled,
} from '../../kit/billing/reconciled-organization.ts';
import { deliverPayment, paymentEvent } from '../../kit/billing/signed-payment-event.ts';
import { eventually } from '../../kit/eventually.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
});
afterAll(() => billed.close());

describe('what nobody reports', () => {
  test('an event that is lost is found when its period ends', async () => {
    const { id } = await settledOrganization(billed);
    billed.fake.advance(30 * 86_400_000);
    billed.fake.events.drop();
    expect(await differencesOf(billed, id)).not.toEqual([]);
    await sweepBilling(billed, 'sweep-entitlements');
    await untilSettled(billed, id);
    expect(await billingOf(billed, id)).toMatchObject({ isLapsed: true, differences: null });
  });

  test('while billing is off, what a lapse has disabled is restored', async () => {
    const { world, fake } = billed;
    const { id } = await settledOrganization(billed);
    const connected = await asSystem(world, id, (data) =>
      data.create(integration, { name: newId(), status: 'connected' }),
    );
    const statusNow = () => asSystem(world, id, async (data) => (await data.get(integration, connected.id)).status);
    fake.advance(30 * 86_400_000);
    await sweepBilling(billed, 'sweep-entitlements');
    await eventually(async () => (await statusNow()) === 'disabled');
    await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: 'false' });
    try {
      await sweepBilling(billed, 'sweep-entitlements');
      expect(await statusNow()).toBe('connected');
      expect(await billingOf(billed, id)).toMatchObject({ isLapsed: false });
    } finally {
      await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: 'true' });
    }
    await sweepBilling(billed, 'sweep-entitlements');
    await eventually(async () => (await billingOf(billed, id)).isLapsed);
  });

  test('rows that differ are named by verify and by the daily comparison, which repairs them', async () => {
    const { id } = await settledOrganization(billed);
    await asOwner(
      billed.world,
      `update organization_modules set module = 'risk_management' where organization_id = $1 and module = 'compliance'`,
      [id],
    );
    const line = 'The module compliance (trial) is missing.';
    const counted = vi.spyOn(billed.world.runtime.metrics, 'billingRepaired');
    expect(await verifyInstallation(billed.world.runtime, { isQuiet: false })).toContain(`organization ${id}: ${line}`);
    await sweepBilling(billed, 'compare-billing');
    await eventually(async () => (await billingOf(billed, id)).differences?.includes(line));
    await untilSettled(billed, id);
    expect(billed.world.logs).toContainEqual(
      expect.objectContaining({ organization_id: id, differences: expect.arrayContaining([line]) }),
    );
    // The module that was there for it is one, too.
    expect(counted.mock.calls).toContainEqual([2]);
    await sweepBilling(billed, 'compare-billing');
    await eventually(async () => (await billingOf(billed, id)).differences === null);
  });

  test('a customer that the provider does not know, or that is of another organization, changes no module', async () => {
    const one = await settledOrganization(billed);
    const other = await settledOrganization(billed);
    for (const [customer, problem] of [
      ['cus_unknown', 'No such customer'],
      [other.customer, 'was not created for this organization'],
    ] as const) {
      const before = await modulesOf(billed, one.id);
      const { drawnRound } = await billingOf(billed, one.id);
      // The row of the other one is out of the way.
      await asOwner(billed.world, `update organization_billings set customer_id = $2 where organization_id = $1`, [
        other.id,
        `cus_parked${newId()}`,
      ]);
      await asOwner(billed.world, 'update organization_billings set customer_id = $2 where organization_id = $1', [
        one.id,
        customer,
      ]);
      await sweepBilling(billed, 'compare-billing');
      await eventually(async () => (await billingOf(billed, one.id)).problem?.includes(problem));
      expect((await billingOf(billed, one.id)).drawnRound).toBeGreaterThan(drawnRound);
      expect(await modulesOf(billed, one.id)).toEqual(before);
    }
    for (const { id, customer } of [one, other])
      await asOwner(billed.world, 'update organization_billings set customer_id = $2 where organization_id = $1', [
        id,
        customer,
      ]);
    await sweepBilling(billed, 'compare-billing');
    for (const { id } of [one, other]) await eventually(async () => (await billingOf(billed, id)).problem === null);
  });

  test('an event about a customer of nobody has no effect but a line for operators', async () => {
    const event = paymentEvent('cus_of_nobody');
    expect((await deliverPayment(billed.world, JSON.stringify(event))).status).toBe(200);
    const line = `event ${String(event['id'])} (customer.subscription.updated): No organization has the customer cus_of_nobody.`;
    await eventually(async () => {
      const lines: string[] = [];
      await listBilling({ runtime: billed.world.runtime, print: (text) => lines.push(text) });
      return lines.includes(line);
    });
  });
});
