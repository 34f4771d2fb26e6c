import { Type } from 'typebox';
import { groupJoinRequest, maxMessageLength } from '#entities/groups/group-join-request.ts';
import { groupMembership } from '#entities/groups/group-membership.ts';
import { groupSetting } from '#entities/groups/group-setting.ts';
import { group } from '#entities/groups/group.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { idOf, oneOf, orNull, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

const byInvitation = 'People join this group by invitation only. Ask one of its managers to add you.';
const isManaged = 'The group is managed by the server: its members follow their roles in the organization.';

/** Groups are left with DELETE /v1/group-memberships/{id}. */
export const joinGroup = defineAction({
  name: 'joinGroup',
  url: '/v1/groups/:id/join',
  tag: 'Group join requests',
  summary: 'Join a group, or ask to join it',
  description:
    'Makes the caller a member of a group whose `joinPolicy` is open. If `joinPolicy` is apply, makes a request that managers of the group accept or decline; a person has one open request for each group. Other groups are joined by invitation.',
  acceptsSingleSignOn: true,
  input: {
    id: idSchema('Id of the group.'),
    message: Type.Optional(
      Type.String({ maxLength: maxMessageLength, description: groupJoinRequest.fields.message.description }),
    ),
  },
  answer: {
    group: selectableRecord(group),
    status: oneOf(['joined', 'requested'], 'Whether the caller has joined or has sent a request.', {
      name: 'JoinGroupStatus',
      description: 'Result of a request to join a group.',
      values: { joined: 'The caller has joined.', requested: 'Managers of the group decide.' },
    }),
    requestId: orNull(idOf('Id of the request; null for a caller who has joined.')),
  },
  errors: ['not_found', 'permission_denied', 'already_exists'],
  run: async (asking, { id, message = null }) => {
    const { unit } = asking;
    const { userId } = signedInPerson(asking);
    const { id: groupId, organizationId } = await unit.data.get(group, existingId(group, id));
    const data = unit.data.privileged('join group');
    // A change of the settings or the deletion of the group comes before or after.
    const held = await data.findLocked(group, groupId);
    if (!held) throw missingRecord(group, id);
    if (held.managedAs !== null) throw new AppError('permission_denied', isManaged);
    if (await data.findOne(groupMembership, { groupId: { eq: groupId }, userId: { eq: userId } }))
      throw new AppError('already_exists', 'You are in this group already.');
    const settings = await data.findOne(groupSetting, { groupId: { eq: groupId } });
    if (settings?.joinPolicy === 'open') {
      await data.create(groupMembership, { organizationId, groupId, userId });
      return { group: groupId, status: 'joined' as const, requestId: null };
    }
    if (settings?.joinPolicy !== 'apply') throw new AppError('permission_denied', byInvitation);
    const { id: requestId } = await data.create(groupJoinRequest, { organizationId, groupId, userId, message });
    unit.emit(customEvent(group, 'join_requested', held, { requestId, userId }));
    return { group: groupId, status: 'requested' as const, requestId };
  },
});
