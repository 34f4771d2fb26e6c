import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { configuredPayment } from '#activities/clients/payment/configured-payment.ts';
import { paymentWarnings } from '#api/payment-warnings.ts';
import { FakePaymentProvider } from '../../kit/fakes/fake-payment-provider.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

let fake: FakePaymentProvider;
let world: World;

beforeAll(async () => {
  fake = await FakePaymentProvider.start();
  world = await openWorld({
    payment: { url: fake.url },
    environment: {
      CORE_SUBSCRIPTION_ENABLED: 'true',
      CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: fake.apiKey,
      CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: 'https://console.example.com/plan',
      CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: 'https://console.example.com/plan',
      CORE_ORMCONFIG_MODULES_USESANDBOX: 'true',
    },
  });
});
afterAll(async () => {
  await world.close();
  await fake.close();
});

const ask = () => world.runtime.payment()?.prices(['module']);

test('the payment provider is asked with the key that is configured at the moment', async () => {
  shows('subscription.privatepaymentkey');
  expect(await ask()).toEqual([]);
  await world.reconfigure({ CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: 'sk_test_replaced' });
  await expect(ask()).rejects.toMatchObject({ reason: 'refused', status: 401 });
  await world.reconfigure({ CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: fake.apiKey });
  expect(await ask()).toEqual([]);
});

test('nobody pays while subscriptions are off', async () => {
  await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: 'false' });
  expect(world.runtime.payment()).toBeUndefined();
  await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: 'true' });
});

test('the key is sent to no other server unless server.dev is on', async () => {
  const hosts: string[] = [];
  vi.stubGlobal('fetch', async (input: string) => {
    hosts.push(new URL(input).hostname);
    throw new TypeError('not in a test');
  });
  const { server, subscription } = world.config.current;
  for (const dev of [true, false]) {
    const current = { server: { ...server, dev }, subscription };
    await expect(configuredPayment({ current }, { url: fake.url })()?.prices(['module'])).rejects.toThrow();
  }
  vi.unstubAllGlobals();
  expect(hosts).toEqual(['127.0.0.1', 'api.stripe.com']);
});

test('a test key without the sandbox catalog is worth a warning at the start', () => {
  const { ormconfig } = world.config.current;
  const subscription = { ...world.config.current.subscription, paymentwebhooksecret: 'whsec_1' };
  const withSandbox = (usesandbox: boolean) => ({ ...ormconfig, modules: { ...ormconfig.modules, usesandbox } });
  expect(paymentWarnings({ subscription, ormconfig: withSandbox(true) })).toEqual([]);
  expect(paymentWarnings({ subscription, ormconfig: withSandbox(false) })).toEqual([
    expect.stringContaining('is a test key'),
  ]);
  const live = { ...subscription, privatepaymentkey: 'rk_live_1' };
  expect(paymentWarnings({ subscription: live, ormconfig: withSandbox(false) })).toEqual([]);
  const off = { ...subscription, enabled: false };
  expect(paymentWarnings({ subscription: off, ormconfig: withSandbox(false) })).toEqual([]);
});

test('events that no secret proves, and types of events that nobody knows, are worth a warning at the start', () => {
  const { ormconfig } = world.config.current;
  const modules = { ...ormconfig.modules, usesandbox: true };
  const known = { ...world.config.current.subscription, paymentwebhooksecret: 'whsec_1' };
  const warned = (changes: object) =>
    paymentWarnings({ subscription: { ...known, ...changes }, ormconfig: { ...ormconfig, modules } });
  expect(warned({ paymentwebhookevents: ['invoice.paid'] })).toEqual([]);
  expect(warned({ paymentwebhookevents: ['invoice.paid', 'invoice.lost'] })).toEqual([
    expect.stringContaining('names invoice.lost'),
  ]);
  expect(warned({ paymentwebhooksecret: '' })).toEqual([expect.stringContaining('are empty')]);
  expect(warned({ paymentwebhooksecret: '', paymentwebhooksecrets: { next: 'whsec_2' } })).toEqual([]);
});
