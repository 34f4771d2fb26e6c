import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import { organizationBilling, organizationModule } from '#entities/index.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import {
  buildPayer,
  openBilledWorld,
  returnPages,
  storeSubscription,
  type BilledWorld,
  type Payer,
} from '../../kit/billing/paying-organization.ts';
import { timesOf } from '../../kit/depth.ts';
import { eventually } from '../../kit/eventually.ts';
import { expectProblem, fieldProblems, messageOf } from '../../kit/expect-problem.ts';
import { buildPart, buildPerson, signedIn } from '../../kit/people.ts';
import { shows } from '../../kit/shows.ts';
import type { TestAnswer, TestClient } from '../../kit/test-client.ts';

let billed: BilledWorld;
let payer: Payer;
beforeAll(async () => {
  billed = await openBilledWorld();
});
afterAll(() => billed.close());
beforeEach(async () => {
  billed.fake.behaveWell();
  payer = await buildPayer(billed);
});

const order = { prices: ['sandbox_compliance_month', 'sandbox_trust_center_month'] };
const checkout = (client: TestClient, body: object = order) => client.post('/v1/billing/checkout', body);
const checkoutsOf = ({ customerId }: Payer) =>
  [...billed.fake.ledger.checkouts.values()].filter(({ customer }) => customer === customerId);
const announced = async ({ organization }: Payer) =>
  (
    await asOwner<{ change: string }>(
      billed.world,
      `select payload ->> 'change' as change from events where topic = 'organization_billing.requested' and organization_id = $1 order by id`,
      [organization.id],
    )
  ).map(({ change }) => change);

describe('the catalogue', () => {
  test('lists what the organization can order, with prices', async () => {
    const { status, body } = await payer.client.get('/v1/billing/catalogue');
    expect(status).toBe(200);
    const names = body.data.map(({ name }: { name: string }) => name);
    expect(names).toEqual(expect.arrayContaining(['compliance', 'trust_center', 'policy_management']));
    expect(names).not.toContain('vulnerability_management');
    expect(body.data.find(({ name }: { name: string }) => name === 'compliance')).toMatchObject({
      kind: 'module',
      module: 'compliance',
      prices: [
        { lookup_key: 'sandbox_compliance_month', interval: 'month', unit_amount: 45_000, currency: 'usd' },
        { lookup_key: 'sandbox_compliance_year', interval: 'year' },
      ],
    });
  });

  test('has private products for those with whom they were agreed', async () => {
    await asSystem(billed.world, payer.organization.id, (data) =>
      data.create(organizationModule, { module: 'vulnerability_management', source: 'granted' }),
    );
    const { data } = await payer.client.graphql('{ billingCatalogue { name audience prices { lookupKey } } }');
    expect(data.billingCatalogue).toContainEqual(
      expect.objectContaining({ name: 'vulnerability_management', audience: 'PRIVATE' }),
    );
    expect((await checkout(payer.client, { prices: ['sandbox_vulnerability_management_month'] })).status).toBe(201);
  });

  test('is that of real payments without ormconfig.modules.usesandbox', async () => {
    shows('ormconfig.modules.usesandbox');
    const live = await billed.world.openInstance({
      environment: { CORE_ORMCONFIG_MODULES_USESANDBOX: 'false' },
    });
    const { body } = await (await signedIn(live, payer)).get('/v1/billing/catalogue');
    expect(JSON.stringify(body)).toContain('"compliance_month"');
    expect(JSON.stringify(body)).not.toContain('sandbox');
  });
});

describe('the plan', () => {
  test('says what the organization has, from what source and until when', async () => {
    const { world } = billed;
    const end = new Date(world.clock.now().getTime() + 86_400_000);
    await storeSubscription(billed, payer, {
      externalId: 'sub_plan',
      status: 'active',
      interval: 'month',
      endsAt: end,
    });
    await storeSubscription(billed, payer, { externalId: 'sub_over', status: 'canceled', isActive: false });
    await asSystem(world, payer.organization.id, async (data) => {
      await data.create(organizationModule, { module: 'compliance', source: 'subscription' });
      await data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: end });
      const held = await data.findOne(organizationBilling, { organizationId: { eq: payer.organization.id } });
      await data.update(organizationBilling, held?.id ?? '', {
        hasPaymentMethod: true,
        problem: 'Settle this.',
        trialEndsAt: end,
      });
    });
    const { status, body } = await payer.client.get('/v1/billing/plan');
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        modules: [
          { module: 'compliance', source: 'subscription', ends_at: null },
          { module: 'registry', source: 'granted', ends_at: end.toISOString() },
        ],
        subscriptions: [{ status: 'active', interval: 'month', ends_at: end.toISOString(), cancels_at: null }],
        has_payment_method: true,
        is_lapsed: false,
        // The subscription has replaced the trial.
        trial_ends_at: null,
        problem: 'Settle this.',
      },
    });
    const { data } = await payer.client.graphql(
      '{ billingPlan { modules { module source } subscriptions { status } } }',
    );
    expect(data.billingPlan).toMatchObject({
      modules: [{ source: 'SUBSCRIPTION' }, {}],
      subscriptions: [{ status: 'active' }],
    });
  });

  test('of a part is that of the organization above', async () => {
    const part = await buildPart(billed.world, payer.organization.id);
    await payer.client.post('/v1/switch', { target_organization_id: part.id });
    const refused = await payer.client.get('/v1/billing/plan');
    expectProblem(refused, 'rule_violated');
    expectProblem(await checkout(payer.client), 'rule_violated');
  });
});

describe('a checkout', () => {
  test('opens a page for the order, which returns to the configured pages', async () => {
    shows('subscription.paymentcancellationreturnurl');
    shows('subscription.privatepaymentkey');
    const { status, body } = await checkout(payer.client);
    expect(status).toBe(201);
    const [opened, ...others] = checkoutsOf(payer);
    expect(others).toEqual([]);
    expect(body).toEqual({ url: `${billed.fake.url}/checkout/${opened?.id}` });
    expect(opened).toMatchObject({
      successUrl: `${returnPages.success}&paymentupdate=complete`,
      cancelUrl: returnPages.cancelled,
    });
    expect(opened?.items).toHaveLength(2);
  });

  test('is the same for the same order, and another one for another order or after a subscription', async () => {
    const first = await checkout(payer.client);
    expect((await checkout(payer.client, { prices: order.prices.toReversed() })).body).toEqual(first.body);
    const other = await checkout(payer.client, { prices: ['sandbox_compliance_year'] });
    const again = await checkout(payer.client);
    await storeSubscription(billed, payer, { externalId: 'sub_once', status: 'canceled', isActive: false });
    const later = await checkout(payer.client);
    expect((await checkout(payer.client)).body).toEqual(later.body);
    // A page closes after a day.
    billed.world.clock.advance(43_200_000);
    const next = await checkout(await signedIn(billed.world, payer));
    expect(new Set([first, other, again, later, next].map(({ body }) => body.url)).size).toBe(5);
  });

  test('beside a subscription is refused; beside the trial it is not', async () => {
    await storeSubscription(billed, payer, { externalId: 'sub_trial', status: 'trialing', isTrialOfServer: true });
    expect((await checkout(payer.client)).status).toBe(201);
    await storeSubscription(billed, payer, { externalId: 'sub_live', status: 'past_due' });
    const refused = await checkout(payer.client);
    expectProblem(refused, 'subscription_exists');
    expect(messageOf(refused)).toContain('past_due');
  });

  test('closes the page of another order', async () => {
    const first = await checkout(payer.client);
    const second = await checkout(payer.client, { prices: ['sandbox_compliance_year'] });
    const { desk } = billed.fake;
    const statuses = [first, second].map(({ body }) => desk.checkout(body.url.split('/').at(-1)).status);
    expect(statuses).toEqual(['expired', 'open']);
  });

  test('closes its page again when an earlier one is paid while it opens', async () => {
    const first = await checkout(payer.client);
    const { desk } = billed.fake;
    const idOf = ({ body }: TestAnswer) => body.url.split('/').at(-1) as string;
    const opening = vi.spyOn(StripeProvider.prototype, 'openCheckout');
    opening.mockImplementationOnce((...order) => {
      desk.pay(idOf(first));
      opening.mockRestore();
      const provider = billed.world.runtime.payment();
      return provider ? provider.openCheckout(...order) : Promise.reject(new Error('billing is off'));
    });
    expectProblem(await checkout(payer.client, { prices: ['sandbox_compliance_year'] }), 'subscription_exists');
    expect(checkoutsOf(payer).map(({ status }) => status)).toEqual(['complete', 'expired']);
  });

  test('beside a subscription of which the server does not know yet is refused', async () => {
    billed.fake.desk.addCard(payer.customerId);
    billed.fake.desk.subscribe(payer.customerId, ['sandbox_compliance_month']);
    expectProblem(await checkout(payer.client), 'subscription_exists');
    expect(checkoutsOf(payer)).toEqual([]);
  });

  test('of a price that another has replaced gets another page', async () => {
    const prices = ['sandbox_policy_management_month'];
    const first = await checkout(payer.client, { prices });
    const { ledger, desk } = billed.fake;
    const old = [...ledger.prices.values()].find(({ lookupKey }) => lookupKey === prices[0]);
    if (!old) throw new Error('the price is not for sale');
    ledger.prices.delete(old.id);
    desk.addPrice({ ...old, id: ledger.newId('price') });
    const second = await checkout(payer.client, { prices });
    expect([second.status, second.body.url === first.body.url]).toEqual([201, false]);
  });

  test('beside a trial that has become a subscription is refused', async () => {
    await storeSubscription(billed, payer, { externalId: 'sub_kept', status: 'active', isTrialOfServer: true });
    expectProblem(await checkout(payer.client), 'subscription_exists');
  });

  test.each([
    ['a foreign price', { prices: ['compliance_month'] }, '/prices/0'],
    [
      'a price that is not offered',
      { prices: ['sandbox_compliance_month', 'sandbox_vulnerability_management_month'] },
      '/prices/1',
    ],
    ['two intervals', { prices: ['sandbox_compliance_month', 'sandbox_trust_center_year'] }, '/prices'],
    ['a product twice', { prices: ['sandbox_compliance_month', 'sandbox_compliance_month'] }, '/prices'],
    ['free prices only', { prices: ['sandbox_base_month'] }, '/prices'],
    ['nothing', { prices: [] }, '/prices'],
    ['a quantity', { ...order, quantity: 0 }, '/quantity'],
    ['a return URL', { ...order, success_url: 'https://evil.example' }, '/success_url'],
    ['another return URL', { ...order, cancel_url: 'https://evil.example' }, '/cancel_url'],
  ])('with %s is refused by name', async (_what, body, path) => {
    const refused = await checkout(payer.client, body);
    expectProblem(refused, 'invalid_input');
    expect(fieldProblems(refused)).toMatchObject([{ path }]);
    expect(checkoutsOf(payer)).toEqual([]);
  });

  test('T-71: has one page, however many ask at the same time', async () => {
    const second = await billed.world.openInstance();
    const clients = [payer.client, await signedIn(second, payer)];
    for (let round = 0; round < timesOf({ sample: 1, prove: 20 }); round++) {
      const one = await buildPayer(billed);
      clients.splice(0, 2, one.client, await signedIn(second, one));
      const answers = await Promise.all(Array.from({ length: 50 }, (_none, index) => checkout(clients[index % 2]!)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
      expect(new Set(answers.map(({ body }) => body.url)).size).toBe(1);
      expect(checkoutsOf(one)).toHaveLength(1);
    }
  });

  test('holds no transaction open while the provider is asked', async () => {
    billed.fake.behave('silent', { path: '/v1/checkout' });
    const asked = checkout(payer.client);
    await eventually(() =>
      billed.fake.requests.some(
        ({ path, body }) => path === '/v1/checkout/sessions' && body.includes(payer.customerId),
      ),
    );
    const open = await asOwner(
      billed.world,
      `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`,
    );
    expect(open).toEqual([]);
    expectProblem(await asked, 'payment_unavailable');
  });

  test('works over GraphQL, alone in its operation', async () => {
    const { data } = await payer.client.graphql(
      'mutation ($prices: [String!]!) { openCheckout(prices: $prices) { url } }',
      order,
    );
    expect(data.openCheckout.url).toBe((await checkout(payer.client)).body.url);
    const { errors } = await payer.client.graphql(
      'mutation { openBillingPortal { url } cancelSubscription { endsAt } }',
    );
    expect(errors[0].extensions.code).toBe('invalid_input');
  });
});

describe('the payment provider', () => {
  test.each(['page', 'half', 'cut', 'foreign', 'fail'] as const)(
    'that fails (%s) is asked again later',
    async (behaviour) => {
      billed.fake.behave(behaviour, { path: '/v1/checkout' });
      const away = await checkout(payer.client);
      expectProblem(away, 'payment_unavailable');
      expect(Number(away.headers['retry-after'])).toBeGreaterThan(0);
      // Also after a failure that the provider has recorded under the key.
      expect((await checkout(payer.client)).status).toBe(201);
    },
  );

  test('says itself when it can be asked again', async () => {
    billed.fake.behave('limit', { path: '/v1/billing_portal' });
    const away = await payer.client.post('/v1/billing/portal');
    expectProblem(away, 'payment_unavailable');
    expect(away.headers['retry-after']).toBe('2');
  });

  test.each(['decline', 'missing'] as const)('that refuses (%s) is not asked again', async (behaviour) => {
    billed.fake.behave(behaviour, { path: '/v1/billing_portal' });
    expectProblem(await payer.client.post('/v1/billing/portal'), 'payment_refused');
  });

  test('gets an organization that it does not know', async () => {
    const person = await buildPerson(billed.world);
    const away = await checkout(await signedIn(billed.world, person));
    expectProblem(away, 'payment_unavailable');
    expect(await announced({ ...payer, organization: person.organization })).toEqual(['customer']);
  });
});

test('the billing portal returns to the page of the plan', async () => {
  const { status, body } = await payer.client.post('/v1/billing/portal');
  expect(status).toBe(201);
  const [id = ''] = body.url.split('/').slice(-1);
  expect(billed.fake.ledger.portals.get(id)).toMatchObject({
    customer: payer.customerId,
    returnUrl: `${returnPages.success}&paymentupdate=complete`,
  });
});

describe('a subscription', () => {
  /** A subscription that is paid for, at the provider and in our rows. */
  async function subscribed(): Promise<string> {
    const { fake } = billed;
    fake.desk.addCard(payer.customerId);
    const { id, periodEnd } = fake.desk.subscribe(payer.customerId, order.prices);
    await storeSubscription(billed, payer, { externalId: id, status: 'active', endsAt: new Date(periodEnd) });
    return id;
  }

  test('is cancelled at the end of its period, and continues when that is taken back', async () => {
    const id = await subscribed();
    const { periodEnd } = billed.fake.desk.subscription(id);
    const cancelled = await payer.client.post('/v1/billing/cancel');
    expect(cancelled).toMatchObject({ status: 200, body: { ends_at: new Date(periodEnd).toISOString() } });
    expect(billed.fake.desk.subscription(id)).toMatchObject({ status: 'active', isCancelledAtPeriodEnd: true });
    const { data } = await payer.client.graphql('mutation { resumeSubscription { endsAt } }');
    expect(data.resumeSubscription.endsAt).toBe(cancelled.body.ends_at);
    expect(billed.fake.desk.subscription(id).isCancelledAtPeriodEnd).toBe(false);
    expect(cancelled.body.cancels_at).toBe(cancelled.body.ends_at);
    // Before the provider was asked, and after its answer.
    expect(await announced(payer)).toEqual(['cancel', 'cancel', 'resume', 'resume']);
  });

  test('is cancelled also when the provider refuses that for another one, and the answer says how many', async () => {
    const [first, second] = [await subscribed(), await subscribed()];
    billed.fake.behave('decline', { method: 'POST', path: `/v1/subscriptions/${second}` });
    const partial = await payer.client.post('/v1/billing/cancel');
    expectProblem(partial, 'payment_refused');
    expect(messageOf(partial)).toContain('1 of 2 subscriptions');
    expect(billed.fake.desk.subscription(first).isCancelledAtPeriodEnd).toBe(true);
    expect(billed.fake.desk.subscription(second).isCancelledAtPeriodEnd).toBe(false);
    expect(await announced(payer)).toEqual(['cancel', 'cancel']);
  });

  test('T-71: is cancelled once, however many ask at the same time', async () => {
    const id = await subscribed();
    const answers = await Promise.all(Array.from({ length: 50 }, () => payer.client.post('/v1/billing/cancel')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(billed.fake.desk.subscription(id)).toMatchObject({ status: 'active', isCancelledAtPeriodEnd: true });
    expect(billed.fake.ledger.subscriptionsOf(payer.customerId)).toHaveLength(1);
  });

  test('that is none cannot be cancelled', async () => {
    await storeSubscription(billed, payer, { externalId: 'sub_ended', status: 'canceled' });
    for (const path of ['cancel', 'resume'])
      expectProblem(await payer.client.post(`/v1/billing/${path}`), 'rule_violated');
  });
});

describe('who decides', () => {
  const acts = ['checkout', 'portal', 'cancel', 'resume'];
  const send = (client: TestClient, act: string) =>
    client.post(`/v1/billing/${act}`, act === 'checkout' ? order : undefined);

  test.each([
    ['super_admin', 200, false],
    ['admin', 200, true],
    ['member', 403, true],
    ['auditor', 403, true],
  ] as const)('%s', async (role, view, isRefused) => {
    const { organization } = payer;
    const client = await signedIn(billed.world, await buildPerson(billed.world, { organization, role }));
    expect((await client.get('/v1/billing/plan')).status).toBe(view);
    for (const act of acts) {
      const { status } = await send(client, act);
      if (isRefused) expect(status, act).toBe(403);
      else expect(status, act).not.toBe(403);
    }
  });

  test('nobody, while subscription.enabled is off', async () => {
    shows('subscription.enabled');
    const off = await billed.world.openInstance({ environment: { CORE_SUBSCRIPTION_ENABLED: 'false' } });
    const client = await signedIn(off, payer);
    expectProblem(await client.get('/v1/billing/plan'), 'billing_disabled');
    for (const act of acts) expectProblem(await send(client, act), 'billing_disabled');
  });
});
