import { Type } from 'typebox';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { requestVerification } from './request-verification.ts';
import { EmailSchema, MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { countMailRequest } from './mail-limits.ts';

/** The greatest `round` of a verification. */
const maxRound = 1_000;

/** Does the same work for every address: a record is made even if there is nothing to send. */
export const resend = defineRoute({
  method: 'POST',
  url: '/v1/resend',
  operationId: 'resendVerification',
  tag: 'Account',
  summary: 'Send a new confirmation link',
  description:
    'Sends a new link for the latest sign-up by e-mail if the address is not confirmed yet, at most once a minute. Older links stay valid. The address of a deactivated account gets the link that reactivates it. The response is always the same.',
  access: 'public',
  limitClass: 'mail',
  body: Type.Object({ email: EmailSchema }, { additionalProperties: false }),
  answers: { 202: MessageSchema },
  errors: ['invalid_input', 'too_many_requests'],
  handle: async (call) => {
    const email = emailForm(call.body.email);
    await countMailRequest(call, 'resend');
    await lockEmail(call.unit, email);
    const data = call.unit.data.privileged('resend verification');
    const [signUp] = await data.find(emailVerification, {
      where: { email: { eq: email }, passwordHash: { isNull: false } },
      orderBy: [{ field: 'id', direction: 'desc' }],
      limit: 1,
    });
    const { passwordHash = null, firstName = null, lastName = null, round = 0 } = signUp ?? {};
    await requestVerification(call, data, {
      email,
      passwordHash,
      firstName,
      lastName,
      round: Math.min(round + 1, maxRound),
    });
    return {
      status: 202,
      body: { message: `If ${email} is not confirmed yet, an e-mail is sent to it, at most one a minute.` },
    };
  },
});
