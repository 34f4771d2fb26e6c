import { Type } from 'typebox';
import { invite } from '#entities/organizations/invite.ts';
import { MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { InviteTokenSchema, usableInvite } from './usable-invite.ts';

export const declineInvite = defineRoute({
  method: 'POST',
  url: '/v1/invite/decline',
  operationId: 'declineInvite',
  tag: 'Account',
  summary: 'Decline an invitation',
  description: 'For the holder of the token of the e-mailed link, signed in or not. The token stops working.',
  access: 'public',
  limitClass: 'flow',
  body: Type.Object({ token: InviteTokenSchema }, { additionalProperties: false }),
  answers: { 200: MessageSchema },
  errors: ['invalid_input', 'invalid_token', 'token_expired'],
  handle: async (call) => {
    const data = call.unit.data.privileged('decline invitation');
    const { invite: held, organization } = await usableInvite(call, data, call.body.token);
    await data.update(invite, held.id, { status: 'declined' });
    return { status: 200, body: { message: `The invitation to ${organization.name} is declined.` } };
  },
});
