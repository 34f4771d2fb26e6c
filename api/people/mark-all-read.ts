import { notification } from '#entities/notifications/notification.ts';
import type { DataClient } from '#entities/kit/unit/data-client.ts';

/** Maximum number of notifications that one request marks: that of all changes of many records. */
const batch = 1_000;

export interface MarkedNotifications {
  /** Number of notifications that are read now and were not before. */
  readonly markedCount: number;
  /** Whether there are more; the caller repeats the request. */
  readonly hasMore: boolean;
}

/** Marks the unread notifications of the caller as read, those that they can view. */
export async function markNotificationsRead(data: DataClient): Promise<MarkedNotifications> {
  const unread = await data.find(notification, { where: { isRead: { eq: false } }, limit: batch + 1 });
  const ids = unread.slice(0, batch).map(({ id }) => id);
  const { changed } = await data.updateAll(notification, ids, { isRead: true });
  return { markedCount: changed.length, hasMore: unread.length > batch };
}
