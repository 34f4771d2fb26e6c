import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulateBilling } from '../../kit/billing/billing-simulation.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { openReceivingWorld } from '../../kit/billing/reconciled-organization.ts';
import { depth } from '../../kit/depth.ts';
import { recordTried } from '../../kit/tried.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({ worker: true });
});
afterAll(() => billed.close());

const size = {
  sample: { customers: 4, months: 3, checks: 2, webhooks: 12 },
  prove: { customers: 60, months: 6, checks: 18, webhooks: 1_000 },
}[depth];

test(
  'months of payments, with events shuffled, doubled, late and lost: whenever it is idle, rows equal what follows from the provider',
  { timeout: 1_800_000 },
  async () => {
    const { purchases, events, delivered, refused } = await simulateBilling(billed, size);
    expect(refused).toBe(0);
    expect(delivered).toBeGreaterThanOrEqual(size.webhooks);
    expect(purchases).toBeGreaterThan(0);
    recordTried('events of simulated customers', delivered, events);
  },
);
