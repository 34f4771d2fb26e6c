// Left to npm run prove; npm test has test/chaos/killed-billing.test.ts.
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BilledWorld } from '../kit/billing/paying-organization.ts';
import { openReceivingWorld, settledOrganization, untilSettled } from '../kit/billing/reconciled-organization.ts';
import { ProductProcesses } from '../kit/processes/product-processes.ts';
import { recordTried } from '../kit/tried.ts';
import { prepareTestStack, type StartedTestStack } from '../setup/test-stack.ts';

// On servers of its own, of which one is really killed.

let stateDir: string;
let own: StartedTestStack;
let billed: BilledWorld;
let product: ProductProcesses;
beforeAll(async () => {
  stateDir = await realpath(await mkdtemp(join(tmpdir(), 'core-billing-')));
  own = await prepareTestStack(stateDir, () => {});
  billed = await openReceivingWorld({ stack: own.stack });
  product = await ProductProcesses.start(billed.world, ['worker/worker-main.ts'], {
    'worker/worker-main.ts': [{ PAYMENT_PROVIDER_URL: billed.fake.url }],
  });
});
afterAll(async () => {
  await product.close();
  await billed.close();
  await own.servers.stop();
  await rm(stateDir, { recursive: true, force: true });
});

const awayMs = 60_000;
const perSecond = 50;

test('Temporal unreachable for a minute at 50 events a second: each is acknowledged, and then all is settled', async () => {
  const { fake } = billed;
  const customers = [];
  for (let count = 0; count < 10; count++) customers.push(await settledOrganization(billed));
  await fake.events.send(undefined, 10);
  const before = fake.events.sent.length;
  await own.servers.kill('temporal');
  try {
    const endsAt = Date.now() + awayMs;
    for (let round = 0; Date.now() < endsAt; round++) {
      const nextAt = Date.now() + 1_000;
      for (let count = 0; count < perSecond; count++) {
        const { customer } = customers[count % customers.length] ?? { customer: '' };
        if (fake.ledger.cardsOf(customer).length === 0) fake.desk.addCard(customer);
        else fake.desk.removeCards(customer);
      }
      await fake.events.send(undefined, 10);
      // The rate is what this is about.
      await pause(Math.max(0, nextAt - Date.now()));
    }
  } finally {
    await own.servers.restart('temporal');
  }
  const sent = fake.events.sent.slice(before);
  expect(sent.length).toBeGreaterThan((awayMs / 1_000) * perSecond * 0.8);
  expect(sent.filter(({ status }) => status !== 200)).toEqual([]);
  for (const { id, customer } of customers) {
    fake.desk.cancel(fake.ledger.subscriptionsOf(customer)[0]?.id ?? '');
    await fake.events.send();
    await untilSettled(billed, id);
  }
  product.refuseCrashes();
  recordTried('events while Temporal was unreachable', sent.length);
});
