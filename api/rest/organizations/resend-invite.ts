import { Type } from 'typebox';
import { maxResends } from '#entities/organizations/invite.ts';
import { MessageSchema, idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { resendInvite as resend, withdrawInvite as withdraw } from '../../people/open-invites.ts';

const params = Type.Object({ id: idSchema('Id of the invitation.') });

export const resendInvite = defineRoute({
  method: 'POST',
  url: '/v1/invites/:id/resend',
  operationId: 'resendInvite',
  tag: 'Invites',
  summary: 'Send an invitation again',
  description: `Sends a new link, which works for 14 days; older links stop working. An invitation can be sent again ${maxResends} times, also after it has expired.`,
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  params,
  answers: { 202: MessageSchema },
  errors: ['not_found', 'permission_denied', 'already_exists', 'limit_exceeded', 'rule_violated'],
  handle: async (call) => {
    const { recipient } = await resend(call, call.params['id'] ?? '');
    return { status: 202, body: { message: `The invitation is sent to ${recipient} again.` } };
  },
});

export const withdrawInvite = defineRoute({
  method: 'POST',
  url: '/v1/invites/:id/withdraw',
  operationId: 'withdrawInvite',
  tag: 'Invites',
  summary: 'Withdraw an invitation',
  description: 'Its links stop working, and the address can be invited again.',
  access: 'required',
  acceptsTokens: true,
  acceptsSingleSignOn: true,
  params,
  answers: { 200: MessageSchema },
  errors: ['not_found', 'permission_denied', 'rule_violated'],
  handle: async (call) => {
    const { recipient } = await withdraw(call, call.params['id'] ?? '');
    return { status: 200, body: { message: `The invitation of ${recipient} is withdrawn.` } };
  },
});
