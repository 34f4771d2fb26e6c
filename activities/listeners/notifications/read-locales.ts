import { userSetting } from '#entities/identity/user-setting.ts';
import { usualLocale, type Locale } from '#entities/kit/base/localized.ts';
import type { UnitOfWork } from '#entities/kit/unit/unit-of-work.ts';
import { organizationSetting } from '#entities/organizations/organization-setting.ts';

export interface Member {
  readonly organizationId: string;
  readonly userId: string;
}

/** Rows that one statement reads. */
const pageSize = 1_000;

interface Locales {
  for(member: Member): Locale;
}

/**
 * Reads the languages and time zones of people: those of their own settings; without a time zone there, that of the organization. The unit
 * of work is one of the server.
 */
export async function readLocales({ data }: Pick<UnitOfWork, 'data'>, members: readonly Member[]): Promise<Locales> {
  const [userIds, organizationIds] = [
    [...new Set(members.map(({ userId }) => userId))],
    [...new Set(members.map(({ organizationId }) => organizationId))],
  ];
  const people = new Map<string, { readonly locale: string; readonly timezone: string | null }>();
  for (const ids of pagesOf(userIds))
    for (const held of await data.find(userSetting, { where: { userId: { in: ids } }, limit: ids.length }))
      people.set(held.userId, held);
  const zones = new Map<string, string>();
  for (const ids of pagesOf(organizationIds))
    for (const held of await data.find(organizationSetting, {
      where: { organizationId: { in: ids } },
      limit: ids.length,
    }))
      zones.set(held.organizationId, held.timezone);
  return {
    for: ({ userId, organizationId }) => {
      const own = people.get(userId);
      return {
        language: own?.locale ?? usualLocale.language,
        timeZone: own?.timezone ?? zones.get(organizationId) ?? usualLocale.timeZone,
      };
    },
  };
}

function pagesOf(ids: readonly string[]): string[][] {
  return Array.from({ length: Math.ceil(ids.length / pageSize) }, (_none, n) =>
    ids.slice(n * pageSize, (n + 1) * pageSize),
  );
}
