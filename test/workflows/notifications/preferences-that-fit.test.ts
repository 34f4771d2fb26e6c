import { afterAll, beforeAll, expect, test } from 'vitest';
import { readPreferences } from '#activities/listeners/notifications/read-preferences.ts';
import { newId } from '#entities/kit/base/ids.ts';
import { systemCaller } from '#entities/kit/model/caller.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { notificationPreference } from '#entities/notifications/notification-preference.ts';
import { topicPatterns } from '#entities/notifications/notification-topics.ts';
import { buildPerson } from '../../kit/people.ts';
import { openWorld, type World } from '../../kit/world.ts';

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test('however many preferences a person has, only those that may fit are read', async () => {
  const { user, organization } = await buildPerson(world);
  const [userId, organizationId] = [user.id, organization.id];
  const context = (caller: ReturnType<typeof systemCaller>) => ({ caller, requestId: `preferences-${newId()}` });
  await world.runtime.database.transact(context(systemCaller('test', organizationId)), async ({ data }) => {
    for (const topicPattern of topicPatterns)
      await data.create(notificationPreference, { userId, channel: 'email', topicPattern, cadence: 'daily' });
  });
  await world.runtime.database.transact(context(systemCaller('test')), async (unit) => {
    let read = 0;
    const find = async (...asked: Parameters<UnitOfWork['data']['find']>) => {
      const rows = await unit.data.find(...asked);
      if (asked[0] === notificationPreference) read += rows.length;
      return rows;
    };
    // It reads with `find` alone.
    const counting = { data: { find } } as unknown as UnitOfWork;
    const occasion = { organizationId, userId, topic: 'task.assigned' };
    const preferences = await readPreferences(counting, [occasion]);
    expect(preferences.for({ ...occasion, channel: 'email' })).toMatchObject({ topicPattern: 'task.assigned' });
    expect(preferences.for({ ...occasion, channel: 'in_app' })).toBeUndefined();
    expect(read).toBe(3);
  });
});
