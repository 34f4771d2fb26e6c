import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { pino } from 'pino';
import { reminderStage } from '#activities/mails/due-stage.ts';
import { remindDueTasksSweep } from '#activities/sweeps/notifications/remind-due-tasks.sweep.ts';
import { sweepPage } from '#activities/sweeps/sweep-page.ts';
import type { SweepReport } from '#workflows/kit/sweep-contract.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { eventually } from '../../kit/eventually.ts';
import { isSettled } from '../../kit/events/event-fixtures.ts';
import { signedIn } from '../../kit/people.ts';
import { runSchedule } from '../../kit/sweep.ts';
import {
  allSent,
  assign,
  changeSettings,
  mailsOf,
  ownerAndMember,
  prefer,
  setClock,
  type Teller,
} from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const dayMs = 86_400_000;

let world: World;
let owner: Teller;
let member: Teller;
/** When the tasks are due: at 16:00 in Vienna. */
let dueAt: Date;
let day = 0;
beforeAll(async () => {
  world = await openWorld({ worker: true });
});
afterAll(() => world.close());

beforeEach(async () => {
  day += 60;
  dueAt = new Date(Date.parse('2026-12-01T15:00:00Z') + day * dayMs);
  await at(-3 * dayMs);
  ({ owner, member } = await ownerAndMember(world));
  await changeSettings(member.client, { timezone: 'Europe/Vienna' });
});

/** @param ms after the due date */
async function at(ms: number): Promise<void> {
  await setClock(world, new Date(dueAt.getTime() + ms).toISOString());
}

const hour = 3_600_000;
const remind = () => runSchedule<SweepReport>(world, 'remind-due-tasks');

/** Titles of the reminders in the list of the app, the oldest first. */
async function reminders({ person }: Teller): Promise<string[]> {
  await eventually(() => isSettled(world));
  const rows = await asOwner<{ title: string }>(
    world,
    `select title from notifications where user_id = $1 and topic in ('task.due_tomorrow', 'task.due_today', 'task.overdue') order by id`,
    [person.user.id],
  );
  return rows.map(({ title }) => title);
}

async function change(id: string, payload: object): Promise<void> {
  const client = await signedIn(world, owner.person);
  const { status, body } = await client.mutate({ method: 'PATCH', url: `/v1/tasks/${id}`, payload });
  expect(status, JSON.stringify(body)).toBe(200);
}

const due = (title: string) => assign(owner.client, member.person, title, { due_at: dueAt.toISOString() });

describe('a task', () => {
  test('is told once each time: tomorrow and today to its assignee, overdue to the assigner as well', async () => {
    await due('write the report');
    await remind();
    expect(await reminders(member)).toEqual([]);
    // At 6:59 and at 7:00 in Vienna.
    await at(-33 * hour - 60_000);
    await remind();
    expect(await reminders(member)).toEqual([]);
    await at(-33 * hour);
    for (const _time of [1, 2]) await remind();
    expect(await reminders(member)).toEqual(['A task is due tomorrow']);
    await at(-9 * hour);
    for (const _time of [1, 2]) await remind();
    expect(await reminders(member)).toEqual(['A task is due tomorrow', 'A task is due today']);
    expect(await reminders(owner)).toEqual([]);
    await at(60_000);
    for (const _time of [1, 2]) await remind();
    expect(await reminders(member)).toHaveLength(3);
    expect(await reminders(owner)).toEqual(['A task is overdue']);
    await allSent(world);
    const mail = (await mailsOf(world, member.person)).find((one) => one.includes('A task is overdue'));
    expect(mail).toMatch(/TSK-\w+: write the report/);
    expect(mail).toMatch(/Due \w+ \d+, \d{4} at 4:00\sPM GMT\+1/u);
    await at(40 * dayMs);
    await remind();
    expect(await reminders(member)).toHaveLength(3);
  });

  test('whose due date moves is told anew for the new date', async () => {
    const id = await due('moved');
    await at(-9 * hour);
    await remind();
    expect(await reminders(member)).toEqual(['A task is due today']);
    await change(id, { due_at: new Date(dueAt.getTime() + dayMs).toISOString() });
    await remind();
    expect(await reminders(member)).toEqual(['A task is due today', 'A task is due tomorrow']);
    await at(dayMs - 9 * hour);
    await remind();
    expect(await reminders(member)).toEqual(['A task is due today', 'A task is due tomorrow', 'A task is due today']);
  });

  test.each([
    ['completed', { status: 'completed' }],
    ['given up', { status: 'wont_do' }],
    ['without a due date', { due_at: null }],
    ['somebody else’s', { assignee_id: null }],
  ])(
    'that is %s is not told to its former assignee, also where a reminder is already on its way',
    async (_what, values) => {
      const before = await due('before');
      await change(before, values);
      const after = await due('after');
      await at(-9 * hour);
      await remind();
      expect(await reminders(member)).toEqual(['A task is due today']);
      await change(after, values);
      await allSent(world);
      expect((await mailsOf(world, member.person)).filter((mail) => mail.includes('is due today'))).toEqual([]);
    },
  );

  test('that is deleted is not told', async () => {
    const id = await due('deleted');
    await owner.client.mutate({ method: 'DELETE', url: `/v1/tasks/${id}` });
    await at(60_000);
    expect(await remind()).toMatchObject({ done: 0, failed: 0 });
    expect(await reminders(member)).toEqual([]);
  });

  test('of an archived organization is not told, until the archiving is taken back', async () => {
    await due('archived');
    const archive = async (is: boolean) => {
      const client = await signedIn(world, owner.person);
      const url = `/v1/organizations/${owner.person.organization.id}`;
      const { status, body } = await client.mutate({ method: 'PATCH', url, payload: { is_archived: is } });
      expect(status, JSON.stringify(body)).toBe(200);
    };
    await archive(true);
    await at(-9 * hour);
    expect(await remind()).toMatchObject({ done: 0, failed: 0 });
    await archive(false);
    expect(await remind()).toMatchObject({ done: 1, failed: 0 });
    expect(await reminders(member)).toEqual(['A task is due today']);
  });

  test('is told to nobody who has muted the topic', async () => {
    for (const channel of ['in_app', 'email'])
      await prefer(member.client, { channel, topic_pattern: 'task.due_today', cadence: 'mute' });
    await due('muted');
    await at(-9 * hour);
    await remind();
    expect(await reminders(member)).toEqual([]);
  });
});

test('several due tasks are one mail', async () => {
  for (const title of ['a', 'b', 'c']) await due(title);
  await allSent(world);
  await at(-9 * hour);
  await remind();
  await allSent(world);
  const mails = await mailsOf(world, member.person);
  expect(mails.filter((mail) => /^Subject: 3 tasks are due today\r?$/m.test(mail))).toHaveLength(1);
  expect(mails).toHaveLength(2);
});

test('sweeps at the same time announce each task once', async () => {
  await due('once');
  await at(60_000);
  const onSwept = () => {};
  const { config, runtime } = world;
  const { database, temporal } = runtime;
  const deps = { config, database, temporal, logger: pino({ enabled: false }), onSwept };
  const pages = await Promise.all(Array.from({ length: 6 }, () => sweepPage(deps, remindDueTasksSweep, {})));
  expect(pages.reduce((sum, { report }) => sum + report.done, 0)).toBe(1);
  expect(pages.map(({ report }) => report.failed)).toEqual(pages.map(() => 0));
  expect(await reminders(member)).toEqual(['A task is overdue']);
});

describe('the stage of a due date', () => {
  const stage = (due_: string, now: string, zone: string) => reminderStage(new Date(due_), new Date(now), zone);

  test.each([
    ['2026-06-03T15:00:00Z', '2026-06-01T12:00:00Z', 'UTC', undefined],
    ['2026-06-03T15:00:00Z', '2026-06-02T06:59:00Z', 'UTC', undefined],
    ['2026-06-03T15:00:00Z', '2026-06-02T07:00:00Z', 'UTC', 'due_tomorrow'],
    ['2026-06-03T15:00:00Z', '2026-06-03T07:00:00Z', 'UTC', 'due_today'],
    ['2026-06-03T15:00:00Z', '2026-06-03T15:00:00Z', 'UTC', 'overdue'],
    // It is Thursday already in Tokyo, and still Wednesday in New York.
    ['2026-06-03T15:00:00Z', '2026-06-02T22:00:00Z', 'Asia/Tokyo', 'due_tomorrow'],
    ['2026-06-03T02:00:00Z', '2026-06-02T12:00:00Z', 'America/New_York', 'due_today'],
    // Due before people are told of the day: they are told at night.
    ['2026-06-03T05:00:00Z', '2026-06-03T00:10:00Z', 'UTC', 'due_today'],
    ['2026-06-03T05:00:00Z', '2026-06-02T23:50:00Z', 'UTC', 'due_tomorrow'],
  ] as const)('%s at %s in %s is %s', (dueDate, now, zone, expected) => {
    expect(stage(dueDate, now, zone)).toBe(expected);
  });
});
