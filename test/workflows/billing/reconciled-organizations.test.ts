import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { organizationSubscription } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import {
  billingOf,
  customerOf,
  foundOnTrial,
  modulesOf,
  openReceivingWorld,
  untilSettled,
} from '../../kit/billing/reconciled-organization.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { eventually } from '../../kit/eventually.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
});
afterAll(() => billed.close());

const onTrial = ['compliance:trial', 'registry:trial', 'trust_center:trial'];

/** An organization whose customer has the trial at the provider. */
async function organizationOnTrial(): Promise<{ readonly id: string; readonly customer: string }> {
  const { organization } = await foundOnTrial(billed);
  const customer = await customerOf(billed, organization.id);
  await eventually(async () => (await billingOf(billed, organization.id)).reconciledAt !== null);
  return { id: organization.id, customer };
}

/** Sends the events of the provider. */
const deliver = () => billed.fake.events.send();

describe('a new organization', () => {
  test('has its modules at once, and one customer with one trial soon after', async () => {
    const { organization } = await foundOnTrial(billed);
    expect(await modulesOf(billed, organization.id)).toEqual(onTrial);
    const customer = await customerOf(billed, organization.id);
    await untilSettled(billed, organization.id);
    const { desk, ledger } = billed.fake;
    expect(desk.customersOf(organization.id)).toHaveLength(1);
    expect(desk.customer(customer)).toMatchObject({ name: organization.name, email: expect.stringContaining('@') });
    const { trialEndsAt } = await billingOf(billed, organization.id);
    expect(ledger.subscriptionsOf(customer)).toMatchObject([
      {
        status: 'trialing',
        trialEnd: Math.floor((trialEndsAt?.getTime() ?? 0) / 1_000) * 1_000,
        withoutCard: 'cancel',
      },
    ]);
  });
});

describe('modules follow', () => {
  test('what is paid, upgrades, failed payments and their end, from the next event on', async () => {
    const { id, customer } = await organizationOnTrial();
    const { desk } = billed.fake;
    const [trial] = billed.fake.ledger.subscriptionsOf(customer);
    desk.addCard(customer);
    const paid = desk.subscribe(customer, ['sandbox_compliance_month']);
    desk.cancel(trial?.id ?? '');
    await deliver();
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).toEqual(['compliance:subscription']);
    expect(await billingOf(billed, id)).toMatchObject({ isLapsed: false, hasPaymentMethod: true, problem: null });

    desk.setItems(paid.id, ['sandbox_compliance_month', 'sandbox_trust_center_month']);
    await deliver();
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).toEqual(['compliance:subscription', 'trust_center:subscription']);

    desk.setStatus(paid.id, 'unpaid');
    await deliver();
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).toEqual([]);
    expect((await billingOf(billed, id)).isLapsed).toBe(true);

    desk.setStatus(paid.id, 'active');
    await deliver();
    await untilSettled(billed, id);
    expect((await billingOf(billed, id)).isLapsed).toBe(false);
  });

  test('a price, a status and a quantity that give nothing, which are reported', async () => {
    const { id, customer } = await organizationOnTrial();
    const { desk } = billed.fake;
    desk.addPrice({ lookupKey: 'somebody_elses', unitAmount: 100, interval: 'month' });
    desk.addCard(customer);
    const foreign = desk.subscribe(customer, ['somebody_elses', ['sandbox_compliance_month', 0]]);
    desk.setStatus(billed.fake.ledger.subscriptionsOf(customer).at(-1)?.id ?? '', 'hibernating');
    await deliver();
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).toEqual([]);
    const { problem } = await billingOf(billed, id);
    expect(problem).toContain('hibernating');
    expect(problem).toContain(`of the subscription ${foreign.id} is not in the catalogue`);
  });

  test('rows of subscriptions, prices and products, which are changed and not made anew', async () => {
    const { id, customer } = await organizationOnTrial();
    const before = await asSystem(billed.world, id, (data) => data.find(organizationSubscription, { limit: 10 }));
    billed.fake.desk.setCancelAtPeriodEnd(billed.fake.ledger.subscriptionsOf(customer)[0]?.id ?? '', true);
    await deliver();
    const after = await eventually(async () => {
      const [row] = await asSystem(billed.world, id, (data) => data.find(organizationSubscription, { limit: 10 }));
      return row?.cancelsAt && row;
    });
    expect(after.id).toBe(before[0]?.id);
    const prices = await asOwner<{ price: string; module: string | null }>(
      billed.world,
      `select r.lookup_key || ' ' || r.amount || ' ' || r.amount_currency as price, p.module from organization_products p
       join organization_prices r on r.id = p.price_id where p.organization_id = $1 and p.deleted_at is null order by 1`,
      [id],
    );
    expect(prices).toEqual([
      { price: 'sandbox_base_month 0.0000 usd', module: null },
      { price: 'sandbox_compliance_month 450.0000 usd', module: 'compliance' },
      { price: 'sandbox_registry_month 0.0000 usd', module: 'registry' },
      { price: 'sandbox_trust_center_month 300.0000 usd', module: 'trust_center' },
    ]);
  });
});
