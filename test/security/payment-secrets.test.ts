import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildPayer, openBilledWorld, type BilledWorld, type Payer } from '../kit/billing/paying-organization.ts';
import { deliverPayment, paymentEvent } from '../kit/billing/signed-payment-event.ts';
import { databaseDump } from '../kit/database-dump.ts';
import { isSettled } from '../kit/events/event-fixtures.ts';
import { eventually } from '../kit/eventually.ts';
import { expectProblem } from '../kit/expect-problem.ts';
import { Canaries } from '../kit/fuzz/canaries.ts';
import { storedRuns } from '../kit/histories.ts';

// T-62: the keys of payments, and the addresses of pages on which anybody pays or changes a plan, are found nowhere afterwards.

const secrets = new Canaries('never-planted');
const webhookSecret = secrets.add('secret of the webhook', 'whsec_canaryOfTheWebhook');
const formerSecret = secrets.add('secret of the former webhook', 'whsec_canaryOfTheFormerWebhook');

let billed: BilledWorld;
let payer: Payer;
let metricsUrl: string;

beforeAll(async () => {
  billed = await openBilledWorld({
    worker: true,
    environment: {
      CORE_DB_DEBUG: 'true',
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: formerSecret,
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRETS: JSON.stringify({ '2026_02_25_CLOVER': webhookSecret }),
    },
  });
  ({ metricsUrl } = await billed.world.listen());
  secrets.add('key of the provider', billed.fake.apiKey);
  payer = await buildPayer(billed);
  await openPages();
  await failAtTheProvider();
  await receive();
  await useAnotherKey();
  await eventually(() => isSettled(billed.world));
});
afterAll(() => billed.close());

const checkout = (prices = ['sandbox_compliance_month']) => payer.client.post('/v1/billing/checkout', { prices });

async function openPages(): Promise<void> {
  const { body: first } = await checkout();
  secrets.add('page of a checkout', first.url);
  const { body: portal } = await payer.client.post('/v1/billing/portal');
  secrets.add('page of the portal', portal.url);
  const { data } = await payer.client.graphql('mutation { openBillingPortal { url } }');
  secrets.add('page of the portal over GraphQL', data.openBillingPortal.url);
  const selected = 'mutation { openCheckout(prices: ["sandbox_trust_center_month"]) { url } }';
  secrets.add('page of a checkout over GraphQL', (await payer.client.graphql(selected)).data.openCheckout.url);
}

/** The provider answers with its own words about a request, or with something else. */
async function failAtTheProvider(): Promise<void> {
  for (const behaviour of [
    'decline',
    'missing',
    'limit',
    'fail',
    'page',
    'foreign',
    'half',
    'done-then-fail',
  ] as const) {
    billed.fake.behave(behaviour, { path: '/v1/billing_portal' });
    expect((await payer.client.post('/v1/billing/portal')).status).toBeGreaterThanOrEqual(400);
  }
  billed.fake.behave('fail', { path: '/v1/checkout' });
  await checkout(['sandbox_trust_center_year']);
  secrets.add('page after a failure', (await checkout(['sandbox_trust_center_year'])).body.url);
}

/** Events arrive with a good signature, a wrong one, and with the secret in the wrong place. */
async function receive(): Promise<void> {
  const { world } = billed;
  const body = JSON.stringify(paymentEvent(payer.customerId));
  await deliverPayment(world, body, { secret: formerSecret });
  await deliverPayment(world, body, { secret: 'whsec_other' });
  await deliverPayment(world, body, { header: webhookSecret });
  const url = `/v1/payment/webhook?api_version=${encodeURIComponent(webhookSecret)}&secret=${formerSecret}`;
  await world.client().request({ method: 'POST', url, payload: body });
}

/** The provider repeats parts of a key that it does not know. */
async function useAnotherKey(): Promise<void> {
  const { world, fake } = billed;
  const key = secrets.add('key that is not valid', 'sk_test_canaryThatIsNotValid');
  await world.reconfigure({ CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: key });
  expectProblem(await payer.client.post('/v1/billing/portal'), 'payment_refused');
  await world.reconfigure({ CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: fake.apiKey });
}

describe('T-62: a secret of payments', () => {
  test('of every sort is planted', () => {
    expect(secrets.size).toBe(9);
  });

  test('is in no row', async () => {
    for (const [table, rows] of await databaseDump(billed.world))
      expect(secrets.in(rows.join('\n')), table).toEqual([]);
  });

  test('T-08: is in no log line', () => {
    const lines = billed.world.logs.map((line) => JSON.stringify(line));
    expect(lines.some((line) => line.includes('/v1/billing/portal'))).toBe(true);
    expect(lines.filter((line) => secrets.in(line).length > 0)).toEqual([]);
  });

  test('is in no workflow, not even after decryption', async () => {
    for (const { id, stored, decrypted } of await storedRuns(billed.world))
      expect(secrets.in(stored + decrypted), id).toEqual([]);
  });

  test('is in no metric', async () => {
    expect(secrets.in(await (await fetch(metricsUrl)).text())).toEqual([]);
  });

  test('is in no answer to somebody who asks for other things', async () => {
    const asked = [
      '/v1/billing/plan',
      '/v1/billing/catalogue',
      '/v1/organization-billings',
      '/v1/organization-subscriptions',
    ];
    for (const url of asked) expect(secrets.in(JSON.stringify((await payer.client.get(url)).body)), url).toEqual([]);
  });
});
