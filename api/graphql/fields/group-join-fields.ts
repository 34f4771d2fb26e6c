import { GraphQLEnumType, GraphQLID, GraphQLList, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { group } from '#entities/groups/group.ts';
import {
  decideRequest,
  joinGroup as join,
  maxListed,
  openRequests,
  withdrawRequest,
  type Joining,
  type OpenRequest,
} from '../../people/join-group.ts';
import { askingOf, type GraphqlContext } from '../graphql-context.ts';
import type { HandWrittenField } from '../hand-written-field.ts';
import { recordAct } from '../derived/record-act.ts';
import { DateTime } from '../scalars/date-time.ts';

const id = (description: string) => ({ type: new GraphQLNonNull(GraphQLID), description });
const about = 'Id of the request.';
const { message } = groupJoinRequest.fields;

const joinGroup: HandWrittenField = {
  on: 'Mutation',
  name: 'joinGroup',
  acceptsSingleSignOn: true,
  build: (types) => ({
    type: new GraphQLNonNull(
      new GraphQLObjectType<Joining, GraphqlContext>({
        name: 'JoinGroupPayload',
        fields: {
          group: {
            type: new GraphQLNonNull(types.objectOf(group)),
            resolve: ({ groupId }, _args, context, info) => types.read(group, groupId, context, info),
          },
          status: {
            type: new GraphQLNonNull(
              new GraphQLEnumType({
                name: 'JoinGroupStatus',
                description: 'Result of a request to join a group.',
                values: {
                  JOINED: { value: 'joined', description: 'The caller has joined.' },
                  REQUESTED: { value: 'requested', description: 'Managers of the group decide.' },
                },
              }),
            ),
            description: 'Whether the caller has joined or has sent a request.',
          },
          requestId: { type: GraphQLID, description: 'Id of the request; null for a caller who has joined.' },
        },
      }),
    ),
    description: 'Joins a group that is open, or sends a request to its managers, according to its settings.',
    args: { id: id('Id of the group.'), message: { type: GraphQLString, description: message.description } },
    resolve: (_source, args, context) =>
      join(askingOf(context), args['id'] as string, (args['message'] as string | null | undefined) ?? null),
  }),
};

const openGroupJoinRequests: HandWrittenField = {
  on: 'Query',
  name: 'openGroupJoinRequests',
  acceptsSingleSignOn: true,
  build: () => {
    const request = new GraphQLObjectType<OpenRequest, GraphqlContext>({
      name: 'OpenGroupJoinRequest',
      description: 'Pending request to join a group.',
      fields: {
        id: id(about),
        userId: id('Person who wants to join.'),
        message: { type: GraphQLString, description: message.description },
        createdAt: {
          type: new GraphQLNonNull(DateTime),
          description: 'When the person asked.',
          resolve: ({ createdAt }) => createdAt.toISOString(),
        },
      },
    });
    return {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(request))),
      description: `Up to ${maxListed} pending requests to join a group, the oldest first. For managers of the group.`,
      args: { groupId: id('Id of the group.') },
      resolve: (_source, { groupId }, context) => openRequests(askingOf(context), groupId as string),
    };
  },
};

/** Hand-written, because managers of a group decide about records that others made. */
export const groupJoinFields: readonly HandWrittenField[] = [
  joinGroup,
  openGroupJoinRequests,
  recordAct({
    module: group,
    name: 'acceptGroupJoinRequest',
    description: 'Accepts a request to join a group: the person joins it. For managers of the group.',
    about,
    act: (asking, requestId) => decideRequest(asking, requestId, 'accepted'),
  }),
  recordAct({
    module: group,
    name: 'declineGroupJoinRequest',
    description: 'Declines a request to join a group. For managers of the group.',
    about,
    act: (asking, requestId) => decideRequest(asking, requestId, 'declined'),
  }),
  recordAct({
    module: groupJoinRequest,
    name: 'withdrawGroupJoinRequest',
    description: 'Withdraws one’s own request to join a group.',
    about,
    act: withdrawRequest,
  }),
];
