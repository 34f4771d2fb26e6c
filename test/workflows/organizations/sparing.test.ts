import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { organization } from '#entities/index.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { runBillingCommand } from '#tools/commands/billing-commands.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import type { BilledWorld } from '../../kit/billing/paying-organization.ts';
import { billingOf, openReceivingWorld } from '../../kit/billing/reconciled-organization.ts';
import { markSince, settingsOf, unpaidOrganizations } from '../../kit/billing/unpaid-organization.ts';
import { seeded } from '../../kit/depth.ts';
import { eventually } from '../../kit/eventually.ts';
import { shows } from '../../kit/shows.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { recordTried } from '../../kit/tried.ts';

const deletion = 'CORE_INTEGRATIONS_ORGANIZATIONDELETE_';

let billed: BilledWorld;
beforeAll(async () => {
  billed = await openReceivingWorld({
    worker: true,
    environment: { [`${deletion}ENABLED`]: 'true', [`${deletion}MAXDELETESPERRUN`]: '100' },
  });
});
afterAll(() => billed.close());

/** An organization that nobody pays for, with its customer at the provider. */
async function unpaid(count: number): Promise<{ readonly id: string; readonly customer: string }[]> {
  const ids = await unpaidOrganizations(billed.world, count);
  return Promise.all(
    ids.map(async (id) => ({
      id,
      customer: await eventually(async () => (await billingOf(billed, id)).customerId ?? undefined),
    })),
  );
}

const sparedFor = async (id: string) =>
  (
    await asOwner<{ reason: string }>(
      billed.world,
      `select payload ->> 'reason' as reason from events where topic = 'organization.spared' and entity_id = $1`,
      [id],
    )
  ).map(({ reason }) => reason);

async function isThere(id: string): Promise<boolean> {
  const { database } = billed.world.runtime;
  const found = await database.transact({ caller: systemCaller('test'), requestId: newId() }, ({ data }) =>
    data.findOne(organization, { id: { eq: id } }),
  );
  return found !== undefined;
}

test('a payment method spares an organization when it is recorded, and so does a subscription', async () => {
  const [one, two] = await unpaid(2);
  if (!one || !two) throw new Error('there are no organizations');
  const { desk, events } = billed.fake;
  for (const { id } of [one, two]) await markSince(billed.world, id, 2);
  desk.addCard(one.customer);
  desk.setStatus(desk.subscribe(two.customer, ['sandbox_compliance_month']).id, 'active');
  await events.send();
  for (const { id } of [one, two])
    await eventually(async () => (await settingsOf(billed.world, id)).markedForDeletionAt === null);
  expect(await sparedFor(one.id)).toEqual(['payment_method']);
  expect(await sparedFor(two.id)).toEqual(['subscription']);
  expect(await settingsOf(billed.world, one.id)).toMatchObject({ deletionNotBefore: null, deletionNotice: null });
});

test('a grant spares an organization in its transaction, unless an owner has announced its deletion', async () => {
  const { world } = billed;
  const [one, two] = await unpaid(2);
  if (!one || !two) throw new Error('there are no organizations');
  for (const { id } of [one, two]) await markSince(world, id, 2);
  await settingsOf(world, two.id, { deletionRequesterId: 'owner' });
  // No worker takes it up within the test.
  await asOwner(world, 'insert into announced_deletions (id, organization_id, due_at) values ($1, $1, $2)', [
    two.id,
    new Date(world.clock.now().getTime() + 86_400_000),
  ]);
  for (const { id: organizationId } of [one, two])
    await runBillingCommand(
      { name: 'grant', organizationId, module: 'registry', endsAt: null },
      { runtime: world.runtime, print: () => {} },
    );
  expect(await sparedFor(one.id)).toEqual(['grant']);
  expect(await sparedFor(two.id)).toEqual([]);
  expect((await settingsOf(world, two.id)).markedForDeletionAt).not.toBeNull();
});

test('a card and the deletion at the same instant: spared or deleted, never both, and deleted means cancelled once', async () => {
  const { fake, world } = billed;
  const random = seeded('cards and deletions');
  const all: { readonly id: string; readonly customer: string; readonly subscription: string }[] = [];
  const requests = fake.requests.length;
  for (const isCardFirst of [true, false, true, false, true]) {
    const some = await unpaid(10);
    for (const { id } of some) await markSince(world, id, 8);
    for (const { id, customer } of some) {
      fake.desk.addCard(customer);
      all.push({ id, customer, subscription: fake.desk.subscribe(customer, ['sandbox_compliance_month']).id });
    }
    const send = () => fake.events.send({ random, isShuffled: true }, 8);
    const remove = () => runSchedule<SweepReport>(world, 'delete-overdue-organizations');
    // One of both begins a little later.
    const later = async <T>(work: () => Promise<T>): Promise<T> => {
      await pause(random.below(150));
      return work();
    };
    const [report] = await Promise.all(isCardFirst ? [later(remove), send()] : [remove(), later(send)]);
    expect(report.failed).toBe(0);
  }
  let deleted = 0;
  for (const { id, subscription } of all) {
    const statusNow = () => fake.desk.subscription(subscription).status;
    const cancellations = () =>
      fake.requests
        .slice(requests)
        .filter(({ method, path }) => method === 'DELETE' && path.includes(`/subscriptions/${subscription}`)).length;
    if (await isThere(id)) {
      await eventually(async () => (await settingsOf(world, id)).markedForDeletionAt === null);
      expect([statusNow(), cancellations(), (await sparedFor(id)).length]).toEqual(['active', 0, 1]);
    } else {
      deleted += 1;
      await eventually(() => statusNow() === 'canceled');
      expect([cancellations(), await sparedFor(id)]).toEqual([1, []]);
    }
  }
  expect(deleted).toBeGreaterThan(0);
  expect(deleted).toBeLessThan(all.length);
  recordTried('deletions at the instant of a card', deleted, all.length);
});

test('the jobs run while they are enabled', async () => {
  shows('integrations.paymentreminder.enabled', 'integrations.organizationdelete.enabled');
  const { schedule } = billed.world.runtime.temporal.client;
  const isPaused = async (name: string) =>
    (await schedule.getHandle(`${billed.world.name}/${name}`).describe()).state.paused;
  const jobs = [
    ['remind-payment-method', 'CORE_INTEGRATIONS_PAYMENTREMINDER_ENABLED'],
    ['delete-overdue-organizations', `${deletion}ENABLED`],
  ] as const;
  for (const [name, variable] of jobs) {
    for (const isOn of [true, false]) {
      await billed.world.reconfigure({ [variable]: String(isOn) });
      await eventually(async () => (await isPaused(name)) === !isOn);
    }
  }
});
