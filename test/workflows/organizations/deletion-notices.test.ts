import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemMessageText } from '#activities/notifications/system-message-text.ts';
import { deleteOverdueOrganizationsSweep } from '#activities/sweeps/organizations/delete-overdue-organizations.sweep.ts';
import { remindPaymentMethodSweep } from '#activities/sweeps/organizations/remind-payment-method.sweep.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { openBilledWorld, type BilledWorld } from '../../kit/billing/paying-organization.ts';
import { untilRead } from '../../kit/billing/reconciled-organization.ts';
import { settingsOf } from '../../kit/billing/unpaid-organization.ts';
import { eventually } from '../../kit/eventually.ts';
import { mailsTo, unfolded } from '../../kit/mailbox.ts';
import { buildPart, buildPerson, signedIn, type Person } from '../../kit/people.ts';
import { runSweep } from '../../kit/run-sweep.ts';
import { pauseSchedule } from '../../kit/sweep.ts';
import type { World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let billed: BilledWorld;
let world: World;
let owner: Person;
let admin: Person;
let member: Person;
let below: Person;
let id: string;
beforeAll(async () => {
  billed = await openBilledWorld({
    worker: true,
    environment: { CORE_INTEGRATIONS_PAYMENTREMINDER_DRYRUN: 'false' },
  });
  ({ world } = billed);
  // They would act at some hours of the day.
  for (const schedule of ['remind-payment-method', 'delete-overdue-organizations'])
    await pauseSchedule(world, schedule);
  owner = await buildPerson(world);
  ({ id } = owner.organization);
  admin = await buildPerson(world, { organization: owner.organization, role: 'admin' });
  member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  const part = await buildPart(world, id);
  below = await buildPerson(world, { organization: part, role: 'owner' });
  // Only this one is looked at.
  await asOwner(world, 'update organizations set is_personal = true where id <> $1 and parent_id is null', [id]);
  // Its customer was read once, and is not on trial any more.
  await untilRead(billed, id);
  await asOwner(world, 'update organization_billings set trial_ends_at = null where organization_id = $1', [id]);
  await asOwner(world, `update organization_subscriptions set status = 'canceled' where organization_id = $1`, [id]);
  await settingsOf(world, id, { billingEmail: invoices, timezone: 'Asia/Tokyo' });
});
afterAll(() => billed.close());

const invoices = `invoices-${newId().toLowerCase()}@example.com`;

const remind = () => runSweep(world, remindPaymentMethodSweep);

/** Subjects of the mails about deletions to each of these people, sorted. */
async function subjectsTo(addresses: readonly string[]): Promise<string[][]> {
  return Promise.all(
    addresses.map(async (address) =>
      (await mailsTo(world, address))
        .map((mail) => /^Subject: (.*)$/m.exec(unfolded(mail))?.[1]?.trim() ?? '')
        .filter((subject) => subject.startsWith('An organization'))
        .toSorted(),
    ),
  );
}

const everybody = () => [owner.user.email, admin.user.email, below.user.email, invoices];

const taskOf = () =>
  asOwner(world, `select title, status, assignee_id from tasks where organization_id = $1 and external_id = $2`, [
    id,
    'lifecycle/payment-method',
  ]);

test('whoever manages a marked organization, owners below it and the address for invoices are told, each once', async () => {
  world.clock.advance(31 * dayMs);
  expect(await remind()).toMatchObject({ done: 1 });
  await remind();
  await eventually(async () => (await subjectsTo(everybody())).every((subjects) => subjects.length === 1));
  expect(await subjectsTo(everybody())).toEqual(everybody().map(() => ['An organization will be deleted']));
  expect(await subjectsTo([member.user.email])).toEqual([[]]);
  // In the time zone of the organization.
  const [mail = ''] = await mailsTo(world, invoices);
  expect(unfolded(mail)).toContain('GMT+9');
  await eventually(async () => (await taskOf()).length === 1);
  expect(await taskOf()).toEqual([{ title: 'Add a payment method', status: 'open', assignee_id: owner.user.id }]);
  await eventually(async () => (await notified('organization.marked_for_deletion')).length === 2);
  expect(await notified('organization.marked_for_deletion')).toEqual([admin.user.id, owner.user.id].toSorted());
  const { body } = await (await signedIn(world, member)).get('/v1/account/userinfo');
  const { markedForDeletionAt, deletionNotBefore } = await settingsOf(world, id);
  expect(body).toMatchObject({
    organization_marked_for_deletion_at: markedForDeletionAt?.toISOString(),
    organization_deletion_not_before: deletionNotBefore?.toISOString(),
  });
});

test('an address for invoices that is that of an owner gets one mail', async () => {
  await settingsOf(world, id, { billingEmail: owner.user.email.toUpperCase() });
  world.clock.advance(4 * dayMs);
  expect(await remind()).toMatchObject({ done: 1 });
  const people = everybody().slice(0, 3);
  await eventually(async () => (await subjectsTo(people)).every((subjects) => subjects.length === 2));
  expect((await subjectsTo([invoices])).flat()).toHaveLength(1);
  await eventually(async () => (await notified('organization.deletion_nearing')).length === 2);
});

test('the chat of the operator gets the organizations that a run has marked', async () => {
  const { markedForDeletionAt } = await settingsOf(world, id);
  const since = markedForDeletionAt?.toISOString() ?? '';
  const textSince = (from: string) =>
    world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
      systemMessageText({ message: 'organizations-marked', since: from }, unit),
    );
  expect(await textSince(since)).toContain(id);
  expect(await textSince(world.clock.now().toISOString())).toBe(undefined);
});

test('the chat of the operator gets the organizations that a run has deleted, and not those that an owner has', async () => {
  const { database } = world.runtime;
  const context = () => ({ caller: systemCaller('test'), requestId: newId() });
  const since = world.clock.now().toISOString();
  const text = () =>
    database.transact(context(), (unit) => systemMessageText({ message: 'organizations-deleted', since }, unit));
  const byOwner = await buildPerson(world);
  const client = await signedIn(world, byOwner);
  await client.mutate({ method: 'DELETE', url: `/v1/organizations/${byOwner.organization.id}` });
  expect(await text()).toBe(undefined);
  expect(deleteOverdueOrganizationsSweep.reports?.(since)).toEqual({ message: 'organizations-deleted', since });
});

test('once it is spared, the people who manage it learn that, and the task is completed', async () => {
  await settingsOf(world, id, { sparedUntil: new Date(world.clock.now().getTime() + 100 * dayMs) });
  expect(await remind()).toMatchObject({ done: 1 });
  await eventually(async () => (await taskOf())[0]?.['status'] === 'completed');
  // Notifications are gathered for a minute.
  await eventually(async () => {
    world.clock.advance(61_000);
    return (await subjectsTo([owner.user.email])).flat().includes('An organization is not deleted');
  });
});

test('after the deletion, all of them are told although their memberships have ended', async () => {
  await settingsOf(world, id, {
    sparedUntil: null,
    billingEmail: invoices,
    markedForDeletionAt: new Date(world.clock.now().getTime() - 8 * dayMs),
    deletionNotBefore: new Date(world.clock.now().getTime() - dayMs),
    deletionNotice: 'one_day',
  });
  const before = world.clock.now().toISOString();
  expect(await runSweep(world, deleteOverdueOrganizationsSweep)).toMatchObject({ done: 1 });
  await eventually(async () =>
    (await subjectsTo(everybody())).every((subjects) => subjects.includes('An organization was deleted')),
  );
  expect((await subjectsTo([member.user.email])).flat()).toEqual([]);
  const message = { message: 'organizations-deleted', since: before } as const;
  const text = await world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, (unit) =>
    systemMessageText(message, unit),
  );
  expect(text).toMatch(new RegExp(`^Organizations were deleted.*${id}`));
});

async function notified(topic: string): Promise<string[]> {
  const rows = await asOwner<{ user_id: string }>(
    world,
    'select user_id from notifications where organization_id = $1 and topic = $2 order by user_id',
    [id, topic],
  );
  return rows.map((row) => row.user_id);
}
