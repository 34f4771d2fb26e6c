import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cancelAll } from '#activities/billing/cancel-subscriptions.ts';
import { drawRound } from '#activities/billing/draw-round.ts';
import { writeRound } from '#activities/billing/write-round.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { integration } from '#entities/index.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import {
  billingOf,
  foundOnTrial,
  modulesOf,
  openReceivingWorld,
  customerOf,
  settledOrganization,
  sweepBilling,
  untilRead,
  untilSettled,
} from '../../kit/billing/reconciled-organization.ts';
import { sampleOf } from '../../kit/depth.ts';
import { buildPerson } from '../../kit/people.ts';
import { eventually } from '../../kit/eventually.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({
    worker: true,
    environment: { CORE_JOBQUEUE_QUEUECONF_RETRYPOLICY_INITIALINTERVAL: '20' },
  });
});
beforeEach(() => billed.fake.events.drop());
afterEach(() => billed.fake.behaveWell());
afterAll(() => billed.close());

const transact = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
  billed.world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

const subscriptionsOf = (customer: string) => billed.fake.ledger.subscriptionsOf(customer);

describe('one customer and one trial', () => {
  const failures = [
    ['the provider fails and records that', 'fail'],
    ['the provider creates it, and fails and records that', 'done-then-fail'],
    ['the provider creates it, and the answer is lost', 'done-then-cut'],
    ['the answer breaks off', 'half'],
    ['the connection is cut', 'cut'],
    ['a page comes in the place of the answer', 'page'],
    ['there are too many requests', 'limit'],
  ] as const;
  test.each(
    sampleOf('failures of creating requests', failures, {
      by: [([, behaviour]) => (/^(?:fail|done-then-fail|limit)$/.test(behaviour) ? behaviour : 'no answer')],
    }),
  )('when %s', async (_what, behaviour) => {
    billed.fake.behave(behaviour, { method: 'POST', path: '/v1/customers' });
    billed.fake.behave(behaviour, { method: 'POST', path: '/v1/subscriptions' });
    const { organization } = await foundOnTrial(billed);
    await customerOf(billed, organization.id);
    await untilRead(billed, organization.id);
    await untilSettled(billed, organization.id);
    const customers = billed.fake.desk.customersOf(organization.id);
    expect(customers).toHaveLength(1);
    expect(subscriptionsOf(customers[0]?.id ?? '')).toHaveLength(1);
    expect(await billingOf(billed, organization.id)).toMatchObject({ customerId: customers[0]?.id, problem: null });
  });

  test('none while the provider refuses the customer: the trial ends all the same, and later there is one', async () => {
    billed.fake.behave('decline', { method: 'POST', path: '/v1/customers', times: 100 });
    const { organization } = await foundOnTrial(billed);
    await untilRead(billed, organization.id);
    expect(await billingOf(billed, organization.id)).toMatchObject({
      customerId: null,
      billedAs: null,
      isLapsed: false,
      problem: expect.stringContaining('card_declined'),
    });
    expect(await modulesOf(billed, organization.id)).toContain('compliance:trial');
    billed.world.clock.advance(31 * 86_400_000);
    await sweepBilling(billed, 'sweep-entitlements');
    await eventually(async () => (await billingOf(billed, organization.id)).isLapsed);
    expect(await modulesOf(billed, organization.id)).toEqual([]);
    billed.fake.behaveWell();
    await sweepBilling(billed, 'compare-billing');
    await eventually(async () => (await billingOf(billed, organization.id)).customerId !== null);
    expect(billed.fake.desk.customersOf(organization.id)).toHaveLength(1);
  });

  test('no trial while the provider refuses it; later there is one', async () => {
    billed.fake.behave('decline', { method: 'POST', path: '/v1/subscriptions', times: 100 });
    const { organization } = await foundOnTrial(billed);
    await untilRead(billed, organization.id);
    expect((await billingOf(billed, organization.id)).problem).toContain('card_declined');
    expect(await modulesOf(billed, organization.id)).toContain('compliance:trial');
    billed.fake.behaveWell();
    billed.world.clock.advance(2 * 3_600_000);
    await sweepBilling(billed, 'sweep-entitlements');
    await eventually(async () => (await billingOf(billed, organization.id)).problem === null);
    const [customer] = billed.fake.desk.customersOf(organization.id);
    expect(subscriptionsOf(customer?.id ?? '')).toHaveLength(1);
  });

  test('also when an earlier reading has created the customer and died before its id was stored', async () => {
    const { id, customer } = await settledOrganization(billed);
    await asOwner(billed.world, 'update organization_billings set customer_id = null where organization_id = $1', [id]);
    // The provider has forgotten the key by then.
    billed.world.clock.advance(2 * 86_400_000);
    await sweepBilling(billed, 'compare-billing');
    await eventually(async () => (await billingOf(billed, id)).customerId === customer);
    expect(billed.fake.desk.customersOf(id)).toHaveLength(1);
    expect(subscriptionsOf(customer)).toHaveLength(1);
  });
});

test('a trial beside a subscription for a foreign price ends without a payment', async () => {
  const { id, customer } = await settledOrganization(billed);
  const { desk } = billed.fake;
  const { lookupKey } = desk.addPrice({ lookupKey: `foreign_${newId()}`, unitAmount: 500, interval: 'month' });
  desk.addCard(customer);
  desk.subscribe(customer, [lookupKey]);
  await sweepBilling(billed, 'compare-billing');
  await eventually(() =>
    subscriptionsOf(customer).some((one) => one.status === 'trialing' && one.isCancelledAtPeriodEnd),
  );
  expect(await modulesOf(billed, id)).toContain('compliance:trial');
});

test('a state is written although the provider fails on the change of a contact', async () => {
  const { id, customer } = await settledOrganization(billed);
  await asOwner(billed.world, `update organization_settings set tax_id = 'ATU1' where organization_id = $1`, [id]);
  billed.fake.behave('fail', { method: 'POST', path: `/v1/customers/${customer}`, times: 100 });
  billed.fake.desk.addCard(customer);
  billed.fake.desk.subscribe(customer, ['sandbox_compliance_month']);
  await sweepBilling(billed, 'compare-billing');
  await eventually(async () => (await modulesOf(billed, id)).includes('compliance:subscription'));
});

test('an organization that was there before billing was turned on begins its trial then', async () => {
  const { organization } = await buildPerson(billed.world);
  await sweepBilling(billed, 'sweep-entitlements');
  await untilRead(billed, organization.id);
  await untilSettled(billed, organization.id);
  const { trialEndsAt, isLapsed } = await billingOf(billed, organization.id);
  expect(isLapsed).toBe(false);
  expect(trialEndsAt?.getTime()).toBeGreaterThan(billed.world.clock.now().getTime() + 29 * 86_400_000);
  expect(await modulesOf(billed, organization.id)).toContain('compliance:trial');
});

test('a removal ends nothing of a customer of another organization, nor waits for one that is not there', async () => {
  const { id, customer } = await settledOrganization(billed);
  const provider = billed.world.runtime.payment();
  if (!provider) throw new Error('there is no provider');
  await cancelAll(provider, customer, newId());
  expect(subscriptionsOf(customer)).toMatchObject([{ status: 'trialing' }]);
  await cancelAll(provider, 'cus_unknown', id);
  await cancelAll(provider, customer, id);
  expect(subscriptionsOf(customer)).toMatchObject([{ status: 'canceled' }]);
});

describe('a reading', () => {
  test('that finds a subscription closes open checkouts, so that nobody pays twice', async () => {
    const { id, customer } = await settledOrganization(billed);
    const pages = { successUrl: 'https://a.example', cancelUrl: 'https://a.example' };
    const order = { organizationId: id, lookupKeys: ['sandbox_compliance_month'], ...pages };
    const open = async (number: number) =>
      (await billed.world.runtime.payment()?.openCheckout(customer, { ...order, number }, `${id}/test/${number}`)) ??
      '';
    const [first, second] = [await open(1), await open(2)];
    billed.fake.desk.pay(first);
    await billed.fake.events.send();
    await eventually(() => billed.fake.desk.checkout(second.split('/').at(-1) ?? '').status === 'expired');
    await untilSettled(billed, id);
  });

  test('that is older than one that was written is not written', async () => {
    const { id, customer } = await settledOrganization(billed);
    const provider = billed.world.runtime.payment();
    const older = await transact((unit) => drawRound(unit, id, sandboxCatalogue));
    const state = await provider?.readCustomer(customer);
    if (!older || !state) throw new Error('there is nothing to write');
    billed.fake.desk.cancel(subscriptionsOf(customer)[0]?.id ?? '');
    await billed.fake.events.send();
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).toEqual([]);
    const late = {
      organizationId: id,
      number: older.number,
      state,
      catalogue: sandboxCatalogue,
      problems: [],
      isComparison: false,
    };
    expect(await transact((unit) => writeRound(unit, late))).toBe('outdated');
    expect(await modulesOf(billed, id)).toEqual([]);
  });

  test('of a lapsed customer disables integrations that were created during the lapse', async () => {
    const { id, customer } = await settledOrganization(billed);
    billed.fake.desk.cancel(subscriptionsOf(customer)[0]?.id ?? '');
    await billed.fake.events.send();
    await eventually(async () => (await billingOf(billed, id)).isLapsed);
    await asSystem(billed.world, id, (data) => data.create(integration, { name: newId(), status: 'connected' }));
    await sweepBilling(billed, 'compare-billing');
    const status = () => asSystem(billed.world, id, async (data) => (await data.findOne(integration, {}))?.status);
    await eventually(async () => (await status()) === 'disabled');
  });

  test('of a provider that cannot be reached takes nothing away, and is repeated until it is back', async () => {
    const { id, customer } = await settledOrganization(billed);
    const before = await modulesOf(billed, id);
    billed.fake.desk.addCard(customer);
    for (const behaviour of ['fail', 'page', 'half', 'cut', 'limit'] as const)
      billed.fake.behave(behaviour, { method: 'GET', path: `/v1/customers/${customer}` });
    await billed.fake.events.send();
    await eventually(() => billed.fake.requests.filter(({ path }) => path.endsWith(customer)).length > 2);
    expect(await modulesOf(billed, id)).toEqual(before);
    await eventually(async () => (await billingOf(billed, id)).hasPaymentMethod);
    await untilSettled(billed, id);
  });

  test('of a customer that was deleted ends what it had, and makes another one with which the organization can pay', async () => {
    const { id, customer } = await settledOrganization(billed);
    billed.fake.desk.addCard(customer);
    billed.fake.desk.subscribe(customer, ['sandbox_risk_management_month']);
    await billed.fake.events.send();
    await eventually(async () => (await modulesOf(billed, id)).includes('risk_management:subscription'));
    billed.fake.desk.deleteCustomer(customer);
    await billed.fake.events.send();
    const next = await eventually(async () => {
      const { customerId } = await billingOf(billed, id);
      return customerId !== customer && customerId;
    });
    await untilSettled(billed, id);
    expect(await modulesOf(billed, id)).not.toContain('risk_management:subscription');
    billed.fake.desk.addCard(next);
    billed.fake.desk.subscribe(next, ['sandbox_compliance_year']);
    await billed.fake.events.send();
    await eventually(async () => (await modulesOf(billed, id)).includes('compliance:subscription'));
  });

  test('is shared by all wakes that wait for it', async () => {
    const { id, customer } = await settledOrganization(billed);
    const { drawnRound } = await billingOf(billed, id);
    for (let count = 0; count < 20; count++) billed.fake.desk.addCard(customer);
    await billed.fake.events.send(undefined, 10);
    await untilSettled(billed, id);
    await untilRead(billed, id, drawnRound);
    expect((await billingOf(billed, id)).drawnRound - drawnRound).toBeLessThan(15);
  });
});
