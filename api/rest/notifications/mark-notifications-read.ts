import { Type } from 'typebox';
import { markNotificationsRead } from '../../people/mark-all-read.ts';
import { defineRoute } from '../../http/route.ts';
import { recordNames } from '../records/record-names.ts';
import { notification } from '#entities/notifications/notification.ts';

const { path, tag } = recordNames(notification);

/** One notification is marked by a change of its field `is_read`. */
export const readNotifications = defineRoute({
  method: 'POST',
  url: `${path}/read`,
  operationId: 'markAllNotificationsRead',
  tag,
  summary: 'Mark all notifications as read',
  description:
    'Marks the unread notifications of the caller in the current organization as read, up to 1,000 in one request. To mark one, or to mark it as unread, change its is_read.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  answers: {
    200: Type.Object({
      marked_count: Type.Integer({ description: 'Number of notifications that are read now and were not before.' }),
      has_more: Type.Boolean({ description: 'Whether more unread notifications exist; repeat the request.' }),
    }),
  },
  errors: ['permission_denied'],
  handle: async ({ unit }) => {
    const { markedCount, hasMore } = await markNotificationsRead(unit.data);
    return { status: 200, body: { marked_count: markedCount, has_more: hasMore } };
  },
});
