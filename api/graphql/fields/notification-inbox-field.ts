import { GraphQLBoolean, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { notification } from '#entities/notifications/notification.ts';
import { defaultPageSize, pageSlice } from '../../http/response/page-slice.ts';
import { consoleUrlOf, idsOfPage, notificationInbox, type PageOfIds } from '../../people/notification-inbox.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

type PageInfo = PageOfIds['pageInfo'];

interface Inbox extends PageInfo {
  readonly ids: readonly string[];
  readonly unreadCount: number;
  readonly consoleUrl: string | null;
}

/** Hand-written, because the look-back of the configuration decides what is in it. */
export const notificationInboxField: HandWrittenField = {
  on: 'Query',
  name: 'notificationInbox',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType<Inbox, GraphqlContext>({
        name: 'NotificationInbox',
        fields: {
          notifications: {
            type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(types.objectOf(notification)))),
            description: 'The newest first.',
            resolve: ({ ids }, _args, context, info) => types.readAll(notification, ids, context, info),
          },
          unreadCount: { type: new GraphQLNonNull(GraphQLInt), description: 'Number of unread notifications.' },
          consoleUrl: {
            type: GraphQLString,
            description: 'Base of links to the application (ormconfig.notifications.consoleurl); null without one.',
          },
          hasNextPage: { type: new GraphQLNonNull(GraphQLBoolean), description: 'Whether more notifications follow.' },
          endCursor: { type: GraphQLString, description: 'Cursor of the last notification, for `after`.' },
        },
      }),
    ),
    description:
      'The notifications of the caller in the current organization, the newest first: all that are unread, and those that were read within the days of server.notificationlookbackdays. The URL of the page of a record is `consoleUrl` followed by its `link`.',
    args: {
      first: { type: GraphQLInt, description: `Maximum number of notifications. Without it: ${defaultPageSize}.` },
      after: { type: GraphQLString, description: 'Only notifications after this cursor.' },
    },
    resolve: async (_source, { first, after }, { unit, services }): Promise<Inbox> => {
      const { current } = services.config;
      const { page, unreadCount } = await notificationInbox(
        unit.data,
        {
          ...pageSlice({ first: first as number | null, after: after as string | null }, current.server.maxresultlimit),
          parts: idsOfPage,
        },
        { lookBackDays: current.server.notificationlookbackdays, now: unit.clock.now() },
      );
      const { records, pageInfo } = page as unknown as PageOfIds;
      return { ids: records.map(({ id }) => id), unreadCount, consoleUrl: consoleUrlOf(current), ...pageInfo };
    },
  }),
};
