import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { verifyInstallation } from '#tools/commands/verify.ts';
import { task } from '#entities/work/task.ts';
import { asOwner } from '../kit/as-owner.ts';
import { asSystem } from '../kit/as-person.ts';
import { buildPerson, type Person } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

/** Without a worker, which would send what is planted. */
let world: World;
let person: Person;
beforeAll(async () => {
  // It is broken on purpose, which the check at the end would rightly find.
  world = await openWorld({ skipVerify: true, environment: { CORE_WORKFLOWS_DISPATCH_ENABLED: 'false' } });
  person = await buildPerson(world);
});
afterAll(() => world.close());
beforeEach(async () => {
  for (const table of ['notification_sendings', 'notification_digests', 'emails'])
    await asOwner(world, `delete from ${table}`);
});

const minutesAgo = (minutes: number) => new Date(world.clock.now().getTime() - minutes * 60_000);

/** What is found about notifications, digests and e-mails. */
async function found(pageSize = 1_000): Promise<string[]> {
  const lines = await verifyInstallation(world.runtime, { isQuiet: true, pageSize });
  return lines.filter((line) => /^(notification|digest|e-mail)[ /]/.test(line) && !/record_kinds|history/.test(line));
}

interface PlantedSending {
  readonly state: 'due' | 'sent' | 'collected' | 'dropped';
  readonly digestId?: string;
  readonly round?: number;
  readonly dueAt?: Date;
}

/** @returns the id of the notification */
async function plantSending({ state, digestId, round = 1, dueAt }: PlantedSending): Promise<string> {
  const id = newId();
  await asOwner(
    world,
    `insert into notification_sendings (notification_id, channel, organization_id, user_id, topic, is_default, is_urgent, state, round,
       due_at, digest_id, told_at, updated_at)
     values ($1, 'email', $2, $3, 'task.assigned', true, false, $4, $5, $6, $7, now(), now())`,
    [id, person.organization.id, person.user.id, state, round, dueAt ?? null, digestId ?? null],
  );
  return id;
}

interface PlantedDigest {
  readonly state: 'claimed' | 'sent' | 'empty';
  readonly userId?: string;
  readonly dueAt?: Date;
}

async function plantDigest({ state, userId = person.user.id, dueAt }: PlantedDigest): Promise<string> {
  const id = newId();
  await asOwner(
    world,
    `insert into notification_digests (id, organization_id, user_id, channel, cadence, period, state, round, due_at, updated_at)
     values ($1, $2, $3, 'email', 'daily', $1, $4, 1, $5, now())`,
    [id, person.organization.id, userId, state, dueAt ?? null],
  );
  return id;
}

/** @returns the id of the e-mail */
async function plantEmail(template: 'notification' | 'digest', aboutId: string, state = 'sent', round = 1) {
  const id = newId();
  await asOwner(
    world,
    `insert into emails (id, created_at, updated_at, created_by, updated_by, record_version, organization_id, key, template, about_id,
       about_round, status, attempts, topics)
     values ($1, now(), now() - interval '1 hour', 'system:test', 'system:test', 1, $2, $3, $4, $5, $6, $7, 1, '{}')`,
    [id, person.organization.id, `${template}/${aboutId}/${round}`, template, aboutId, round, state],
  );
  return id;
}

/** A digest that was sent, with one notification. */
async function plantWholeDigest(): Promise<{ readonly digest: string; readonly sending: string }> {
  const digest = await plantDigest({ state: 'sent' });
  await plantEmail('digest', digest);
  return { digest, sending: await plantSending({ state: 'collected', digestId: digest }) };
}

test('notifications that are in order print nothing', async () => {
  await plantWholeDigest();
  await plantEmail('notification', await plantSending({ state: 'sent' }));
  await plantSending({ state: 'due', dueAt: minutesAgo(5) });
  await plantSending({ state: 'dropped' });
  await plantDigest({ state: 'empty' });
  const claimed = await plantDigest({ state: 'claimed', dueAt: minutesAgo(-10) });
  await plantSending({ state: 'collected', digestId: claimed });
  expect(await found()).toEqual([]);
});

test('notifications that should have been sent long ago are printed', async () => {
  const sending = await plantSending({ state: 'due', dueAt: minutesAgo(30) });
  const schedule = `the schedule ${world.name}/send-due-notifications is MISSING`;
  expect(await found()).toEqual([`notification ${sending} should have been sent on email long ago, but ${schedule}`]);
  await asOwner(world, 'delete from notification_sendings');
  const digest = await plantDigest({ state: 'claimed', dueAt: minutesAgo(30) });
  await plantSending({ state: 'collected', digestId: digest });
  const due = /^notification\/digests: 1 are due, the oldest since /;
  expect(await found()).toEqual([expect.stringMatching(due)]);
});

test('a notification in a digest that does not exist, and in one of somebody else', async () => {
  const gone = newId();
  const lost = await plantSending({ state: 'collected', digestId: gone });
  const others = await plantDigest({ state: 'sent', userId: (await buildPerson(world)).user.id });
  await plantEmail('digest', others);
  const mixed = await plantSending({ state: 'collected', digestId: others });
  expect(await found()).toEqual([
    `notification ${lost} is in digest ${gone} on email, which does not exist or is not of the same person`,
    `notification ${mixed} is in digest ${others} on email, which does not exist or is not of the same person`,
  ]);
});

test('a notification that was told by itself and in a digest', async () => {
  const { digest, sending } = await plantWholeDigest();
  await plantEmail('notification', sending, 'outdated');
  expect(await found()).toEqual([]);
  await asOwner(world, `delete from emails where template = 'notification'`);
  const email = await plantEmail('notification', sending);
  expect(await found()).toEqual([
    `notification ${sending} is in digest ${digest}, and e-mail ${email} has reported it by itself`,
  ]);
});

test('a notification and a digest that were sent without an e-mail', async () => {
  const sending = await plantSending({ state: 'sent', round: 2 });
  await plantEmail('notification', sending, 'outdated', 1);
  const { digest } = await plantWholeDigest();
  await asOwner(world, `delete from emails where template = 'digest'`);
  expect(await found()).toEqual([
    `notification ${sending} was sent by e-mail, but there is no e-mail`,
    `digest ${digest} was sent by e-mail, but there is no e-mail`,
  ]);
});

test('a digest without a notification, unless these may have been removed since', async () => {
  const { digest } = await plantWholeDigest();
  await asOwner(world, 'delete from notification_sendings');
  expect(await found()).toEqual([`digest ${digest} is sent, but has no notification`]);
  await asOwner(world, `update notification_digests set updated_at = now() - interval '55 days'`);
  expect(await found()).toEqual([]);
});

test('the e-mail of a digest that is to be sent, and no workflow sends it', async () => {
  const digest = await plantDigest({ state: 'sent' });
  await plantSending({ state: 'collected', digestId: digest });
  const email = await plantEmail('digest', digest, 'waiting');
  expect(await found()).toEqual([
    `e-mail ${email} (digest) is waiting, but its workflow ${world.name}/email/digest/${digest}/1 is MISSING`,
  ]);
});

test('an overdue task of which nobody was reminded, and a reminder without its event', async () => {
  const { id } = await asSystem(world, person.organization.id, (data) =>
    data.create(task, { title: 'late', dueAt: minutesAgo(60), assignerId: person.user.id }),
  );
  const reminders = async () =>
    (await verifyInstallation(world.runtime, { isQuiet: true })).filter(
      (line) => line.includes(`task ${id}`) && /remind|told/.test(line),
    );
  expect(await reminders()).toEqual([
    `somebody should have been reminded of task ${id}, which is overdue, but the schedule ${world.name}/remind-due-tasks is MISSING`,
  ]);
  await asOwner(
    world,
    `insert into task_reminders (task_id, due_at, stage, told_at) select id, due_at, 'overdue', now() from tasks where id = $1`,
    [id],
  );
  expect(await reminders()).toEqual([`task ${id} was to be reminded of as overdue, but no event has reported it`]);
});

test('the same is found on pages of any size', async () => {
  for (let n = 0; n < 3; n++) {
    await plantSending({ state: 'sent' });
    await plantDigest({ state: 'sent' });
  }
  const all = await found();
  expect(all).toHaveLength(9);
  expect((await found(1)).toSorted()).toEqual(all.toSorted());
});
