import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Failpoint } from '#entities/kit/base/failpoint.ts';
import { organizationRemoval } from '#entities/index.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { BilledWorld } from '../kit/billing/paying-organization.ts';
import { customerOf, foundOnTrial, openReceivingWorld, untilSettled } from '../kit/billing/reconciled-organization.ts';
import { sampleOf } from '../kit/depth.ts';
import { eventually } from '../kit/eventually.ts';
import { signedIn } from '../kit/people.ts';
import { ProductProcesses, type Program } from '../kit/processes/product-processes.ts';
import { recordTried } from '../kit/tried.ts';

const worker = 'worker/worker-main.ts' satisfies Program;

/** Where the worker dies while organizations are founded. */
const early: readonly Failpoint[] = [
  'wake-before-signal',
  'billing-drawn',
  'billing-customer-created',
  'billing-trial-started',
  'billing-read',
  'billing-written',
  'wake-after-signal',
];

/** One life ends at each of them; the last one when a subscription was cancelled. */
const deaths = [...sampleOf('kills of billing', early, { by: [() => 'any'], atLeast: 2 }), 'billing-cancelled'];

let billed: BilledWorld;
let product: ProductProcesses;
beforeAll(async () => {
  billed = await openReceivingWorld();
  product = await ProductProcesses.start(billed.world, [worker], {
    [worker]: [...deaths.map((name) => ({ FAILPOINTS: `${name}=kill` })), {}].map((life) => ({
      ...life,
      PAYMENT_PROVIDER_URL: billed.fake.url,
    })),
  });
});
afterAll(async () => {
  await product.close();
  await billed.close();
});

test('killed at every boundary: nothing is lost or doubled, with one customer and one trial each', async () => {
  const [place] = product.places;
  const { fake, world } = billed;
  const deathsSoFar = () => place?.deaths ?? 0;
  const people = [];
  while (deathsSoFar() < deaths.length - 1 && people.length < 20) {
    const before = deathsSoFar();
    const person = await foundOnTrial(billed);
    people.push(person);
    await eventually(() => deathsSoFar() > before);
  }
  for (const { organization } of people) {
    const customer = await customerOf(billed, organization.id);
    await untilSettled(billed, organization.id);
    expect(fake.desk.customersOf(organization.id)).toHaveLength(1);
    expect(fake.ledger.subscriptionsOf(customer)).toHaveLength(1);
  }

  const [gone] = people;
  if (!gone) throw new Error('nobody founded an organization');
  const { id } = gone.organization;
  const customer = await customerOf(billed, id);
  const answer = await (await signedIn(world, gone)).mutate({ method: 'DELETE', url: `/v1/organizations/${id}` });
  expect(answer.status, JSON.stringify(answer.body)).toBe(204);
  // The worker starts again first.
  await eventually(() => fake.ledger.subscriptionsOf(customer)[0]?.status === 'canceled', 120_000);
  await eventually(async () => {
    const context = { caller: systemCaller('test'), requestId: newId() };
    const where = { removedOrganizationId: { eq: id } };
    const removal = await world.runtime.database.transact(context, ({ data }) =>
      data.findOne(organizationRemoval, where),
    );
    return removal?.status === 'completed';
  });
  expect(deathsSoFar()).toBe(deaths.length);
  product.refuseCrashes();
  recordTried('kills while customers are read', deathsSoFar());
});
