import { afterAll, beforeAll, expect, test } from 'vitest';
import { simulateLifecycle } from '../../kit/billing/lifecycle-simulation.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { openReceivingWorld } from '../../kit/billing/reconciled-organization.ts';
import { depth } from '../../kit/depth.ts';
import { recordTried } from '../../kit/tried.ts';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({
    worker: true,
    environment: {
      CORE_INTEGRATIONS_PAYMENTREMINDER_DRYRUN: 'false',
      CORE_INTEGRATIONS_ORGANIZATIONDELETE_MAXDELETESPERRUN: '100',
    },
  });
});
afterAll(() => billed.close());

const size = { sample: { organizations: 6, days: 22 }, prove: { organizations: 60, days: 120 } }[depth];

test(
  'days of organizations that pay, stop paying, are spared and postponed: after each, rows and letters are those of a model',
  { timeout: 3_600_000 },
  async () => {
    const { deleted, spared } = await simulateLifecycle(billed, size);
    expect(deleted + spared).toBeGreaterThan(0);
    recordTried('deletions in simulated days', deleted, size.organizations);
  },
);
