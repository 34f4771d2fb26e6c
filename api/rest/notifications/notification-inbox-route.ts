import { Type } from 'typebox';
import { maxCursorLength } from '#entities/kit/read/order.ts';
import { notification } from '#entities/notifications/notification.ts';
import { defaultPageSize } from '../../http/response/page-slice.ts';
import { defineRoute } from '../../http/route.ts';
import { consoleUrlOf, notificationInbox } from '../../people/notification-inbox.ts';
import { listSelection } from '../records/list-query.ts';
import { pageSchema } from '../records/record-pages.ts';
import { recordNames } from '../records/record-names.ts';
import { recordSchema } from '../records/record-schema.ts';
import { selectionOf } from '../records/record-selection.ts';

const { path, tag } = recordNames(notification);

const { data, page_info } = pageSchema(notification, recordSchema(notification)).properties;

/** The list of all notifications takes the filters of every kind; this is what people have before them. */
export const readInbox = defineRoute({
  method: 'GET',
  url: `${path}/inbox`,
  operationId: 'readInbox',
  tag,
  summary: 'Read the inbox',
  description:
    'The notifications of the caller in the current organization, the newest first: all that are unread, and those that were read within the days of server.notificationlookbackdays. The URL of the page of a record is console_url followed by its link.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  query: Type.Object(
    {
      first: Type.Optional(
        Type.Integer({ minimum: 0, description: `Maximum number of notifications. Without it: ${defaultPageSize}.` }),
      ),
      after: Type.Optional(
        Type.String({ maxLength: maxCursorLength, description: 'Only notifications after this cursor.' }),
      ),
    },
    { additionalProperties: false },
  ),
  answers: {
    200: Type.Object({
      ...(data && page_info ? { data, page_info } : {}),
      unread_count: Type.Integer({ description: 'Number of unread notifications.' }),
      console_url: Type.Union([Type.String(), Type.Null()], {
        description: 'Base of links to the application (ormconfig.notifications.consoleurl); null without one.',
      }),
    }),
  },
  errors: ['invalid_input', 'invalid_cursor', 'limit_exceeded'],
  handle: async ({ unit, query, services }) => {
    const { current } = services.config;
    const { server } = current;
    const { registry } = unit;
    const { size, from, after, parts } = listSelection(
      registry,
      selectionOf(registry, notification),
      query,
      server.maxresultlimit,
    );
    const { page, unreadCount } = await notificationInbox(
      unit.data,
      { size, from, parts, ...(after === undefined ? {} : { after }) },
      { lookBackDays: server.notificationlookbackdays, now: unit.clock.now() },
    );
    return { status: 200, body: { ...page, unread_count: unreadCount, console_url: consoleUrlOf(current) } };
  },
});
