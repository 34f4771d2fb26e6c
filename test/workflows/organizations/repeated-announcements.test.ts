import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { remindPaymentMethodSweep } from '#activities/sweeps/organizations/remind-payment-method.sweep.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../../kit/billing/paying-organization.ts';
import { settingsOf } from '../../kit/billing/unpaid-organization.ts';
import { expectProblem } from '../../kit/expect-problem.ts';
import { buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { runSweep } from '../../kit/run-sweep.ts';
import type { World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const job = 'CORE_INTEGRATIONS_PAYMENTREMINDER_';

let billed: BilledWorld;
let world: World;
let owner: Person;
beforeAll(async () => {
  billed = await openBilledWorld({ environment: { [`${job}ENABLED`]: 'true', [`${job}DRYRUN`]: 'false' } });
  ({ world } = billed);
});
afterAll(() => billed.close());
beforeEach(async () => {
  owner = await buildPerson(world);
  await asOwner(
    world,
    'update organization_billings set trial_ends_at = $2, reconciled_at = $2, is_lapsed = true where organization_id = $1',
    [owner.organization.id, world.clock.now()],
  );
});

const url = () => `/v1/organizations/${owner.organization.id}`;

async function announce(days: number) {
  const at = new Date(world.clock.now().getTime() + days * dayMs).toISOString();
  return (await signedIn(world, owner)).mutate({ method: 'DELETE', url: `${url()}?not_before=${at}` });
}

test('announcing again and again does not keep an organization that nobody pays for from its mark', async () => {
  expect((await announce(30)).status).toBe(202);
  world.clock.advance(29 * dayMs);
  // It is still younger than the interval.
  expect((await announce(30)).status).toBe(202);
  world.clock.advance(2 * dayMs);
  const { deletionNotBefore } = await settingsOf(world, owner.organization.id);
  for (const days of [30, 1]) expectProblem(await announce(days), 'rule_violated');
  expect(await settingsOf(world, owner.organization.id)).toMatchObject({ deletionNotBefore });
  // Neither does an owner who takes it back and announces it before the next run.
  expect((await (await signedIn(world, owner)).post(`${url()}/keep`)).status).toBe(200);
  expectProblem(await announce(30), 'rule_violated');
  await runSweep(world, remindPaymentMethodSweep);
  expect(await settingsOf(world, owner.organization.id)).toMatchObject({
    markedForDeletionAt: expect.any(Date),
    deletionRequesterId: null,
  });
  // An owner may still delete it at once.
  expect((await (await signedIn(world, owner)).mutate({ method: 'DELETE', url: url() })).status).toBe(204);
});

test('while marking is a dry run, an organization that nobody pays for can be announced', async () => {
  world.clock.advance(31 * dayMs);
  expectProblem(await announce(10), 'rule_violated');
  await world.reconfigure({ [`${job}DRYRUN`]: 'true' });
  try {
    expect((await announce(10)).status).toBe(202);
  } finally {
    await world.reconfigure({ [`${job}DRYRUN`]: 'false' });
  }
});
