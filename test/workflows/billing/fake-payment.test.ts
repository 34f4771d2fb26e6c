import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import { hasPaymentSignature } from '#activities/clients/payment/payment-signature.ts';
import { FakePaymentProvider } from '../../kit/fakes/fake-payment-provider.ts';
import { WebhookSink } from '../../kit/fakes/webhook-sink.ts';
import { Random } from '../../kit/random.ts';

// The tests of billing rely on this.

const dayMs = 86_400_000;
const secret = 'whsec_of_the_test';
let fake: FakePaymentProvider;
let sink: WebhookSink;

beforeEach(async () => {
  fake = await FakePaymentProvider.start();
  sink = await WebhookSink.open();
  for (const lookupKey of ['small', 'large']) fake.desk.addPrice({ lookupKey, unitAmount: 900, interval: 'month' });
  fake.addEndpoint({ url: sink.url, secret, apiVersion: '2026-02-25.clover' });
});
afterEach(async () => {
  await fake.close();
  await sink.close();
});

const newCustomer = async (name = 'one') => {
  const provider = new StripeProvider({ key: fake.apiKey, url: fake.url });
  const party = { organizationId: name, name, email: `${name}@example.com`, phone: null, address: null, taxId: null };
  return provider.createCustomer(party, `${name}/customer/1`);
};
const types = () => fake.ledger.events.map(({ type }) => type);

test('a month with a refused card is past due, tried again, and repaired', async () => {
  const id = await newCustomer();
  fake.desk.addCard(id);
  const subscription = fake.desk.subscribe(id, ['small']);
  fake.desk.failNextPayments(id, 2);
  fake.advance(32 * dayMs);
  expect(subscription.status).toBe('past_due');
  fake.advance(4 * dayMs);
  expect(subscription.status).toBe('past_due');
  fake.advance(5 * dayMs);
  expect(subscription.status).toBe('active');
  expect(types().filter((type) => type.startsWith('invoice.'))).toEqual([
    'invoice.paid',
    'invoice.payment_failed',
    'invoice.payment_failed',
    'invoice.paid',
  ]);
});

test('half a year of one customer passes alone', async () => {
  const [one, other] = [await newCustomer('one'), await newCustomer('other')];
  for (const id of [one, other]) {
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['small']);
  }
  fake.advance(184 * dayMs, one);
  const invoices = (id: string) => [...fake.ledger.invoices.values()].filter(({ customer }) => customer === id).length;
  expect([invoices(one), invoices(other)]).toEqual([7, 1]);
});

test('a trial announces its end, and a paused one waits', async () => {
  const id = await newCustomer();
  const items = [{ price: [...fake.ledger.prices.keys()][0] ?? '', quantity: 1 }];
  const trialEnd = fake.ledger.now() + 30 * dayMs;
  fake.course.subscribe({ customer: id, items, trialEnd, withoutCard: 'pause', billingMode: 'flexible', metadata: {} });
  fake.advance(60 * dayMs);
  expect(types()).toEqual([
    'customer.created',
    'customer.subscription.created',
    'customer.subscription.trial_will_end',
    'customer.subscription.paused',
  ]);
});

describe('a page that curl posts to', () => {
  const post = (url: string, body: string) =>
    fetch(url, { method: 'POST', body: new URLSearchParams(body), redirect: 'manual' });

  test('says in a line what was done', async () => {
    const id = await newCustomer();
    const card = await post(`${fake.url}/portal/${id}`, 'action=add-card');
    expect([card.status, await card.text()]).toEqual([303, 'Done: add-card.\n']);
    const clock = await post(`${fake.url}/clock/${id}`, 'days=1');
    expect(await clock.text()).toMatch(/^The clock shows \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/);
  });

  test('leads from a paid checkout to the page that says so', async () => {
    const provider = new StripeProvider({ key: fake.apiKey, url: fake.url });
    const customer = await newCustomer();
    const order = {
      organizationId: 'one',
      number: 1,
      lookupKeys: ['small'],
      successUrl: `${fake.url}/plan?paymentupdate=complete`,
      cancelUrl: `${fake.url}/plan`,
    };
    const paid = await post(await provider.openCheckout(customer, order, 'one/checkout/1'), 'card=good');
    expect(await paid.text()).toBe(`Paid. The browser continues at ${order.successUrl}.\n`);
    expect(await (await fetch(paid.headers.get('location') ?? '')).text()).toContain('Payment update complete');
    expect(await (await fetch(order.cancelUrl)).text()).not.toContain('complete');
  });
});

describe('events', () => {
  test('are signed for the endpoint, and sent until they are acknowledged', async () => {
    await newCustomer();
    sink.answer = () => ({ status: 503 });
    await fake.events.send();
    sink.answer = () => ({ status: 200 });
    await fake.events.send();
    await fake.events.send();
    expect(fake.events.sent.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'customer.created 503',
      'customer.created 200',
    ]);
    const [message] = sink.received;
    const header = String(message?.headers['stripe-signature']);
    expect(hasPaymentSignature(message?.body ?? '', header, secret, fake.clock.now())).toBe(true);
  });

  test('are lost, doubled, late and in any order, as a test wants it', async () => {
    const id = await newCustomer();
    for (let n = 0; n < 100; n += 1) fake.desk.addCard(id);
    const random = new Random(1);
    await fake.events.send({ random, lost: 0.1, duplicated: 0.2, late: 0.1, isShuffled: true });
    const seen = fake.events.sent.map((event) => event.id);
    expect(fake.events.waiting).toBeGreaterThan(3);
    expect(seen.length).toBeGreaterThan(new Set(seen).size);
    expect(seen).not.toEqual(seen.toSorted());
    await fake.events.send();
    expect(new Set(fake.events.sent.map((event) => event.id)).size).toBeLessThan(101);
  });

  test('are written in the version of their endpoint', async () => {
    const id = await newCustomer();
    fake.desk.addCard(id);
    fake.desk.subscribe(id, ['small']);
    const created = fake.ledger.events.find(({ type }) => type === 'customer.subscription.created');
    if (!created) throw new Error('there is no event');
    const objectIn = (apiVersion: string | null) =>
      (JSON.parse(fake.events.bodyOf(created, { apiVersion })) as { data: { object: object } }).data.object;
    expect(objectIn(null)).toHaveProperty('current_period_end');
    expect(objectIn('2026-02-25.clover')).not.toHaveProperty('current_period_end');
  });
});
