// Left to npm run prove; npm test has test/workflows/billing/payment-provider.test.ts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import type { BilledParty } from '#entities/billing/provider-state.ts';
import { FakePaymentProvider } from '../../kit/fakes/fake-payment-provider.ts';
import type { FakeRequest } from '../../kit/fakes/http-fake.ts';
import { startStripeMock } from '../../kit/servers/stripe-mock.ts';

// The fake decides what answers mean; the provider's own server knows which requests and fields there are.

const dayMs = 86_400_000;
let fake: FakePaymentProvider;
let mock: Awaited<ReturnType<typeof startStripeMock>>;

beforeAll(async () => {
  mock = await startStripeMock();
  fake = await FakePaymentProvider.start();
  await useEverything();
}, 1_200_000);
afterAll(async () => {
  await fake.close();
  await mock.stop();
});

/** Calls every method of the client, with customers, subscriptions and lists of all kinds. */
async function useEverything(): Promise<void> {
  const provider = new StripeProvider({ key: fake.apiKey, url: fake.url });
  const keys = Array.from({ length: 12 }, (_, n) => `module_${n}`);
  for (const lookupKey of keys) fake.desk.addPrice({ lookupKey, unitAmount: 100, interval: 'month' });
  const party: BilledParty = {
    organizationId: 'o1',
    name: 'Example',
    email: 'billing@example.com',
    phone: '+1 555 0100',
    address: { line1: '1 Way', line2: null, city: 'Town', region: 'CA', postalCode: '1', country: 'US' },
    taxId: 'DE123456789',
  };
  const id = await provider.createCustomer(party, 'o1/customer/1');
  await provider.updateCustomer(id, { ...party, phone: null, address: null, taxId: null });
  for (let n = 2; n < 14; n += 1)
    await provider.createCustomer({ ...party, organizationId: `o${n}` }, `o${n}/customer/1`);
  await provider.findCustomers('o1', party.email);
  const endsAt = new Date(fake.ledger.now() + 30 * dayMs);
  await provider.startTrial(id, { organizationId: 'o1', lookupKeys: keys.slice(0, 3), endsAt }, 'o1/trial/1');
  const pages = { successUrl: 'https://console.example.com/a', cancelUrl: 'https://console.example.com/b' };
  const order = { organizationId: 'o1', number: 1, lookupKeys: keys.slice(0, 2), ...pages };
  fake.desk.pay(await provider.openCheckout(id, order, 'o1/checkout/1'));
  await provider.openCheckout(id, { ...order, number: 2 }, 'o1/checkout/2');
  await provider.expireCheckouts(id);
  await provider.openPortal(id, 'https://console.example.com');
  for (let n = 0; n < 11; n += 1) fake.desk.subscribe(id, keys);
  fake.desk.failNextPayments(id, 20);
  fake.advance(32 * dayMs, id);
  const { subscriptions } = await provider.readCustomer(id);
  const [first = { id: '' }] = subscriptions;
  await provider.setCancelAtPeriodEnd(first.id, true);
  await provider.setCancelAtPeriodEnd(first.id, false);
  await provider.cancelNow(first.id);
  fake.desk.setStatus(fake.desk.subscribe(id, keys).id, 'past_due');
  await provider.readCustomer(id);
  await provider.registerWebhook('https://api.example.com/v1/payment/webhook', '2026_02_25_CLOVER', ['invoice.paid']);
  await provider.webhookEndpoints();
}

/** Names of parameters, without numbers of lists and ids of pages: what makes two requests alike. */
const formOf = ({ method, path, query, body }: FakeRequest): string =>
  [
    method,
    path.replaceAll(/\/[a-z_]+_1Fake\d+/g, '/ID'),
    ...[...query.keys(), ...new URLSearchParams(body).keys()]
      .map((name) => name.replaceAll(/\[\d+\]/g, '[]'))
      .toSorted(),
  ].join(' ');

/** One request of each form. */
const differentRequests = () => [...new Map(fake.requests.map((request) => [formOf(request), request])).values()];

const send = async (url: string, { method, path, query, headers, body }: FakeRequest) => {
  const answer = await fetch(`${url}${path}?${query}`, {
    method,
    headers: {
      authorization: headers.authorization ?? '',
      'content-type': headers['content-type'] ?? '',
      'stripe-version': String(headers['stripe-version']),
    },
    ...(method === 'POST' ? { body } : {}),
  });
  return { status: answer.status, body: (await answer.json()) as unknown };
};

describe('the provider’s own server', () => {
  test('accepts every request that the client makes', async () => {
    const refused: object[] = [];
    for (const request of differentRequests()) {
      const { status, body } = await send(mock.url, request);
      if (status !== 200) refused.push({ request: formOf(request), status, body });
    }
    expect(refused).toEqual([]);
    const paths = new Set(differentRequests().map((request) => formOf(request).split(' ').slice(0, 2).join(' ')));
    expect([...paths].toSorted()).toEqual([
      'DELETE /v1/subscriptions/ID',
      'GET /v1/checkout/sessions',
      'GET /v1/customers',
      'GET /v1/customers/ID',
      'GET /v1/customers/ID/payment_methods',
      'GET /v1/customers/search',
      'GET /v1/invoices',
      'GET /v1/prices',
      'GET /v1/subscription_items',
      'GET /v1/subscriptions',
      'GET /v1/subscriptions/ID',
      'GET /v1/webhook_endpoints',
      'POST /v1/billing_portal/sessions',
      'POST /v1/checkout/sessions',
      'POST /v1/checkout/sessions/ID/expire',
      'POST /v1/customers',
      'POST /v1/customers/ID',
      'POST /v1/subscriptions',
      'POST /v1/subscriptions/ID',
      'POST /v1/webhook_endpoints',
    ]);
  });

  test('refuses what is wrong, so that accepting says something', async () => {
    const create = differentRequests().find(({ method, path }) => method === 'POST' && path === '/v1/subscriptions');
    if (!create) throw new Error('nothing was subscribed to');
    const statusOf = async (more: string) =>
      (await send(mock.url, { ...create, body: `${create.body}&${more}` })).status;
    expect(await statusOf('description=All')).toBe(200);
    expect(await statusOf('billing_modes[type]=flexible')).toBe(400);
    expect(await statusOf('payment_settings[save_default_payment_method]=sometimes')).toBe(400);
  });

  test('has every field that the fake answers with', async () => {
    const unknown = new Set<string>();
    for (const request of differentRequests()) {
      const [real, ours] = [await send(mock.url, request), await send(fake.url, request)];
      if (ours.status === 200)
        for (const path of surplus(ours.body, real.body)) unknown.add(`${formOf(request)}: ${path}`);
    }
    // Its examples leave out what only some answers have.
    expect([...unknown]).toEqual([
      'GET /v1/customers/search limit query: .next_page',
      'POST /v1/webhook_endpoints api_version enabled_events[] url: .secret',
    ]);
  });

  test('is read by the client', async () => {
    const provider = new StripeProvider({ key: 'sk_test_123', url: mock.url });
    const { isDeleted, subscriptions } = await provider.readCustomer('cus_1');
    expect([isDeleted, subscriptions.length > 0]).toEqual([false, true]);
    expect(subscriptions[0]?.periodEndsAt).toBeInstanceOf(Date);
    expect(await provider.openPortal('cus_1', 'https://console.example.com')).toMatch(/^https:/);
  });
});

/** Fields of a value that another one does not have, where both are objects. Names in metadata are free. */
function surplus(ours: unknown, real: unknown, path = ''): string[] {
  if (Array.isArray(ours) && Array.isArray(real)) return surplus(ours[0], real[0], `${path}[]`);
  if (!isObject(ours) || !isObject(real) || path.endsWith('.metadata')) return [];
  return Object.keys(ours).flatMap((name) =>
    name in real ? surplus(ours[name], real[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
