import { Type } from 'typebox';
import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { group } from '#entities/groups/group.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { requireGroupManager } from '../../people/join-requests.ts';
import { instant, listOf, orNull } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

/** Requests that are listed at once; the oldest come first, and others follow when these are answered. */
const maxListed = 100;

export const openGroupJoinRequests = defineAction({
  name: 'openGroupJoinRequests',
  operationId: 'listOpenGroupJoinRequests',
  method: 'GET',
  url: '/v1/groups/:id/join-requests',
  tag: 'Group join requests',
  summary: 'List open requests to join a group',
  description: `Up to ${maxListed} pending requests to join a group, the oldest first. For managers of the group.`,
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the group.') },
  answer: listOf(
    Type.Object(
      {
        id: idSchema('Id of the request.'),
        userId: idSchema('Person who wants to join.'),
        message: orNull(Type.String({ description: groupJoinRequest.fields.message.description })),
        createdAt: instant('When the person asked.'),
      },
      { title: 'OpenGroupJoinRequest', description: 'Pending request to join a group.' },
    ),
  ),
  errors: ['not_found', 'permission_denied'],
  run: async (asking, { id }) => {
    const { unit } = asking;
    const held = await unit.data.get(group, existingId(group, id));
    await requireGroupManager(asking, held);
    return unit.data.privileged('list join requests').find(groupJoinRequest, {
      where: { groupId: { eq: held.id }, status: { eq: 'pending' } },
      orderBy: [{ field: 'createdAt', direction: 'asc' }],
      limit: maxListed,
    });
  },
});
