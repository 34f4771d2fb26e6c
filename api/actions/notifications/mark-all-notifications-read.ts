import { Type } from 'typebox';
import { notification } from '#entities/notifications/notification.ts';
import { defineAction } from '../kit/define-action.ts';

/** Maximum number of notifications that one request marks: that of all changes of many records. */
const batch = 1_000;

/** One notification is marked by a change of its field `isRead`. */
export const markAllNotificationsRead = defineAction({
  name: 'markAllNotificationsRead',
  url: '/v1/notifications/read',
  tag: 'Notifications',
  summary: 'Mark all notifications as read',
  description:
    'Marks the unread notifications of the caller in the current organization as read, up to 1,000 in one request. To mark one, or to mark it as unread, change its `isRead`.',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  answer: {
    markedCount: Type.Integer({ description: 'Number of notifications that are read now and were not before.' }),
    hasMore: Type.Boolean({ description: 'Whether more unread notifications exist; repeat the request.' }),
  },
  errors: ['permission_denied'],
  run: async ({ unit: { data } }) => {
    const unread = await data.find(notification, { where: { isRead: { eq: false } }, limit: batch + 1 });
    const ids = unread.slice(0, batch).map(({ id }) => id);
    const { changed } = await data.updateAll(notification, ids, { isRead: true });
    return { markedCount: changed.length, hasMore: unread.length > batch };
  },
});
