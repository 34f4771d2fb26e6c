import { groupJoinRequest } from '#entities/groups/group-join-request.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { existingId } from '#entities/kit/model/missing-record.ts';
import { signedInPerson } from '../../credentials/signed-in-person.ts';
import { idSchema } from '../../http/request-schemas.ts';
import { lockedPendingRequest } from '../../people/join-requests.ts';
import { message, selectableRecord } from '../kit/action-parts.ts';
import { defineAction } from '../kit/define-action.ts';

export const withdrawGroupJoinRequest = defineAction({
  name: 'withdrawGroupJoinRequest',
  url: '/v1/group-join-requests/:id/withdraw',
  tag: 'Group join requests',
  summary: 'Withdraw a request to join a group',
  description: 'For the person who asked, who can ask again.',
  acceptsSingleSignOn: true,
  input: { id: idSchema('Id of the request.') },
  answer: { groupJoinRequest: selectableRecord(groupJoinRequest), message },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  run: async (asking, { id }) => {
    const { unit } = asking;
    const { userId } = signedInPerson(asking);
    const found = await unit.data.get(groupJoinRequest, existingId(groupJoinRequest, id));
    if (found.userId !== userId)
      throw new AppError('permission_denied', 'Only the person who asked can withdraw a request; decline it instead.');
    await lockedPendingRequest(asking, found.id);
    await unit.data.privileged('withdraw join request').update(groupJoinRequest, found.id, { status: 'withdrawn' });
    return { groupJoinRequest: found.id, message: 'The request is withdrawn.' };
  },
});
