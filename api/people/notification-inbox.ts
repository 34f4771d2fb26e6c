import type { Config } from '#config/objects/root.ts';
import { notification } from '#entities/notifications/notification.ts';
import type { Filter } from '#entities/kit/read/filter.ts';
import type { PageSelection } from '#entities/kit/read/selection.ts';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

const dayMs = 86_400_000;

const unread: Filter = { is: 'field', field: 'isRead', comparison: { eq: false } };

/** Fields that are read of a page of notifications of which only the ids matter. */
export const idsOfPage: PageSelection['parts'] = [
  { is: 'records', as: 'records', record: { module: notification, parts: [{ is: 'value', as: 'id', field: 'id' }] } },
  {
    is: 'pageInfo',
    as: 'pageInfo',
    parts: [
      { is: 'hasNextPage', as: 'hasNextPage' },
      { is: 'endCursor', as: 'endCursor' },
    ],
  },
];

/** Fields that `idsOfPage` reads. */
export interface PageOfIds {
  readonly records: readonly { readonly id: string }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

export interface NotificationInbox {
  /** The page, as its selection says. */
  readonly page: RecordJson;
  readonly unreadCount: number;
}

/**
 * The notifications of the caller, the newest first: all that are unread, and those that were read if they are not older than the look-back.
 * @param lookBackDays `server.notificationlookbackdays`
 */
export async function notificationInbox(
  data: DataClient,
  selection: Omit<PageSelection, 'module' | 'filter' | 'orderBy'>,
  { lookBackDays, now }: { readonly lookBackDays: number; readonly now: Date },
): Promise<NotificationInbox> {
  const filter = inboxFilter(lookBackDays, now);
  const page: PageSelection = {
    ...selection,
    module: notification,
    filter,
    orderBy: [{ field: 'createdAt', direction: 'desc' }],
  };
  const counted: PageSelection = {
    module: notification,
    filter: unread,
    orderBy: [],
    size: 0,
    from: 'first',
    parts: [{ is: 'totalCount', as: 'count' }],
  };
  const { inbox, open } = (await data.answers.lists([
    { is: 'page', as: 'inbox', page },
    { is: 'page', as: 'open', page: counted },
  ])) as unknown as { readonly inbox: RecordJson; readonly open: { readonly count: number } };
  return { page: inbox, unreadCount: open.count };
}

/** All notifications that are unread, and those that were read if they are not older than the look-back. */
export function inboxFilter(lookBackDays: number, now: Date): Filter {
  const since = new Date(now.getTime() - lookBackDays * dayMs);
  const recent: Filter = { is: 'field', field: 'createdAt', comparison: { gte: since } };
  return { is: 'or', filters: [unread, recent] };
}

/** Base of links to the application, without a trailing slash. */
export function consoleUrlOf({ ormconfig }: Config): string | null {
  return ormconfig.notifications.consoleurl.replace(/\/+$/, '') || null;
}
