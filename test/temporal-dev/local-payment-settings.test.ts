import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { loadConfiguration } from '#config/reading/load-configuration.ts';
import { localPayment, needsLocalPayment } from '#temporal-dev/product/local-payment.ts';
import { PersonalSettings, productEnvironment } from '#temporal-dev/product/product-environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'core-payment-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paymentUrl = 'http://127.0.0.1:4002';
const servers = {
  CORE_DB_PRIMARYDBSOURCE: 'postgres://localhost/core',
  CORE_JOBQUEUE_CONNECTIONURI: 'temporal://localhost:7233/default',
  CORE_AUTHZ_HOSTURL: 'http://localhost:8080',
};

/** The start of `npm start` with these settings. */
async function started(variables: Record<string, string>, content = 'server: {dev: true}') {
  const file = join(folder, 'core.yaml');
  writeFileSync(file, content);
  const own = { ...servers, ...variables };
  const personal = new PersonalSettings(own, file);
  const isLocal = needsLocalPayment(personal);
  const local = { apiPort: 4_000, metricsPort: 4_001, stateDir: folder, paymentUrl: isLocal ? paymentUrl : undefined };
  const environment = productEnvironment(own, personal, undefined, local);
  const { config } = await loadConfiguration({ directory: folder, file, environment, stateFolder: folder });
  return { isLocal, environment, config };
}

test('billing without a key gets a payment provider, and all that goes with it', async () => {
  const { isLocal, environment, config } = await started({ CORE_SUBSCRIPTION_ENABLED: 'true' });
  expect([isLocal, environment['PAYMENT_PROVIDER_URL']]).toEqual([true, paymentUrl]);
  expect(config.ormconfig.modules.usesandbox).toBe(true);
  expect(config.subscription).toMatchObject({
    privatepaymentkey: 'sk_test_local',
    paymentwebhooksecret: 'whsec_local',
    paymentwebhookurl: 'http://127.0.0.1:4000/v1/payment/webhook',
    paymentbillingportalsuccessurl: `${paymentUrl}/plan`,
    paymentcancellationreturnurl: `${paymentUrl}/plan`,
  });
});

test('the payment provider signs for the version that the API accepts', async () => {
  const file =
    'subscription: {enabled: true, paymentwebhookapiversion: V2, paymentwebhooksecrets: {V2: whsec_2}}\ndomain: example.com';
  const { config, environment } = await started({}, file);
  expect(config.subscription).toMatchObject({
    paymentbillingportalsuccessurl: expect.stringContaining('console.example.com'),
    paymentwebhookurl: 'http://127.0.0.1:4000/v1/payment/webhook',
  });
  const { args, environment: variables } = localPayment(config, 'http://127.0.0.1:4000', 4_002, environment);
  expect(args).toEqual(['--port', '4002', '--api', 'http://127.0.0.1:4000', '--version', 'V2']);
  expect(variables).toMatchObject({ FAKE_PAYMENT_KEY: 'sk_test_local', FAKE_PAYMENT_SECRET: 'whsec_2' });
});

test.each([
  ['without billing', {}],
  [
    'with a key',
    {
      CORE_SUBSCRIPTION_ENABLED: 'true',
      CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: 'sk_test_mine',
      CORE_DOMAIN: 'example.com',
    },
  ],
])('a start %s has none', async (_what, variables) => {
  const { isLocal, environment } = await started(variables);
  expect([isLocal, environment['PAYMENT_PROVIDER_URL']]).toEqual([false, undefined]);
});
