import { Type } from 'typebox';
import { maxSendAttempts } from '#entities/organizations/subscriber.ts';
import { MessageSchema, idSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';
import { resendVerification } from '../../people/subscriber-verification.ts';

export const resendSubscriberVerification = defineRoute({
  method: 'POST',
  url: '/v1/subscribers/:id/resend',
  operationId: 'resendSubscriberVerification',
  tag: 'Subscribers',
  summary: 'Send the verification e-mail of a subscriber again',
  description: `Sends a new link, which works for 7 days; older links stop working. A subscriber is sent at most ${maxSendAttempts} verification e-mails.`,
  access: 'required',
  acceptsSingleSignOn: true,
  params: Type.Object({ id: idSchema('Id of the subscriber.') }),
  answers: { 202: MessageSchema },
  errors: ['not_found', 'permission_denied', 'limit_exceeded', 'rule_violated'],
  handle: async (call) => {
    const { email } = await resendVerification(call, call.params['id'] ?? '');
    return { status: 202, body: { message: `The verification e-mail is sent to ${email} again.` } };
  },
});
