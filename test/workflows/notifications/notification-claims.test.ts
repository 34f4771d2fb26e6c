import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import { changeSendings, claimDueSendings } from '#entities/notifications/notification-sending-rows.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { asOwner } from '../../kit/as-owner.ts';
import { runSchedule } from '../../kit/sweep.ts';
import { allSent, assign, mailsOf, ownerAndMember, prefer, sendDue, setClock } from '../../kit/events/told-people.ts';
import { openWorld, type World } from '../../kit/world.ts';

const minute = 60_000;
const day = 86_400_000;

let world: World;
beforeAll(async () => {
  world = await openWorld({ worker: true, environment: { CORE_JOBQUEUE_QUEUECONF_TESTONLY: 'true' } });
});
afterAll(() => world.close());

const inDatabase = <T>(work: (unit: UnitOfWork) => Promise<T>) =>
  world.runtime.database.transact({ caller: systemCaller('test'), requestId: newId() }, work);

interface Waiting {
  readonly userId: string;
  readonly channel?: string;
  readonly dueInMs: number;
  readonly toldInMs?: number;
}

/** Adds what waits to be sent to people of an organization of their own, as a row alone. */
async function addWaiting({ userId, channel = 'email', dueInMs, toldInMs = dueInMs }: Waiting): Promise<string> {
  const id = newId();
  const at = (ms: number) => new Date(world.clock.now().getTime() + ms);
  await asOwner(
    world,
    `insert into notification_sendings (notification_id, channel, organization_id, user_id, topic, is_default, is_urgent, state, round,
       due_at, told_at, updated_at) values ($1, $2, $3, $4, 'task.assigned', true, false, 'due', 1, $5, $6, $6)`,
    [id, channel, newId(), userId, at(dueInMs), at(toldInMs)],
  );
  return id;
}

const stateOf = async (id: string) => {
  const rows = await asOwner<{ state: string; error: string | null }>(
    world,
    'select state, error from notification_sendings where notification_id = $1',
    [id],
  );
  return rows[0];
};

test('whoever has waited longest comes first, however many came later', async () => {
  // Ids grow: whoever has waited longest has the largest ones, so no order of ids finds them first.
  const people = Array.from({ length: 12 }, () => newId()).toReversed();
  const least = people.length;
  for (const [index, userId] of [...people.entries()].toReversed())
    await addWaiting({ userId, dueInMs: (index - least) * minute });
  for (const userId of people) await addWaiting({ userId, dueInMs: -1 });
  const order: string[] = [];
  for (let round = 0; round < 4; round++) {
    await inDatabase(async (unit) => {
      const claimed = await claimDueSendings(unit, 3, ['task.assigned']);
      order.push(...claimed.map(({ userId }) => userId));
      await changeSendings(
        unit,
        claimed.map((sending) => ({ sending, state: 'dropped' })),
      );
    });
  }
  expect(order).toEqual(people);
  await asOwner(world, 'delete from notification_sendings');
});

test('what is sent on a channel that this release does not have is set aside with the reason, and the others are sent', async () => {
  const { owner, member } = await ownerAndMember(world);
  await prefer(member.client, { channel: 'email', cadence: 'daily' });
  await assign(owner.client, member.person, 'first');
  await allSent(world);
  const digest = newId();
  await asOwner(
    world,
    `insert into notification_digests (id, organization_id, user_id, channel, cadence, period, state, round, due_at, updated_at)
     values ($1, $2, $3, 'pager', 'daily', '2026-11-23', 'claimed', 1, $4, $4)`,
    [digest, owner.person.organization.id, member.person.user.id, world.clock.now()],
  );
  const paged = await addWaiting({ userId: member.person.user.id, channel: 'pager', dueInMs: -minute });
  await setClock(world, new Date(world.clock.now().getTime() + 2 * day).toISOString());
  expect(await sendDue(world)).toEqual({ due: 2, single: 0, digests: 1 });
  await allSent(world);
  expect((await mailsOf(world, member.person)).join('\n')).toContain(': first');
  expect(await stateOf(paged)).toEqual({ state: 'failed', error: 'unknown_channel' });
  expect(await asOwner(world, 'select state, error from notification_digests where id = $1', [digest])).toEqual([
    { state: 'failed', error: 'unknown_channel' },
  ]);
});

test('what has waited for a year is removed, whenever it would be sent', async () => {
  const later = 7_000 * 365 * day;
  const old = await addWaiting({ userId: newId(), dueInMs: later, toldInMs: -367 * day });
  const young = await addWaiting({ userId: newId(), dueInMs: later, toldInMs: -300 * day });
  await runSchedule(world, 'prune-records');
  expect(await stateOf(old)).toBeUndefined();
  expect(await stateOf(young)).toMatchObject({ state: 'due' });
});
