import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { groupMembership } from '#entities/groups/group-membership.ts';
import { group } from '#entities/groups/group.ts';
import type { RowOf } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import type { Asking } from '../../credentials/asking.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { isGroupManager, lockedPendingRequest, requireGroupManager } from '../../people/join-requests.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const acceptGroupJoinRequest = decision('accepted', {
  name: 'acceptGroupJoinRequest',
  url: '/v1/group-join-requests/:id/accept',
  summary: 'Accept a request to join a group',
  description: 'The person joins the group. For managers of the group.',
  result: 'The person has joined the group.',
});

export const declineGroupJoinRequest = decision('declined', {
  name: 'declineGroupJoinRequest',
  url: '/v1/group-join-requests/:id/decline',
  summary: 'Decline a request to join a group',
  description: 'The person is notified, and can ask again. For managers of the group.',
  result: 'The request is declined.',
});

interface DecisionTexts {
  readonly name: string;
  readonly url: string;
  readonly summary: string;
  readonly description: string;
  readonly result: string;
}

function decision(status: 'accepted' | 'declined', { result, ...texts }: DecisionTexts) {
  return defineAction({
    ...texts,
    tag: 'Group join requests',
    acceptsSingleSignOn: true,
    input: { id: idSchema('Id of the request.') },
    answer: { group: selectableRecord(group), message },
    errors: ['not_found', 'permission_denied', 'rule_violated'],
    run: async (asking, { id }) => ({ group: (await decideRequest(asking, id, status)).id, message: result }),
  });
}

/** The caller's own rights decide at this moment, and whether the person is still a member of the organization. */
async function decideRequest(
  asking: Asking,
  id: string,
  status: 'accepted' | 'declined',
): Promise<RowOf<typeof group>> {
  const { unit } = asking;
  const { userId: deciderId } = signedInPerson(asking);
  const data = unit.data.privileged('decide join request');
  const found = await data.findOne(groupJoinRequest, { id: { eq: existingId(groupJoinRequest, id) } });
  const held = found && (await unit.data.findLocked(group, found.groupId));
  if (!found || !held) throw missingRecord(groupJoinRequest, id);
  const isSeen = (await unit.data.findOne(groupJoinRequest, { id: { eq: found.id } })) !== undefined;
  if (!isSeen && !(await isGroupManager(asking, held))) throw missingRecord(groupJoinRequest, id);
  await requireGroupManager(asking, held);
  const { userId } = await lockedPendingRequest(asking, found.id);
  const isMember = { groupId: { eq: held.id }, userId: { eq: userId } };
  if (status === 'accepted' && !(await data.findOne(groupMembership, isMember)))
    await unit.data.create(groupMembership, { groupId: held.id, userId });
  await data.update(groupJoinRequest, found.id, { status, deciderId });
  unit.emit(customEvent(group, 'join_decided', held, { requestId: found.id, userId, status }));
  return held;
}
