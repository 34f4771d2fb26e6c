import { setTimeout as pause } from 'node:timers/promises';
import { StripeProvider } from '#activities/clients/payment/stripe-provider.ts';
import { wakeEntitlements } from '#activities/listeners/billing/wake-entitlements.listener.ts';
import { sandboxCatalogue } from '#entities/billing/catalogue/sandbox.ts';
import { systemClock } from '#entities/kit/base/clock.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { FakePaymentProvider } from '../kit/fakes/fake-payment-provider.ts';
import { openApiInstallation, type ApiInstallation } from './api-installation.ts';
import { textOf } from './messages/webhook-latency.ts';
import { peerTable, startPeer } from './peer.ts';
import { median, spreadOf, type Bench } from './row.ts';

const secret = 'whsec_secret_of_the_benchmark';
const [held, added] = ['sandbox_compliance_month', 'sandbox_risk_management_month'] as const;
const module = 'risk_management';
/** Changes that each side measures in a round. */
const changes = 30;
/** A change that takes longer never comes. */
const longestMs = 60_000;
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 3);

/**
 * From the webhook of the payment provider to the module in `/v1/account/features`; against a job of graphile-worker that reads the
 * customer and writes a row.
 */
export const paymentWebhook: Bench = {
  name: 'payment-webhook',
  run: async (say) => {
    const fake = await FakePaymentProvider.start({ clock: systemClock });
    fake.desk.sell(sandboxCatalogue);
    const installation = await openApiInstallation(
      {
        CORE_SUBSCRIPTION_ENABLED: 'true',
        CORE_SUBSCRIPTION_PRIVATEPAYMENTKEY: fake.apiKey,
        CORE_SUBSCRIPTION_PAYMENTWEBHOOKSECRET: secret,
        CORE_SUBSCRIPTION_PAYMENTBILLINGPORTALSUCCESSURL: 'https://console.example.com/paid',
        CORE_SUBSCRIPTION_PAYMENTCANCELLATIONRETURNURL: 'https://console.example.com/plan',
        CORE_ORMCONFIG_MODULES_ENABLED: 'true',
        CORE_ORMCONFIG_MODULES_USESANDBOX: 'true',
        PAYMENT_PROVIDER_URL: fake.url,
      },
      1,
      [wakeEntitlements],
    );
    try {
      await installation.startWorker();
      const customer = await newCustomer(fake, installation);
      const measured: { readonly ours: readonly number[]; readonly peer: readonly number[] }[] = [];
      const ours = await changesOf(fake, installation, customer);
      const peer = await jobsOf(fake, installation, customer);
      try {
        await ours(5);
        await peer.jobs(5);
        for (let round = 0; round < rounds; round++) {
          const both = { ours: await ours(changes), peer: await peer.jobs(changes) };
          measured.push(both);
          say(`round ${round + 1}: ours ${textOf(both.ours)}, graphile-worker with one reading ${textOf(both.peer)}`);
        }
      } finally {
        await peer.stop();
      }
      const [mine, others] = [measured.map((one) => median(one.ours)), measured.map((one) => median(one.peer))];
      return [
        {
          name: 'payment-webhook',
          unit: 'ms (p50)',
          ours: median(mine),
          reference: median(others),
          ratio: median(others) / median(mine),
          spread: spreadOf(mine),
          note: 'webhook to usable module; reference: graphile-worker, one reading of the customer and a row',
        },
      ];
    } finally {
      await installation.close();
      await fake.close();
    }
  },
};

/** A customer of the only organization, as the server would have created it. */
async function newCustomer(fake: FakePaymentProvider, { people, client }: ApiInstallation): Promise<string> {
  const [{ organizationId, email }] = people as [ApiInstallation['people'][number]];
  const party = { organizationId, name: 'Payer', email, phone: null, address: null, taxId: null };
  const provider = new StripeProvider({ key: fake.apiKey, url: fake.url });
  const customer = await provider.createCustomer(party, `${organizationId}/customer/1`);
  await client.query('update organization_billings set customer_id = $1 where organization_id = $2', [
    customer,
    organizationId,
  ]);
  return customer;
}

/** @returns a function that adds and removes a module, and gives the times until each added one is usable, in milliseconds */
async function changesOf(fake: FakePaymentProvider, { url, people }: ApiInstallation, customer: string) {
  const [{ token }] = people as [ApiInstallation['people'][number]];
  fake.addEndpoint({ url: `${url}/v1/payment/webhook`, secret });
  fake.desk.addCard(customer);
  const { id } = fake.desk.subscribe(customer, [held]);
  const untilUsable = async (isUsable: boolean) => {
    for (const startedAt = performance.now(); performance.now() - startedAt < longestMs;) {
      const answer = await fetch(`${url}/v1/account/features`, { headers: { authorization: `Bearer ${token}` } });
      if (!answer.ok) throw new Error(`payment-webhook: ${answer.status} ${await answer.text()}`);
      if ((await answer.text()).includes(module) === isUsable) return;
      await pause(5);
    }
    throw new Error(
      `payment-webhook: after ${longestMs} ms, the module is ${isUsable ? 'not usable' : 'still usable'}`,
    );
  };
  await fake.events.send();
  await untilUsable(false);
  return async (count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let done = 0; done < count; done++) {
      fake.desk.setItems(id, [held, added]);
      const sentAt = performance.now();
      await fake.events.send();
      await untilUsable(true);
      times.push(performance.now() - sentAt);
      fake.desk.setItems(id, [held]);
      await fake.events.send();
      await untilUsable(false);
    }
    return times;
  };
}

/** @returns a function that adds jobs one by one, and gives the times until each has written its row, in milliseconds */
async function jobsOf(fake: FakePaymentProvider, { databaseUrl, client }: ApiInstallation, customer: string) {
  const provider = new StripeProvider({ key: fake.apiKey, url: fake.url });
  await client.query(peerTable);
  const runner = await startPeer(databaseUrl, {
    read_customer: async (payload, helpers) => {
      await provider.readCustomer(customer);
      const { key } = payload as { readonly key: string };
      await helpers.query('insert into peer_deliveries (key, at) values ($1, clock_timestamp())', [key]);
    },
  });
  return {
    stop: () => runner.stop(),
    jobs: async (count: number): Promise<number[]> => {
      const times: number[] = [];
      for (let done = 0; done < count; done++) {
        const key = newId();
        const addedAt = performance.now();
        await runner.addJob('read_customer', { key });
        for (;;) {
          const { rowCount } = await client.query('select 1 from peer_deliveries where key = $1', [key]);
          if (rowCount === 1) break;
          await pause(5);
        }
        times.push(performance.now() - addedAt);
      }
      return times;
    },
  };
}
