import { GraphQLBoolean, GraphQLInt, GraphQLNonNull, GraphQLObjectType } from 'graphql';
import { markNotificationsRead, type MarkedNotifications } from '../../people/mark-all-read.ts';
import type { GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';

/** Hand-written, because it changes all records that fit, whichever they are. */
export const markAllNotificationsRead: HandWrittenField = {
  on: 'Mutation',
  name: 'markAllNotificationsRead',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  build: () => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType<MarkedNotifications, GraphqlContext>({
        name: 'MarkAllNotificationsReadPayload',
        fields: {
          markedCount: {
            type: new GraphQLNonNull(GraphQLInt),
            description: 'Number of notifications that are read now and were not before.',
          },
          hasMore: {
            type: new GraphQLNonNull(GraphQLBoolean),
            description: 'Whether more unread notifications exist; repeat the mutation.',
          },
        },
      }),
    ),
    description:
      'Marks the unread notifications of the caller in the current organization as read, up to 1,000 in one request.',
    resolve: (_source, _args, { unit }) => markNotificationsRead(unit.data),
  }),
};
