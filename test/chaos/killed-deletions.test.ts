import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../kit/billing/paying-organization.ts';
import { markSince, unpaidOrganizations } from '../kit/billing/unpaid-organization.ts';
import { eventually } from '../kit/eventually.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { runSchedule } from '../kit/sweep.ts';
import { recordTried } from '../kit/tried.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** How many organizations the worker has deleted when it dies: in the first run, and in the second. */
const deaths = [10, 20];

let billed: BilledWorld;
let product: ProductProcesses;
beforeAll(async () => {
  billed = await openBilledWorld();
  product = await ProductProcesses.start(billed.world, [worker], {
    [worker]: [
      ...deaths.map((done) => ({ FAILPOINTS: `sweep-acted:deleteOverdueOrganizations=kill@${done - 1}` })),
      {},
    ].map((life) => ({ ...life, PAYMENT_PROVIDER_URL: billed.fake.url })),
  });
});
afterAll(async () => {
  await product.close();
  await billed.close();
});

test('60 that are due, at most 25 a run, over kills: 25, 25 and 10, each once', async () => {
  const { world } = billed;
  const ids = await unpaidOrganizations(world, 60);
  for (const [index, id] of ids.entries()) await markSince(world, id, 100 - index);
  const deleted = async () => {
    const rows = await asOwner<{ id: string }>(
      world,
      'select removed_organization_id as id from organization_removals where removed_organization_id = any($1)',
      [ids],
    );
    return rows.map(({ id }) => id).toSorted();
  };
  await eventually(() => {
    product.refuseCrashes();
    return product.places[0]?.current.isServing;
  });
  for (const [run, total] of [25, 50, 60].entries()) {
    await runSchedule<SweepReport>(world, 'delete-overdue-organizations');
    expect([await deleted(), product.places[0]?.deaths]).toEqual([
      ids.slice(0, total).toSorted(),
      Math.min(run + 1, deaths.length),
    ]);
  }
  product.refuseCrashes();
  recordTried('kills while organizations are deleted', deaths.length);
});
