import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { PaymentFailure } from '#activities/clients/payment/payment-failure.ts';
import type { PaymentProvider } from '#activities/clients/payment/payment-provider.ts';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import type { BilledParty } from '#entities/billing/provider-state.ts';
import { FakePaymentProvider } from '../../kit/fakes/fake-payment-provider.ts';
import { HttpFake } from '../../kit/fakes/http-fake.ts';
import type { PaymentBehaviour } from '../../kit/fakes/fake-payment/planned-failures.ts';

const dayMs = 86_400_000;
let fake: FakePaymentProvider;
let provider: PaymentProvider;
let number = 0;

beforeAll(async () => {
  fake = await FakePaymentProvider.start();
  provider = new StripeProvider(account());
  for (let n = 1; n <= 12; n += 1)
    fake.desk.addPrice({ lookupKey: `module_${n}`, unitAmount: n * 100, interval: 'month' });
  fake.desk.addPrice({ lookupKey: 'module_1_yearly', unitAmount: 1_000, interval: 'year' });
});
beforeEach(() => fake.behaveWell());
afterAll(() => fake.close());

const account = () => ({ key: fake.apiKey, url: fake.url });

const party = (more: Partial<BilledParty> = {}): BilledParty => ({
  organizationId: `org${(number += 1)}`,
  name: 'Example & Sons',
  email: `billing-${number}@example.com`,
  phone: '+1 555 0100',
  address: { line1: '1 Way', line2: null, city: 'Town', region: null, postalCode: '12345', country: 'US' },
  taxId: 'DE123456789',
  ...more,
});

const newCustomer = () => {
  const customer = party();
  return provider.createCustomer(customer, `${customer.organizationId}/customer/1`);
};

/** The failure of a request. */
async function failureOf(request: Promise<unknown>): Promise<PaymentFailure> {
  const failure = await request.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(failure).toBeInstanceOf(PaymentFailure);
  return failure as PaymentFailure;
}

describe('a customer', () => {
  test('has what the organization says, and no more what it removes', async () => {
    const billed = party();
    const id = await provider.createCustomer(billed, `${billed.organizationId}/customer/1`);
    expect(fake.ledger.customers.get(id)).toMatchObject({
      email: billed.email,
      name: billed.name,
      phone: billed.phone,
      address: { line1: '1 Way', line2: null, city: 'Town', postal_code: '12345', country: 'US' },
      metadata: { organization_id: billed.organizationId },
      invoiceFields: [{ name: 'Tax ID', value: 'DE123456789' }],
    });
    await provider.updateCustomer(id, { ...billed, name: 'Renamed', phone: null, address: null, taxId: null });
    expect(fake.ledger.customers.get(id)).toMatchObject({
      email: billed.email,
      name: 'Renamed',
      phone: null,
      address: null,
      invoiceFields: [],
    });
  });

  test('is one for each key', async () => {
    const billed = party();
    const ids = await Promise.all(
      [1, 2, 3].map(() => provider.createCustomer(billed, `${billed.organizationId}/customer/1`)),
    );
    expect(new Set(ids).size).toBe(1);
    expect(fake.desk.customersOf(billed.organizationId)).toHaveLength(1);
  });

  test('is found by its address at once, by the organization a minute later', async () => {
    const billed = party();
    const id = await provider.createCustomer(billed, `${billed.organizationId}/customer/1`);
    expect(await provider.findCustomers(billed.organizationId, billed.email)).toEqual([id]);
    expect(await provider.findCustomers(billed.organizationId, null)).toEqual([]);
    expect(await provider.findCustomers('another', billed.email)).toEqual([]);
    fake.advance(61_000);
    expect(await provider.findCustomers(billed.organizationId, null)).toEqual([id]);
  });

  test('is found behind a page of others with its address', async () => {
    const email = 'shared@example.com';
    const organizations = Array.from({ length: 12 }, () => party({ email }));
    const ids: string[] = [];
    for (const one of organizations) ids.push(await provider.createCustomer(one, `${one.organizationId}/customer/1`));
    expect(await provider.findCustomers(organizations[0]?.organizationId ?? '', email)).toEqual([ids[0]]);
  });

  test('that is deleted has nothing', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['module_1']);
    fake.desk.deleteCustomer(id);
    expect(await provider.readCustomer(id)).toEqual({
      isDeleted: true,
      organizationId: null,
      email: null,
      hasPaymentMethod: false,
      subscriptions: [],
    });
  });

  test('is missing by a name that the provider does not know', async () => {
    expect(await failureOf(provider.readCustomer('cus_other'))).toMatchObject({ reason: 'missing', status: 404 });
  });
});

describe('a subscription', () => {
  test('is read with its prices, its period and its payment method', async () => {
    const id = await newCustomer();
    expect(await provider.readCustomer(id)).toMatchObject({ hasPaymentMethod: false, subscriptions: [] });
    fake.desk.addCard(id);
    const kept = fake.desk.subscribe(id, ['module_2', ['module_3', 4]]);
    const { hasPaymentMethod, subscriptions } = await provider.readCustomer(id);
    expect(hasPaymentMethod).toBe(true);
    expect(subscriptions).toEqual([
      {
        id: kept.id,
        status: 'active',
        items: [
          expect.objectContaining({
            lookupKey: 'module_2',
            quantity: 1,
            unitAmount: 200,
            currency: 'usd',
            interval: 'month',
          }),
          expect.objectContaining({ lookupKey: 'module_3', quantity: 4, unitAmount: 300 }),
        ],
        trialEndsAt: null,
        periodEndsAt: inSeconds(kept.periodEnd),
        cancelsAt: null,
        endedAt: null,
        nextPaymentAttempt: null,
        daysUntilDue: null,
        created: inSeconds(kept.created),
        isTrialOfServer: false,
      },
    ]);
  });

  test('is read whole, with items and subscriptions after the tenth', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    const keys = Array.from({ length: 12 }, (_, n) => `module_${n + 1}`);
    for (let n = 0; n < 11; n += 1) fake.desk.subscribe(id, keys);
    const { subscriptions } = await provider.readCustomer(id);
    expect(subscriptions).toHaveLength(11);
    for (const { items } of subscriptions) expect(items.map(({ lookupKey }) => lookupKey)).toEqual(keys);
  });

  test('says while its payment fails when it is tried again, until it ends', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['module_1']);
    fake.desk.addCard(id, false);
    const read = async () => (await provider.readCustomer(id)).subscriptions[0];
    fake.advance(32 * dayMs, id);
    const failing = await read();
    expect(failing).toMatchObject({ status: 'past_due', endedAt: null });
    expect(failing?.nextPaymentAttempt?.getTime()).toBeGreaterThan(fake.ledger.now(id));
    fake.advance(20 * dayMs, id);
    const ended = await read();
    expect(ended).toMatchObject({ status: 'canceled', nextPaymentAttempt: null });
    expect(ended?.endedAt).toBeInstanceOf(Date);
  });

  test('with a status that nobody knows is read like the others', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.setStatus(fake.desk.subscribe(id, ['module_1']).id, 'hibernating');
    expect((await provider.readCustomer(id)).subscriptions).toMatchObject([{ status: 'hibernating' }]);
  });

  test('is cancelled at the end of its period, continued, and ended', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    const { id: subscription, periodEnd } = fake.desk.subscribe(id, ['module_1']);
    const read = async () => (await provider.readCustomer(id)).subscriptions[0];
    await provider.setCancelAtPeriodEnd(subscription, true);
    expect(await read()).toMatchObject({ status: 'active', cancelsAt: inSeconds(periodEnd) });
    await provider.setCancelAtPeriodEnd(subscription, false);
    expect(await read()).toMatchObject({ status: 'active', cancelsAt: null });
    for (let n = 0; n < 2; n += 1) {
      await provider.cancelNow(subscription);
      expect(await read()).toMatchObject({ status: 'canceled' });
    }
    await provider.cancelNow('sub_other');
    expect(await failureOf(provider.setCancelAtPeriodEnd(subscription, true))).toMatchObject({ reason: 'refused' });
  });
});

describe('a trial', () => {
  const trial = { organizationId: 'o', lookupKeys: ['module_1', 'module_2'] };
  const endsAt = () => new Date(fake.ledger.now() + 30 * dayMs);

  test('runs without a card, once for each key, and is cancelled at its end', async () => {
    const id = await newCustomer();
    const until = endsAt();
    for (let n = 0; n < 2; n += 1) await provider.startTrial(id, { ...trial, endsAt: until }, `${id}/trial/1`);
    const read = async () => (await provider.readCustomer(id)).subscriptions;
    expect(await read()).toMatchObject([
      { status: 'trialing', isTrialOfServer: true, trialEndsAt: inSeconds(until.getTime()), items: [{}, {}] },
    ]);
    expect(fake.ledger.subscriptionsOf(id)).toMatchObject([{ billingMode: 'flexible', withoutCard: 'cancel' }]);
    fake.advance(31 * dayMs, id);
    expect(await read()).toMatchObject([{ status: 'canceled' }]);
  });

  test('becomes a paid subscription when there is a card', async () => {
    const id = await newCustomer();
    await provider.startTrial(id, { ...trial, endsAt: endsAt() }, `${id}/trial/1`);
    fake.desk.addCard(id);
    fake.advance(31 * dayMs, id);
    expect((await provider.readCustomer(id)).subscriptions).toMatchObject([{ status: 'active' }]);
  });

  test('with a price that is not for sale is refused', async () => {
    const id = await newCustomer();
    const order = { ...trial, lookupKeys: ['module_1', 'sold_out'], endsAt: endsAt() };
    expect(await failureOf(provider.startTrial(id, order, `${id}/trial/1`))).toMatchObject({
      reason: 'refused',
      message: 'sells nothing under the lookup key sold_out',
    });
    expect(fake.ledger.subscriptionsOf(id)).toEqual([]);
  });
});

describe('sessions', () => {
  const order = {
    organizationId: 'o',
    number: 1,
    lookupKeys: ['module_1_yearly'],
    successUrl: 'https://console.example.com/billing?paymentupdate=complete',
    cancelUrl: 'https://console.example.com/billing',
  };

  test('a checkout is one page for each key, and its payment is a subscription', async () => {
    const id = await newCustomer();
    const url = await provider.openCheckout(id, order, `${id}/checkout/1`);
    expect(await provider.openCheckout(id, order, `${id}/checkout/1`)).toBe(url);
    expect(await (await fetch(url)).text()).toContain('module_1_yearly');
    const paid = await fetch(url, { method: 'POST', body: new URLSearchParams({ card: 'good' }), redirect: 'manual' });
    expect([paid.status, paid.headers.get('location')]).toEqual([303, order.successUrl]);
    expect(await provider.readCustomer(id)).toMatchObject({
      hasPaymentMethod: true,
      subscriptions: [{ status: 'active', items: [{ lookupKey: 'module_1_yearly', interval: 'year' }] }],
    });
  });

  test('checkouts of earlier orders are closed, or all; those that were paid stay paid', async () => {
    const id = await newCustomer();
    const open = (number: number) => provider.openCheckout(id, { ...order, number }, `${id}/checkout/${number}`);
    const urls: string[] = [];
    for (let number = 1; number <= 12; number += 1) urls.push(await open(number));
    const statuses = () => urls.map((url) => fake.desk.checkout(url.split('/').at(-1) ?? '').status);
    fake.desk.pay(urls[0] ?? '');
    await provider.expireCheckouts(id, 12);
    expect(statuses()).toEqual(['complete', ...Array.from({ length: 10 }, () => 'expired'), 'open']);
    await provider.expireCheckouts(id);
    expect(statuses().at(-1)).toBe('expired');
    await provider.expireCheckouts(id);
  });

  test('a portal changes cards and cancels', async () => {
    const id = await newCustomer();
    const url = await provider.openPortal(id, order.cancelUrl);
    const press = (button: Record<string, string>) => fetch(url, { method: 'POST', body: new URLSearchParams(button) });
    expect(await (await press({ action: 'add-card' })).text()).toContain('good');
    expect(await provider.readCustomer(id)).toMatchObject({ hasPaymentMethod: true });
    const { id: subscription } = fake.desk.subscribe(id, ['module_1']);
    expect(await (await press({ cancel: subscription })).text()).toContain('Resume');
    await press({ action: 'remove-cards' });
    const { hasPaymentMethod, subscriptions } = await provider.readCustomer(id);
    expect([hasPaymentMethod, subscriptions[0]?.cancelsAt]).toEqual([false, expect.any(Date)]);
  });
});

test('prices are found by their names, more than a request may name', async () => {
  const keys = Array.from({ length: 12 }, (_, n) => `module_${n + 1}`);
  const found = await provider.prices([...keys, 'unknown']);
  expect(found.map(({ lookupKey }) => lookupKey).toSorted()).toEqual(keys.toSorted());
  expect(found[0]).toMatchObject({ unitAmount: 100, currency: 'usd', interval: 'month', isActive: true });
});

test('endpoints for events have a version by its name in the configuration, and a secret once', async () => {
  const url = 'https://api.example.com/v1/payment/webhook?api_version=2026_02_25_CLOVER';
  const { id, secret } = await provider.registerWebhook(url, '2026_02_25_CLOVER', ['invoice.paid']);
  expect(secret).toMatch(/^whsec_/);
  expect(fake.ledger.endpoints.get(id)).toMatchObject({ apiVersion: '2026-02-25.clover' });
  expect(await provider.webhookEndpoints()).toEqual([
    { id, url, apiVersion: '2026_02_25_CLOVER', isEnabled: true, events: ['invoice.paid'] },
  ]);
  fake.ledger.endpoints.clear();
});

describe('a failure', () => {
  const behaviours: readonly [PaymentBehaviour, Partial<PaymentFailure>][] = [
    ['decline', { reason: 'refused', status: 402, code: 'card_declined' }],
    ['missing', { reason: 'missing', status: 404 }],
    ['conflict', { reason: 'unavailable', status: 409 }],
    ['limit', { reason: 'unavailable', status: 429, retryAfterMs: 2_000 }],
    ['fail', { reason: 'unavailable', status: 500, isReplayed: false }],
    ['page', { reason: 'unavailable' }],
    ['foreign', { reason: 'unavailable' }],
    ['half', { reason: 'unavailable' }],
    ['cut', { reason: 'unavailable' }],
    ['silent', { reason: 'unavailable' }],
  ];
  /** Every method, with what it needs. */
  const methods: readonly (readonly [name: string, call: (id: string) => Promise<unknown>])[] = [
    ['readCustomer', (id) => provider.readCustomer(id)],
    ['findCustomers', () => provider.findCustomers('o', 'a@example.com')],
    ['createCustomer', () => provider.createCustomer(party(), `${number}/customer/1`)],
    ['updateCustomer', (id) => provider.updateCustomer(id, party())],
    [
      'startTrial',
      (id) =>
        provider.startTrial(
          id,
          { organizationId: 'o', lookupKeys: ['module_1'], endsAt: new Date(fake.ledger.now() + dayMs) },
          `${id}/trial/${(number += 1)}`,
        ),
    ],
    [
      'openCheckout',
      (id) =>
        provider.openCheckout(
          id,
          {
            organizationId: 'o',
            number: 1,
            lookupKeys: ['module_1'],
            successUrl: 'https://a.example',
            cancelUrl: 'https://a.example',
          },
          `${id}/checkout/${(number += 1)}`,
        ),
    ],
    ['expireCheckouts', (id) => provider.expireCheckouts(id)],
    ['openPortal', (id) => provider.openPortal(id, 'https://a.example')],
    ['prices', () => provider.prices(['module_1'])],
    ['webhookEndpoints', () => provider.webhookEndpoints()],
    ['registerWebhook', () => provider.registerWebhook('https://a.example', '2026_02_25_CLOVER', ['*'])],
    ['setCancelAtPeriodEnd', (id) => provider.setCancelAtPeriodEnd(fake.ledger.subscriptionsOf(id)[0]?.id ?? '', true)],
  ];

  test.each(methods)('of %s says what happened', async (_name, call) => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['module_1']);
    for (const [behaviour, expected] of behaviours) {
      fake.behave(behaviour);
      provider = new StripeProvider({ ...account(), timeoutMs: behaviour === 'silent' ? 300 : 20_000 });
      expect(await failureOf(call(id)), behaviour).toMatchObject(expected);
    }
    provider = new StripeProvider(account());
    await call(id);
  });

  test.each(['decline', 'limit', 'fail', 'page', 'half'] as const)('of cancelNow: %s', async (behaviour) => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    const { id: subscription } = fake.desk.subscribe(id, ['module_1']);
    fake.behave(behaviour);
    await failureOf(provider.cancelNow(subscription));
    await provider.cancelNow(subscription);
    expect((await provider.readCustomer(id)).subscriptions).toMatchObject([{ status: 'canceled' }]);
  });

  test('of the provider is repeated under its key for a day, not under the next key', async () => {
    const billed = party();
    const create = (generation: number) =>
      provider.createCustomer(billed, `${billed.organizationId}/customer/${generation}`);
    fake.behave('fail');
    expect(await failureOf(create(1))).toMatchObject({ reason: 'unavailable', isReplayed: false });
    expect(await failureOf(create(1))).toMatchObject({ reason: 'unavailable', isReplayed: true });
    expect(await create(2)).toMatch(/^cus_/);
  });

  test('says that a key belongs to another request', async () => {
    const billed = party();
    const create = (name: string) =>
      provider.createCustomer({ ...billed, name }, `${billed.organizationId}/customer/1`);
    await create('One');
    expect(await failureOf(create('Another'))).toMatchObject({
      reason: 'refused',
      code: 'idempotency_error',
      isReplayed: true,
    });
  });

  test('in the middle of reading a customer gives nothing, not a part', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['module_1']);
    for (const path of ['/v1/customers', `/v1/customers/${id}/payment_methods`, '/v1/subscriptions']) {
      fake.behave('half', { path });
      await failureOf(provider.readCustomer(id));
      fake.behave('foreign', { path });
      await failureOf(provider.readCustomer(id));
    }
  });

  test.each([
    ['repeats a page for ever', [{ id: 'we_1' }]],
    ['is empty, and says that there is more', []],
  ])('of a list that %s is no list', async (_what, data) => {
    const endless = await HttpFake.start(() => ({ status: 200, body: { object: 'list', data, has_more: true } }));
    const other = new StripeProvider({ key: fake.apiKey, url: endless.url });
    expect(await failureOf(other.webhookEndpoints())).toMatchObject({ reason: 'unavailable' });
    await endless.close();
  });

  test('has no secret in its text, and no more than its reason', async () => {
    const other = new StripeProvider({ key: 'sk_test_51SecretOfSomebody', url: fake.url });
    const failure = await failureOf(other.readCustomer('cus_1'));
    expect(failure).toMatchObject({ reason: 'refused', status: 401 });
    expect(JSON.stringify(failure) + failure.message + failure.stack).not.toMatch(/sk_test|Somebody|body/);
    expect(failure.cause).toBeUndefined();
  });

  test('is made by a provider that nobody reaches', async () => {
    const nowhere = new StripeProvider({ key: fake.apiKey, url: 'http://127.0.0.1:1' });
    expect(await failureOf(nowhere.readCustomer('cus_1'))).toMatchObject({ reason: 'unavailable', status: undefined });
  });
});

test('every request names one API version, and is made once', async () => {
  const before = fake.requests.length;
  fake.behave('fail');
  await failureOf(provider.prices(['module_1']));
  await provider.prices(['module_1']);
  expect(fake.requests).toHaveLength(before + 2);
  const versions = new Set(
    fake.requests.filter(({ path }) => path.startsWith('/v1/')).map(({ headers }) => headers['stripe-version']),
  );
  expect([...versions]).toEqual([expect.stringMatching(/^\d{4}-\d\d-\d\d\.[a-z]+$/)]);
});

function inSeconds(ms: number): Date {
  return new Date(Math.floor(ms / 1_000) * 1_000);
}

test('a subscription that is overdue without an unpaid invoice is read again, and then taken as it is', async () => {
  const id = await newCustomer();
  fake.desk.addCard(id);
  const subscription = fake.desk.subscribe(id, ['module_1']);
  fake.desk.setStatus(subscription.id, 'past_due');
  const before = fake.requests.length;
  expect((await provider.readCustomer(id)).subscriptions).toMatchObject([
    { status: 'past_due', nextPaymentAttempt: null },
  ]);
  const again = fake.requests.slice(before).filter(({ path }) => path === `/v1/subscriptions/${subscription.id}`);
  expect(again).toHaveLength(1);
});
