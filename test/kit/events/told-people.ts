import { ScheduleOverlapPolicy } from '@temporalio/client';
import { expect } from 'vitest';
import type { SentNotifications } from '#workflows/notifications/send-due-notifications.contract.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { gatheredMs } from '#entities/notifications/notification-sending-rows.ts';
import { maintainPartitions } from '#entities/kit/outbox/outbox.ts';
import { asOwner } from '../as-owner.ts';
import { isSettled } from './event-fixtures.ts';
import { eventually } from '../eventually.ts';
import { mailsTo, unfolded } from '../mailbox.ts';
import { buildPerson, signedIn, type Person } from '../people.ts';
import { runSchedule } from '../sweep.ts';
import type { TestClient } from '../test-client.ts';
import type { World } from '../world.ts';

/** A person with a client that is signed in as them. */
export interface Teller {
  readonly person: Person;
  readonly client: TestClient;
}

/** An owner with an organization of their own, and a member of it. */
export async function ownerAndMember(world: World): Promise<{ readonly owner: Teller; readonly member: Teller }> {
  const owner = await buildPerson(world);
  const member = await buildPerson(world, { organization: owner.organization, role: 'member' });
  return {
    owner: { person: owner, client: await signedIn(world, owner) },
    member: { person: member, client: await signedIn(world, member) },
  };
}

/** Sets the clock of the installation, with room for its events. People who were signed in before may have to sign in again. */
export async function setClock(world: World, instant: string): Promise<void> {
  world.clock.advance(Date.parse(instant) - world.clock.now().getTime());
  const context = { caller: systemCaller('test'), requestId: `clock-${newId()}` };
  const forever = { eventsMs: 3_650 * 86_400_000, historyMs: 3_650 * 86_400_000 };
  await world.runtime.database.transact(context, (unit) => maintainPartitions(unit, world.clock.now(), forever));
}

/** Sends what is due, as it happens every minute. */
export function sendDue(world: World): Promise<SentNotifications> {
  return runSchedule(world, 'send-due-notifications');
}

/** A day passes for what is held back for the members of an organization, and the schedule runs. */
export async function nextMorning(world: World, { organization }: Person): Promise<void> {
  const aged = `update notification_sendings set told_at = told_at - interval '26 hours', due_at = now() - interval '1 hour'
    where organization_id = $1 and state = 'due' and told_at > now() - interval '1 day'`;
  await asOwner(world, aged, [organization.id]);
  // Digests that a dead process has claimed are claimed again a quarter of an hour later.
  await asOwner(
    world,
    `update notification_digests set due_at = now() - interval '1 minute' where organization_id = $1 and state = 'claimed'`,
    [organization.id],
  );
  const schedule = world.runtime.temporal.client.schedule.getHandle(`${world.name}/send-due-notifications`);
  await schedule.trigger(ScheduleOverlapPolicy.BUFFER_ONE).catch((error: unknown) => {
    // The first worker makes it.
    if ((error as Error).name !== 'ScheduleNotFoundError') throw error;
  });
}

export async function prefer(by: TestClient, values: object): Promise<string> {
  const { status, body } = await by.post('/v1/notification-preferences', values);
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** Changes the person's own settings: language and time zone. */
export async function changeSettings(by: TestClient, values: object): Promise<void> {
  const { body: held } = await by.get('/v1/user-settings');
  const url = `/v1/user-settings/${held.data[0].id}`;
  const { status, body } = await by.mutate({ method: 'PATCH', url, payload: values });
  expect(status, JSON.stringify(body)).toBe(200);
}

/** Creates a task that is assigned to a person. */
export async function assign(by: TestClient, { user }: Person, title: string, values: object = {}): Promise<string> {
  const { status, body } = await by.post('/v1/tasks', { title, assignee_id: user.id, ...values });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.id;
}

/** How notifications of a person are sent, the oldest first. */
export async function sendingsOf(world: World, { user }: Person) {
  await eventually(() => isSettled(world));
  return asOwner<{ topic: string; state: string; round: number; due_at: Date | null; digest_id: string | null }>(
    world,
    'select topic, state, round, due_at, digest_id from notification_sendings where user_id = $1 order by notification_id',
    [user.id],
  );
}

/**
 * Waits until nothing is being sent any more: events are settled, the minute in which notifications are gathered is over, and each e-mail of
 * organizations has come to its end. It does not wait for notifications that are held back for more than a quarter of an hour.
 */
export async function allSent(world: World): Promise<void> {
  await eventually(() => isSettled(world));
  const gathered = await asOwner(
    world,
    `select 1 from notification_sendings where state = 'due' and due_at <= $1 limit 1`,
    [new Date(world.clock.now().getTime() + gatheredMs)],
  );
  if (gathered.length > 0) {
    world.clock.advance(gatheredMs);
    await sendDue(world);
  }
  const soon = new Date(world.clock.now().getTime() + 15 * 60_000);
  await eventually(async () => {
    const [row] = await asOwner<{ count: number }>(
      world,
      `select (select count(*) from emails where status in ('pending', 'sending', 'waiting'))::int
         + (select count(*) from notification_sendings where state = 'due' and due_at <= $1)::int
         + (select count(*) from notification_sendings where state = 'planned')::int
         + (select count(*) from notification_digests where state = 'claimed' and channel = 'email')::int as count`,
      [soon],
    );
    return row?.count === 0;
  });
}

/** Mails to a person, without soft line breaks. */
export async function mailsOf(world: World, { user }: Person): Promise<string[]> {
  return (await mailsTo(world, user.email)).map(unfolded);
}
