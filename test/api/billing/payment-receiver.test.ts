import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { asOwner } from '../../kit/as-owner.ts';
import {
  deliverPayment,
  paymentEvent,
  paymentSecret,
  paymentSignature,
  type PaymentDelivery,
} from '../../kit/billing/signed-payment-event.ts';
import { seeded, timesOf } from '../../kit/depth.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { shows } from '../../kit/shows.ts';
import { recordTried } from '../../kit/tried.ts';
import { openWorld, type World } from '../../kit/world.ts';

const next = '2026-02-25.clover';
const former = '2025-12-15.clover';
const nextSecret = 'whsec_secret_of_the_next_version';

let world: World;
beforeAll(async () => {
  world = await openWorld({
    environment: {
      CORE_SUBSCRIPTION_ENABLED: 'true',
      CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: 'sk_test_of_the_receiver',
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: paymentSecret,
      CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: 'https://console.example.com/plan',
      CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: 'https://console.example.com/plan',
      CORE_ORMCONFIG_MODULES_USESANDBOX: 'true',
    },
  });
});
afterAll(() => world.close());

const stored = async (): Promise<string[]> => {
  const rows = await asOwner<{ id: string }>(
    world,
    `select external_id as id from webhook_events where provider = 'payment' order by webhook_events.id`,
  );
  return rows.map(({ id }) => id);
};
const announced = async (): Promise<number> =>
  (await asOwner(world, `select id from events where topic = 'webhook_event.received'`)).length;

const send = (event: object, delivery?: PaymentDelivery) => deliverPayment(world, JSON.stringify(event), delivery);

/** Expects that a delivery leaves nothing behind. */
async function expectNothingStored(deliver: () => Promise<unknown>): Promise<void> {
  const before = [await stored(), await announced()];
  await deliver();
  expect([await stored(), await announced()]).toEqual(before);
}

describe('an event of the payment provider', () => {
  test('is recorded once with its customer, and announced once', async () => {
    const event = paymentEvent('cus_recorded');
    const before = await announced();
    for (let round = 0; round < 3; round++) expect((await send(event)).status).toBe(200);
    expect((await stored()).filter((id) => id === event['id'])).toHaveLength(1);
    expect((await announced()) - before).toBe(1);
    const [found] = await asOwner<{ payload: object }>(
      world,
      `select payload from events where topic = 'webhook_event.received' order by id desc limit 1`,
    );
    expect(found?.payload).toMatchObject({ provider: 'payment', values: { customer: 'cus_recorded' } });
  });

  test.each([
    [
      'an expanded customer',
      { object: { object: 'invoice', customer: { id: 'cus_expanded', object: 'customer' } } },
      'cus_expanded',
    ],
    ['the customer itself', { object: { object: 'customer', id: 'cus_itself' } }, 'cus_itself'],
    [
      'a detached payment method',
      { object: { object: 'payment_method', customer: null }, previous_attributes: { customer: 'cus_former' } },
      'cus_former',
    ],
  ])('names its customer: %s', async (_what, data, customer) => {
    expect((await send(paymentEvent('', { data }))).status).toBe(200);
    const [found] = await asOwner<{ customer: string }>(
      world,
      `select payload -> 'values' ->> 'customer' as customer from events where topic = 'webhook_event.received' order by id desc limit 1`,
    );
    expect(found?.customer).toBe(customer);
  });

  test('T-94: that comes again after an hour, newly signed, has no second effect', async () => {
    const event = paymentEvent('cus_again');
    expect((await send(event)).status).toBe(200);
    world.clock.advance(3_600_000);
    await expectNothingStored(async () =>
      expect((await send({ ...event, type: 'customer.subscription.deleted' })).status).toBe(200),
    );
  });
});

describe('what nobody acts on is acknowledged, and nothing is stored', () => {
  test.each([
    ['a type that is not known', paymentEvent('cus_1', { type: 'charge.refunded' })],
    ['names of JavaScript as a type', paymentEvent('cus_1', { type: 'constructor' })],
    ['no customer', paymentEvent('', { data: { object: { object: 'invoice', customer: null } } })],
    ['a customer of another form', paymentEvent("cus_1'; drop table users; --")],
    ['a time that is none', paymentEvent('cus_1', { created: 1e18 })],
    ['an id of another form', paymentEvent('cus_1', { id: 'evt 1' })],
    ['another document', { hello: 'world' }],
    ['a list', []],
  ])('%s', async (_what, event) => {
    await expectNothingStored(async () => expect((await send(event)).status).toBe(200));
  });

  test('subscription.paymentwebhookevents selects types', async () => {
    shows('subscription.paymentwebhookevents');
    await world.reconfigure({ CORE_SUBSCRIPTION_PAYMENTWEBHOOKEVENTS: 'invoice.paid' });
    await expectNothingStored(async () => expect((await send(paymentEvent('cus_1'))).status).toBe(200));
    expect((await send(paymentEvent('cus_1', { id: 'evt_selected', type: 'invoice.paid' }))).status).toBe(200);
    expect(await stored()).toContain('evt_selected');
    await world.reconfigure({ CORE_SUBSCRIPTION_PAYMENTWEBHOOKEVENTS: undefined });
  });
});

describe('a request that does not prove its sender is refused, and nothing is stored', () => {
  const body = JSON.stringify(paymentEvent('cus_forged'));
  const now = () => Math.floor(world.clock.now().getTime() / 1_000);
  test.each<readonly [string, () => PaymentDelivery]>([
    ['an empty signature', () => ({ header: '' })],
    ['a garbled signature', () => ({ header: 't=,v1=\u00ff' })],
    [
      'a signature without a time',
      () => ({ header: paymentSignature(body, paymentSecret, now()).replace(/^t=\d+,/, '') }),
    ],
    [
      'a signature of another scheme',
      () => ({ header: paymentSignature(body, paymentSecret, now()).replace('v1', 'v0') }),
    ],
    ['another secret', () => ({ secret: 'whsec_other' })],
    ['an empty secret', () => ({ secret: '' })],
    ['one byte changed', () => ({ signed: body.replace('cus_forged', 'cus_forgee') })],
    ['T-94: 301 seconds ago', () => ({ offsetS: -301 })],
    ['T-94: 301 seconds ahead', () => ({ offsetS: 301 })],
  ])('T-90: %s', async (_what, delivery) => {
    await expectNothingStored(async () =>
      expectProblem(await deliverPayment(world, body, delivery()), 'invalid_signature'),
    );
  });

  test('no signature at all', async () => {
    await expectNothingStored(async () => {
      const answer = await world.client().request({ method: 'POST', url: '/v1/payment/webhook', payload: body });
      expectProblem(answer, 'invalid_signature');
    });
  });

  test('T-94: 299 seconds are not too far', async () => {
    for (const offsetS of [-299, 299]) expect((await send(paymentEvent('cus_1'), { offsetS })).status).toBe(200);
  });

  test('T-92: more than 64 KiB is refused before anything else', async () => {
    const large = JSON.stringify(paymentEvent('cus_1', { padding: 'x'.repeat(65_536) }));
    await expectNothingStored(async () => {
      expectProblem(await deliverPayment(world, large), 'body_too_large');
      expectProblem(await deliverPayment(world, large, { secret: 'whsec_other' }), 'body_too_large');
      expectProblem(await deliverPayment(world, `"${'x'.repeat(10_485_760)}"`), 'body_too_large');
    });
  });

  test('a body that is not JSON', async () => {
    await expectNothingStored(async () => expectProblem(await deliverPayment(world, '{"id":'), 'malformed_body'));
  });

  test('an event of the other mode than the key', async () => {
    const event = paymentEvent('cus_1', { livemode: true });
    await expectNothingStored(async () => expectProblem(await send(event), 'malformed_body'));
  });
});

describe('a version', () => {
  const versions = {
    CORE_SUBSCRIPTION_PAYMENTWEBHOOKAPIVERSION: next,
    CORE_SUBSCRIPTION_PAYMENTWEBHOOKDISCARDAPIVERSION: former,
    CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRETS: JSON.stringify({ [next]: nextSecret }),
  };
  const reset = Object.fromEntries(Object.keys(versions).map((name) => [name, undefined]));

  test('T-90: has a secret of its own, the discarded one and others are dropped whoever signs', async () => {
    shows(
      'subscription.paymentwebhooksecrets',
      'subscription.paymentwebhookapiversion',
      'subscription.paymentwebhookdiscardapiversion',
    );
    await world.reconfigure(versions);
    const query = (version: string) => `?api_version=${version}`;
    expectProblem(await send(paymentEvent('cus_1'), { query: query(next) }), 'invalid_signature');
    expect(
      (await send(paymentEvent('cus_1', { id: 'evt_next' }), { query: query(next), secret: nextSecret })).status,
    ).toBe(200);
    expect((await send(paymentEvent('cus_1', { id: 'evt_plain' }))).status).toBe(200);
    expect(await stored()).toEqual(expect.arrayContaining(['evt_next', 'evt_plain']));
    await expectNothingStored(async () => {
      for (const version of [former, '2024-01-01', '__proto__', 'toString'])
        expect((await send(paymentEvent('cus_1'), { query: query(version), secret: 'whsec_x' })).status).toBe(200);
    });
    await world.reconfigure(reset);
  });

  test('T-90: both versions are accepted during a move, each with its secret', async () => {
    await world.reconfigure({
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRETS: JSON.stringify({ [next]: nextSecret, [former]: 'whsec_former' }),
    });
    for (const [version, secret] of [
      [next, nextSecret],
      [former, 'whsec_former'],
    ] as const)
      expect((await send(paymentEvent('cus_1'), { query: `?api_version=${version}`, secret })).status).toBe(200);
    expectProblem(
      await send(paymentEvent('cus_1'), { query: `?api_version=${next}`, secret: 'whsec_former' }),
      'invalid_signature',
    );
    await world.reconfigure(reset);
  });

  test('T-90: without any secret, and while billing is off, there is no such route', async () => {
    shows('subscription.paymentwebhooksecret', 'subscription.enabled');
    await world.reconfigure({ CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: '' });
    expectProblem(await send(paymentEvent('cus_1'), { secret: '' }), 'route_not_found');
    await world.reconfigure({
      CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: paymentSecret,
      CORE_SUBSCRIPTION_ENABLED: 'false',
    });
    expectProblem(await send(paymentEvent('cus_1')), 'route_not_found');
    await world.reconfigure({ CORE_SUBSCRIPTION_ENABLED: 'true' });
    expect((await send(paymentEvent('cus_1'))).status).toBe(200);
  });
});

test('T-93: mutated payloads cause no error of the server', async () => {
  const random = seeded('payment payloads');
  const times = timesOf({ sample: 500, prove: 10_000 });
  const values = [null, true, -1, 1e308, '', '\u0000', '\ud800', [], {}, 'x'.repeat(3_000), '__proto__'];
  const mutated = (text: string): string => {
    const place = random.below(text.length);
    switch (random.below(4)) {
      case 0:
        return text.slice(0, place);
      case 1:
        return text.slice(0, place) + String.fromCharCode(random.below(256)) + text.slice(place + 1);
      case 2:
        return text.slice(0, place) + text.slice(place + 1 + random.below(20));
      default:
        return text.replaceAll(/"[^"]*"(?=[,}])|\d+|true|false/g, (value) =>
          random.chance(0.1) ? JSON.stringify(random.pick(values)) : value,
        );
    }
  };
  for (let count = 0; count < times; count += 25) {
    const answers = await Promise.all(
      Array.from({ length: 25 }, () => deliverPayment(world, mutated(JSON.stringify(paymentEvent(`cus_${newId()}`))))),
    );
    for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBeLessThan(500);
  }
  recordTried('mutated payment events', times);
});
