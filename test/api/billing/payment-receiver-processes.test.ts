import { afterAll, beforeAll, expect, test } from 'vitest';
import { asOwner } from '../../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../../kit/billing/paying-organization.ts';
import {
  billingOf,
  settledOrganization,
  sweepBilling,
  untilRead,
  untilSettled,
} from '../../kit/billing/reconciled-organization.ts';
import { paymentSecret } from '../../kit/billing/signed-payment-event.ts';
import { eventually } from '../../kit/eventually.ts';
import { signatureOf } from '../../kit/fakes/fake-payment/payment-events.ts';
import type { KeptEvent } from '../../kit/fakes/fake-payment/payment-ledger.ts';
import { ProductProcesses, type Program } from '../../kit/processes/product-processes.ts';
import { startTcpProxy, type TcpProxy } from '../../kit/servers/tcp-proxy.ts';

const program = 'api/api-main.ts' satisfies Program;

let billed: BilledWorld;
/** In the way of the first process to PostgreSQL. */
let proxy: TcpProxy;
let product: ProductProcesses;
let payer: { readonly id: string; readonly customer: string };
beforeAll(async () => {
  const environment = {
    CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: paymentSecret,
    // Fifty connections at once on a busy machine: a request that takes longer would be answered with 408.
    CORE_SERVER_READTIMEOUT: '600000',
    CORE_SERVER_READHEADERTIMEOUT: '600000',
  };
  billed = await openBilledWorld({ worker: true, environment });
  const url = new URL(billed.world.databaseUrl);
  proxy = await startTcpProxy(url.host);
  url.host = proxy.address;
  // The lives are dealt out in turn: the last process dies twice.
  product = await ProductProcesses.start(billed.world, [program, program, program], {
    [program]: [
      { CORE_DB_PRIMARYDBSOURCE: url.href },
      {},
      { FAILPOINTS: 'before-commit=kill' },
      {},
      {},
      { FAILPOINTS: 'after-commit=kill' },
    ],
  });
  payer = await settledOrganization(billed);
  await eventually(() => product.apiUrls.length === 3);
});
afterAll(async () => {
  await product.close();
  await proxy.close();
  await billed.close();
});

/** Lets the provider send all events from now on to these addresses. */
function receiveAt(urls: readonly string[]): void {
  const { events, ledger } = billed.fake;
  events.drop();
  ledger.endpoints.clear();
  for (const url of urls) billed.fake.addEndpoint({ url: `${url}/v1/payment/webhook`, secret: paymentSecret });
}

/** How often an event is stored; `apart` is how many more are announced than stored, of all. */
async function keptOf(event: string): Promise<object | undefined> {
  const [kept] = await asOwner(
    billed.world,
    `select (select count(*)::int from webhook_events where external_id = $1) as stored,
       (select count(*)::int from events where topic = 'webhook_event.received')
         - (select count(*)::int from webhook_events) as apart`,
    [event],
  );
  return kept;
}

/** Changes whether the customer has a card. @returns the event that tells so */
function changeCards(): string {
  const { desk, ledger } = billed.fake;
  if (ledger.cardsOf(payer.customer).length === 0) desk.addCard(payer.customer);
  else desk.removeCards(payer.customer);
  return ledger.events.at(-1)?.id ?? '';
}

/** Answers to what was sent of an event, in order. */
const answersTo = (event: string) =>
  billed.fake.events.sent.filter(({ id }) => id === event).map(({ status }) => status);

test('one event that arrives 50 times at two processes has one effect', async () => {
  const [first = '', second = ''] = product.apiUrls;
  receiveAt(Array.from({ length: 50 }, (_none, index) => (index % 2 === 0 ? first : second)));
  const { drawnRound } = await billingOf(billed, payer.id);
  const event = changeCards();
  await billed.fake.events.send(undefined, 50);
  expect(answersTo(event)).toEqual(Array.from({ length: 50 }, () => 200));
  expect(await keptOf(event)).toEqual({ stored: 1, apart: 0 });
  await untilSettled(billed, payer.id);
  await sweepBilling(billed, 'sweep-entitlements');
  expect((await billingOf(billed, payer.id)).drawnRound).toBe(drawnRound + 1);
});

test('PostgreSQL away: 503, nothing is half stored, and the same event sent again has its one effect', async () => {
  receiveAt(product.apiUrls.slice(0, 1));
  // Away before the event; then during its transaction, later each time, until the answer comes first.
  let count = 0;
  for (let isWhole = false; !isWhole; count++) {
    if (count === 0) proxy.cut();
    else void proxy.cutAfter(count * 150);
    const event = changeCards();
    await billed.fake.events.send();
    const [answer] = answersTo(event);
    isWhole = answer === 200;
    expect(await keptOf(event)).toMatchObject({ apart: 0 });
    proxy.restore();
    await eventually(async () => {
      await billed.fake.events.send();
      return answersTo(event).includes(200);
    });
    expect(new Set(answersTo(event))).toEqual(new Set(isWhole ? [200] : [503, 200]));
    expect(await keptOf(event)).toEqual({ stored: 1, apart: 0 });
  }
  expect(count).toBeGreaterThan(4);
  await untilSettled(billed, payer.id);
  product.refuseCrashes();
});

test('the API dies before and after it stores an event: sent again, the event has one effect', async () => {
  const [, , place] = product.places;
  const { ledger, events, clock } = billed.fake;
  receiveAt([]);
  // What came before is read.
  await sweepBilling(billed, 'sweep-entitlements');
  await untilRead(billed, payer.id);
  const { drawnRound } = await billingOf(billed, payer.id);
  const id = changeCards();
  const event = ledger.events.at(-1) as KeptEvent;
  const body = events.bodyOf(event, { apiVersion: null });
  const send = async () => {
    const url = await eventually(() => place?.current.isServing && place.current.url);
    const headers = {
      'content-type': 'application/json',
      'stripe-signature': signatureOf(body, paymentSecret, clock.now()),
    };
    return fetch(`${url}/v1/payment/webhook`, { method: 'POST', headers, body });
  };
  for (const stored of [0, 1]) {
    await expect(send()).rejects.toThrow();
    await eventually(() => place?.deaths === stored + 1);
    expect(await keptOf(id)).toEqual({ stored, apart: 0 });
  }
  expect((await send()).status).toBe(200);
  expect(await keptOf(id)).toEqual({ stored: 1, apart: 0 });
  product.refuseCrashes();
  await untilSettled(billed, payer.id);
  await sweepBilling(billed, 'sweep-entitlements');
  expect((await billingOf(billed, payer.id)).drawnRound).toBe(drawnRound + 1);
});
