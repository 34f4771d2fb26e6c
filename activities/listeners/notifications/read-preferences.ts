import { appliedTo, patternsOf } from '#entities/notifications/notification-topics.ts';
import { notificationPreference } from '#entities/notifications/notification-preference.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { readLocales, type Member } from './read-locales.ts';
import type { Timing } from './sending-plan.ts';

/** Topics and channels of the preference. */
interface Occasion extends Member {
  readonly channel: string;
  readonly topic: string;
}

export interface Preferences {
  /** The one that applies; undefined when none fits. */
  for(occasion: Occasion): Timing | undefined;
}

const pageSize = 1_000;

/** Reads the preferences of these people that may fit: a person can have any number of others. The unit of work is one of the server. */
export async function readPreferences(
  unit: UnitOfWork,
  told: readonly (Member & Pick<Occasion, 'topic'>)[],
): Promise<Preferences> {
  const byMember = new Map<string, RowOf<typeof notificationPreference>[]>();
  const [userIds, organizationIds, patterns] = [
    [...new Set(told.map(({ userId }) => userId))],
    [...new Set(told.map(({ organizationId }) => organizationId))],
    [...new Set(told.flatMap(({ topic }) => patternsOf(topic)))],
  ];
  let after = '';
  for (let isFull = userIds.length > 0; isFull;) {
    const page = await unit.data.find(notificationPreference, {
      where: {
        userId: { in: userIds },
        organizationId: { in: organizationIds },
        topicPattern: { in: patterns },
        id: { gt: after },
      },
      orderBy: [{ field: 'id', direction: 'asc' }],
      limit: pageSize,
    });
    for (const [key, rows] of Map.groupBy(page, keyOf)) {
      const known = byMember.get(key);
      if (known) known.push(...rows);
      else byMember.set(key, rows);
    }
    after = page.at(-1)?.id ?? '';
    isFull = page.length === pageSize;
  }
  // People without a preference need no time zone.
  const locales = await readLocales(
    unit,
    told.filter((member) => byMember.has(keyOf(member))),
  );
  return {
    for: ({ channel, topic, ...member }) => {
      const held = byMember.get(keyOf(member)) ?? [];
      const fits = appliedTo(
        topic,
        held.filter((one) => one.channel === channel),
      );
      return fits && { ...fits, timeZone: locales.for(member).timeZone };
    },
  };
}

function keyOf({ organizationId, userId }: Member): string {
  return `${organizationId}/${userId}`;
}
