import { Type } from 'typebox';
import { groupJoinRequest, maxMessageLength } from '#entities/groups/group-join-request.ts';
import { group } from '#entities/groups/group.ts';
import { idSchema as id, MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { decideRequest, joinGroup, maxListed, openRequests, withdrawRequest } from '../../people/join-group.ts';
import { recordNames } from '../records/record-names.ts';

const groups = recordNames(group);
const requests = recordNames(groupJoinRequest);
const { tag } = requests;
const ofGroup = Type.Object({ id: id('Id of the group.') });
const ofRequest = Type.Object({ id: id('Id of the request.') });
const { message } = groupJoinRequest.fields;

const people = { tag, access: 'required', acceptsSingleSignOn: true } as const;

const answers = {
  accept: {
    status: 'accepted',
    operationId: 'acceptGroupJoinRequest',
    summary: 'Accept a request to join a group',
    description: 'The person joins the group. For managers of the group.',
    message: 'The person has joined the group.',
  },
  decline: {
    status: 'declined',
    operationId: 'declineGroupJoinRequest',
    summary: 'Decline a request to join a group',
    description: 'The person is notified, and can ask again. For managers of the group.',
    message: 'The request is declined.',
  },
} as const;

/** Groups are left with DELETE /v1/group-memberships/{id}. */
export const groupJoinRoutes: readonly Route[] = [
  defineRoute({
    ...people,
    method: 'POST',
    url: `${groups.path}/:id/join`,
    operationId: 'joinGroup',
    summary: 'Join a group, or ask to join it',
    description:
      'Makes the caller a member of a group whose join_policy is open. If join_policy is apply, makes a request that managers of the group accept or decline; a person has one open request for each group. Other groups are joined by invitation.',
    params: ofGroup,
    body: Type.Object(
      {
        message: Type.Optional(Type.String({ maxLength: maxMessageLength, description: message.description })),
      },
      { additionalProperties: false },
    ),
    answers: {
      200: Type.Object({
        status: Type.Enum(['joined', 'requested'], {
          description: 'Whether the caller has joined or has sent a request.',
        }),
        request_id: Type.Unsafe<string | null>({
          type: ['string', 'null'],
          description: 'Id of the request; null for a caller who has joined.',
        }),
      }),
    },
    errors: ['not_found', 'permission_denied', 'already_exists'],
    handle: async (call) => {
      const { status, requestId } = await joinGroup(call, call.params['id'] ?? '', call.body.message ?? null);
      return { status: 200, body: { status, request_id: requestId } };
    },
  }),
  defineRoute({
    ...people,
    method: 'GET',
    url: `${groups.path}/:id/join-requests`,
    operationId: 'listOpenGroupJoinRequests',
    summary: 'List open requests to join a group',
    description: `Up to ${maxListed} pending requests, the oldest first. For managers of the group.`,
    params: ofGroup,
    answers: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            id: id('Id of the request.'),
            user_id: id('Person who wants to join.'),
            message: Type.Unsafe<string | null>({ type: ['string', 'null'], description: message.description }),
            created_at: Type.String({ format: 'date-time', description: 'When the person asked.' }),
          }),
        ),
      }),
    },
    errors: ['not_found', 'permission_denied'],
    handle: async (call) => {
      const found = await openRequests(call, call.params['id'] ?? '');
      const data = found.map((one) => ({
        id: one.id,
        user_id: one.userId,
        message: one.message,
        created_at: one.createdAt.toISOString(),
      }));
      return { status: 200, body: { data } };
    },
  }),
  ...Object.entries(answers).map(([verb, { status, message: text, ...texts }]) =>
    defineRoute({
      ...people,
      ...texts,
      method: 'POST',
      url: `${requests.path}/:id/${verb}`,
      params: ofRequest,
      answers: { 200: MessageSchema },
      errors: ['not_found', 'permission_denied', 'rule_violated'],
      handle: async (call) => {
        await decideRequest(call, call.params['id'] ?? '', status);
        return { status: 200, body: { message: text } };
      },
    }),
  ),
  defineRoute({
    ...people,
    method: 'POST',
    url: `${requests.path}/:id/withdraw`,
    operationId: 'withdrawGroupJoinRequest',
    summary: 'Withdraw a request to join a group',
    description: 'For the person who asked, who can ask again.',
    params: ofRequest,
    answers: { 200: MessageSchema },
    errors: ['not_found', 'permission_denied', 'rule_violated'],
    handle: async (call) => {
      await withdrawRequest(call, call.params['id'] ?? '');
      return { status: 200, body: { message: 'The request is withdrawn.' } };
    },
  }),
];
