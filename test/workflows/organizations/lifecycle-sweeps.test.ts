import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweepPage } from '#activities/sweeps/sweep-page.ts';
import { deleteOverdueOrganizationsSweep } from '#activities/sweeps/organizations/delete-overdue-organizations.sweep.ts';
import { remindPaymentMethodSweep } from '#activities/sweeps/organizations/remind-payment-method.sweep.ts';
import {
  organizationBilling,
  organizationModule,
  organizationSetting,
  organizationSubscription,
} from '#entities/index.ts';
import type { CreationOf } from '#entities/kit/model/define.ts';
import { LifecycleOperations } from '#runtime/lifecycle-operations.ts';
import type { SweepPage } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { asSystem } from '../../kit/as-person.ts';
import { openBilledWorld, type BilledWorld } from '../../kit/billing/paying-organization.ts';
import { markSince, settingsOf, unpaidOrganizations } from '../../kit/billing/unpaid-organization.ts';
import { databaseDump } from '../../kit/database-dump.ts';
import { eventually } from '../../kit/eventually.ts';
import { buildPart, buildPerson } from '../../kit/people.ts';
import { runSweep } from '../../kit/run-sweep.ts';
import { shows } from '../../kit/shows.ts';
import type { World } from '../../kit/world.ts';

const dayMs = 86_400_000;
const job = 'CORE_INTEGRATIONS_PAYMENTREMINDER_';

let billed: BilledWorld;
let world: World;
beforeAll(async () => {
  // Below, tests change rows past the server; organizations that are not changed so are in sparing.test.ts.
  billed = await openBilledWorld({ environment: { [`${job}DRYRUN`]: 'false' }, skipVerify: true });
  ({ world } = billed);
});
beforeEach(async () => {
  // Organizations of the tests before do not take part, and what was deleted then was not deleted in a run of this one.
  await asOwner(world, 'update organizations set is_personal = true');
  await asOwner(world, 'update organization_settings set marked_for_deletion_at = null');
  world.clock.advance(1_000);
});
afterAll(() => billed.close());

const remind = (page?: SweepPage) => runSweep(world, remindPaymentMethodSweep, page);
const remove = (page?: SweepPage) => runSweep(world, deleteOverdueOrganizationsSweep, page);
const pass = (days: number) => world.clock.advance(days * dayMs);

/** Events of the lifecycle of an organization, in their order: verb and payload. */
async function eventsOf(id: string): Promise<[string, object][]> {
  const rows = await asOwner<{ topic: string; payload: object }>(
    world,
    `select topic, payload from events where entity_id = $1 and topic ~ '(marked_for_deletion|deletion_nearing|spared|deleted)$' order by id`,
    [id],
  );
  return rows.map(({ topic, payload }) => [topic.replace('organization.', ''), payload]);
}

const isMarked = async (id: string) => (await settingsOf(world, id)).markedForDeletionAt !== null;

async function removalsOf(ids: readonly string[]): Promise<{ id: string; requester: string | null }[]> {
  return asOwner(
    world,
    `select removed_organization_id as id, requester_id as requester from organization_removals
     where removed_organization_id = any($1) order by id`,
    [ids],
  );
}

test('an organization that nobody pays for is marked, announced and deleted, each once and on its day', async () => {
  const [id = ''] = await unpaidOrganizations(world, 1);
  pass(30);
  expect(await remind()).toMatchObject({ done: 0, skipped: { 'it is younger than the interval': 1 } });
  pass(1);
  const marked = world.clock.now();
  const notBefore = new Date(marked.getTime() + 7 * dayMs);
  expect(await remind()).toMatchObject({ examined: 1, done: 1 });
  expect(await remind()).toMatchObject({ done: 0 });
  expect(await settingsOf(world, id)).toMatchObject({ markedForDeletionAt: marked, deletionNotBefore: notBefore });
  for (const days of [4, 1, 1]) {
    pass(days);
    await remind();
    await remind();
  }
  expect(await remove()).toMatchObject({ done: 0 });
  pass(1);
  expect(await remind()).toMatchObject({ done: 0, skipped: { 'its deletion is due': 1 } });
  expect(await remove()).toMatchObject({ examined: 1, done: 1, hasMore: false });
  expect(await remove()).toMatchObject({ examined: 0 });
  expect(await removalsOf([id])).toEqual([{ id, requester: null }]);
  const payload = { notBefore: notBefore.toISOString() };
  expect(await eventsOf(id)).toMatchObject([
    ['marked_for_deletion', payload],
    ['deletion_nearing', { ...payload, notice: 'three_days' }],
    ['deletion_nearing', { ...payload, notice: 'one_day' }],
    ['deleted', {}],
  ]);
  const marks = await asOwner(
    world,
    `select 1 from history where entity_kind = 'organization_setting' and operation = 'updated'
       and 'markedForDeletionAt' = any(changed_fields) and organization_id = $1`,
    [id],
  );
  expect(marks).toHaveLength(1);
});

test('personal organizations, those below another one, those of exempt domains and those that were never read are not marked', async () => {
  shows('ormconfig.billing.bypassemaildomains');
  const [top = '', unread = '', exempt = ''] = await unpaidOrganizations(world, 3);
  const part = await buildPart(world, top);
  const founder = await buildPerson(world, { email: 'founder@exempt.example' });
  await asOwner(world, 'update organizations set founder_id = $2 where id = $1', [exempt, founder.user.id]);
  await asOwner(world, 'update organizations set is_personal = true where id = $1', [founder.organization.id]);
  await asOwner(world, 'update organization_billings set reconciled_at = null where organization_id = $1', [unread]);
  const domains = 'CORE_ORMCONFIG_BILLING_BYPASSEMAILDOMAINS';
  await world.reconfigure({ [domains]: 'exempt.example' });
  pass(31);
  expect(await remind()).toMatchObject({
    examined: 3,
    done: 1,
    skipped: { 'its billing was not read yet': 1, 'the domain of its founder is exempt': 1 },
  });
  expect(await Promise.all([top, unread, exempt, part.id].map(isMarked))).toEqual([true, false, false, false]);
  // The domain is not exempt any more: it is marked, and spared when the domain is exempt again.
  await world.reconfigure({ [domains]: undefined });
  await remind();
  expect(await isMarked(exempt)).toBe(true);
  await world.reconfigure({ [domains]: 'EXEMPT.example' });
  await remind();
  expect(await eventsOf(exempt)).toMatchObject([
    ['marked_for_deletion', {}],
    ['spared', { reason: 'bypass' }],
  ]);
  await world.reconfigure({ [domains]: undefined });
});

test('what a run finds paid is spared by either sweep, also when an organization below has it', async () => {
  const [paid = '', parent = '', due = ''] = await unpaidOrganizations(world, 3);
  const part = await buildPart(world, parent);
  for (const id of [paid, parent, due]) await markSince(world, id, 8);
  await asSystem(world, part.id, (data) =>
    data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: null }),
  );
  await asSystem(world, paid, async (data) => {
    const billing = await data.findOne(organizationBilling, {});
    await data.update(organizationBilling, billing?.id ?? '', { hasPaymentMethod: true });
  });
  expect(await remove({ isDryRun: true })).toMatchObject({ skipped: { 'dry run': 3 } });
  expect(await remove()).toMatchObject({ examined: 3, done: 3 });
  expect((await removalsOf([paid, parent, part.id, due])).map(({ id }) => id)).toEqual([due]);
  expect(await eventsOf(parent)).toMatchObject([['spared', { reason: 'grant' }]]);
  expect(await eventsOf(paid)).toMatchObject([['spared', { reason: 'payment_method' }]]);
  await markSince(world, paid, 1);
  pass(31);
  expect(await remind()).toMatchObject({ examined: 2, done: 1 });
  expect(await isMarked(paid)).toBe(false);
});

test('a parent is deleted with those below it, and the limit of a run is of parents', async () => {
  shows('integrations.organizationdelete.maxdeletesperrun');
  const [one = '', two = ''] = await unpaidOrganizations(world, 2);
  const parts = [await buildPart(world, one), await buildPart(world, one)];
  await markSince(world, one, 9);
  await markSince(world, two, 8);
  const limit = 'CORE_INTEGRATIONS_ORGANIZATIONDELETE_MAXDELETESPERRUN';
  await world.reconfigure({ [limit]: '1' });
  expect(await remove({ isDryRun: true })).toMatchObject({
    planned: [{ id: one, action: 'delete' }],
    skipped: { 'dry run': 1, 'the limit of a run was reached': 1 },
    hasMore: true,
  });
  expect(await remove()).toMatchObject({ done: 1, hasMore: true });
  expect((await removalsOf([one, two, ...parts.map(({ id }) => id)])).map(({ id }) => id).toSorted()).toEqual(
    [one, ...parts.map(({ id }) => id)].toSorted(),
  );
  pass(1);
  await world.reconfigure({ [limit]: undefined });
  expect(await remove()).toMatchObject({ done: 1, hasMore: false });
});

test('60 that are due, and at most 25 a run: 25, 25 and 10, the oldest mark first; who pays is spared beyond the limit', async () => {
  const ids = await unpaidOrganizations(world, 61);
  const last = ids.at(-1) ?? '';
  for (const [index, id] of ids.entries()) await markSince(world, id, 100 - index);
  await asSystem(world, last, (data) =>
    data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: null }),
  );
  const counts = [];
  for (let run = 1; run <= 3; run++) {
    pass(1);
    const { hasMore } = await remove();
    const gone = (await removalsOf(ids)).map(({ id }) => id);
    expect(gone.toSorted()).toEqual(ids.slice(0, gone.length).toSorted());
    counts.push([gone.length, hasMore]);
    expect(await isMarked(last)).toBe(false);
  }
  expect(counts).toEqual([
    [25, true],
    [50, true],
    [60, false],
  ]);
});

test('the limit of a run holds when the clock is set back', async () => {
  const ids = await unpaidOrganizations(world, 4);
  for (const id of ids) await markSince(world, id, 9);
  const limit = 'CORE_INTEGRATIONS_ORGANIZATIONDELETE_MAXDELETESPERRUN';
  await world.reconfigure({ [limit]: '2' });
  const startedAt = new Date(world.clock.now().getTime() + 3_600_000).toISOString();
  expect(await remove({ run: { startedAt, taken: 0 } })).toMatchObject({ done: 2, hasMore: true });
  expect(await removalsOf(ids)).toHaveLength(2);
  await world.reconfigure({ [limit]: undefined });
});

test('a run ends when its sweep is turned off, and one that an operator starts while it is off does not', async () => {
  const [first = '', second = ''] = await unpaidOrganizations(world, 2);
  await markSince(world, first, 9);
  await markSince(world, second, 8);
  const { config, runtime } = world;
  const deps = { ...runtime, config, logger: pino({ enabled: false }), onSwept: () => {} };
  const enabled = 'CORE_INTEGRATIONS_ORGANIZATIONDELETE_ENABLED';
  await world.reconfigure({ [enabled]: 'true' });
  const { next: after = [], ...begun } = await sweepPage(deps, deleteOverdueOrganizationsSweep, {});
  await world.reconfigure({ [enabled]: undefined });
  const ended = await sweepPage(deps, deleteOverdueOrganizationsSweep, { ...begun, after });
  expect(ended).toMatchObject({ report: { done: 0, hasMore: true } });
  expect(ended.next).toBeUndefined();
  expect(await remove()).toMatchObject({ done: 2, hasMore: false });
});

test('a dry run for a later day knows that trials, cancelled subscriptions and grants end, and a run waits for the payment provider', async () => {
  const [onTrial = '', cancelled = '', granted = '', paid = ''] = await unpaidOrganizations(world, 4);
  pass(31);
  const inDays = (days: number) => new Date(world.clock.now().getTime() + days * dayMs);
  const subscribe = (id: string, values: Omit<CreationOf<typeof organizationSubscription>, 'externalId'>) =>
    asSystem(world, id, (data) => data.create(organizationSubscription, { externalId: `sub-${id}`, ...values }));
  await subscribe(onTrial, { status: 'trialing', isTrialOfServer: true, trialEndsAt: inDays(5) });
  await subscribe(cancelled, { status: 'active', cancelsAt: inDays(5) });
  await subscribe(paid, { status: 'active' });
  await asSystem(world, granted, (data) =>
    data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: inDays(5) }),
  );
  const markedIn = async (days: number) => {
    const { planned } = await remind({ isDryRun: true, at: inDays(days).toISOString() });
    return planned.map(({ id }) => id);
  };
  const wanted = [onTrial, cancelled, granted].toSorted();
  expect(await markedIn(4)).toEqual([]);
  expect((await markedIn(6)).toSorted()).toEqual(wanted);
  const operations = new LifecycleOperations(world.runtime);
  const { found } = await operations.candidates({ limit: 10, days: 6 });
  expect(found.map(({ id }) => id).toSorted()).toEqual(wanted);
  for (const id of wanted)
    expect(await operations.explain(id)).toMatchObject({
      decision: { action: null },
      next: { action: 'mark', at: inDays(5) },
    });
  pass(6);
  expect(await remind()).toMatchObject({ done: 1, skipped: { 'it has a subscription': 3 } });
  expect(await isMarked(granted)).toBe(true);
});

test('a dry run leaves the database as it was, and its log has exactly the ids, also for another day', async () => {
  const [old = '', due = '', paying = ''] = await unpaidOrganizations(world, 3);
  pass(31);
  await unpaidOrganizations(world, 1);
  await markSince(world, due, 8);
  await markSince(world, paying, 8);
  await asSystem(world, paying, (data) =>
    data.create(organizationModule, { module: 'registry', source: 'granted', endsAt: null }),
  );
  const logged = async (sweep: typeof remindPaymentMethodSweep, page: SweepPage) => {
    const lines: { readonly msg: string; readonly record_id?: string; readonly action?: string }[] = [];
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) });
    await runSweep(world, sweep, page, logger);
    return lines.flatMap(({ msg, record_id: id, action }) =>
      msg === 'a dry run would act on a record' ? [[id, action]] : [],
    );
  };
  await eventually(async () => {
    const open = await asOwner(world, 'select 1 from desired_tuples where applied_version < version limit 1');
    return open.length === 0;
  });
  const before = await databaseDump(world);
  expect(await logged(deleteOverdueOrganizationsSweep, { isDryRun: true })).toEqual([
    [due, 'delete'],
    [paying, 'spare'],
  ]);
  expect(await logged(remindPaymentMethodSweep, { isDryRun: true })).toEqual([
    [old, 'mark'],
    [paying, 'spare'],
  ]);
  const soon = new Date(world.clock.now().getTime() - dayMs * 2).toISOString();
  expect(await logged(deleteOverdueOrganizationsSweep, { isDryRun: true, at: soon })).toEqual([[paying, 'spare']]);
  await world.reconfigure({ [`${job}DRYRUN`]: 'true' });
  shows('integrations.paymentreminder.dryrun');
  expect(await logged(remindPaymentMethodSweep, {})).toHaveLength(2);
  await world.reconfigure({ [`${job}DRYRUN`]: 'false' });
  expect(await databaseDump(world)).toEqual(before);
});

describe('settings that change', () => {
  test('decide from the next run on', async () => {
    shows('integrations.paymentreminder.paymentmethodinterval', 'integrations.paymentreminder.deletiondays');
    const [id = ''] = await unpaidOrganizations(world, 1);
    pass(3);
    expect(await remind()).toMatchObject({ done: 0 });
    await world.reconfigure({ [`${job}PAYMENTMETHODINTERVAL`]: '2', [`${job}DELETIONDAYS`]: '5' });
    expect(await remind()).toMatchObject({ done: 1 });
    // A shorter time overtakes no notice, and a longer one applies at once.
    await world.reconfigure({ [`${job}DELETIONDAYS`]: '1' });
    pass(4);
    await remind();
    expect(await remove()).toMatchObject({ done: 0 });
    await world.reconfigure({ [`${job}DELETIONDAYS`]: '20' });
    pass(10);
    expect(await remove()).toMatchObject({ done: 0 });
    await world.reconfigure({ [`${job}PAYMENTMETHODINTERVAL`]: undefined, [`${job}DELETIONDAYS`]: undefined });
    expect(await remove()).toMatchObject({ done: 1 });
    expect(await removalsOf([id])).toHaveLength(1);
  });
});

describe('what is out of order', () => {
  test('is named in the report, and the others are served', async () => {
    const [bare = '', future = '', good = ''] = await unpaidOrganizations(world, 3);
    await asOwner(world, 'update organizations set created_at = $2 where id = $1', [
      future,
      new Date(world.clock.now().getTime() + 365 * dayMs),
    ]);
    const settings = await settingsOf(world, bare);
    await asSystem(world, bare, (data) => data.remove(organizationSetting, settings.id));
    pass(31);
    expect(await remind()).toMatchObject({
      examined: 3,
      done: 1,
      failed: 0,
      skipped: { 'it has no settings': 1, 'it is younger than the interval': 1 },
    });
    expect(await isMarked(good)).toBe(true);
    // The clock is set back: nothing is due before its mark.
    expect(await remove({ isDryRun: true, at: '2001-01-01T00:00:00Z' })).toMatchObject({ skipped: {} });
  });

  test('an organization that an owner has announced is left to the owner', async () => {
    const [id = ''] = await unpaidOrganizations(world, 1);
    await markSince(world, id, 30);
    await settingsOf(world, id, { deletionRequesterId: 'owner' });
    pass(31);
    for (const report of [await remind(), await remove()])
      expect(report).toMatchObject({ examined: 1, done: 0, skipped: { 'an owner has announced its deletion': 1 } });
  });
});
