import { Type } from 'typebox';
import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { isPauseOver, requestVerification } from './request-verification.ts';
import { EmailSchema, MessageSchema } from '../../http/request-schemas.ts';
import { defineRoute } from '../../http/route.ts';

export const resend = defineRoute({
  method: 'POST',
  url: '/v1/resend',
  tag: 'Account',
  summary: 'Send a new confirmation link',
  description:
    'Sends a new link by e-mail if the address is not confirmed yet, at most once a minute. Older links stop working. The response is always the same.',
  access: 'public',
  body: Type.Object({ email: EmailSchema }, { additionalProperties: false }),
  answers: { 202: MessageSchema },
  errors: ['invalid_input'],
  handle: async (call) => {
    const email = call.body.email.toLowerCase();
    await lockEmail(call.unit, email);
    const data = call.unit.data.privileged('resend verification');
    const person = await data.findOne(user, { email: { eq: email } });
    if (person && !person.emailConfirmedAt) {
      const held = await data.findOne(emailVerification, { userId: { eq: person.id } });
      if (!held || isPauseOver(held, call.services.clock.now())) await requestVerification(call, data, person, held);
    }
    return { status: 202, body: { message: `If ${email} is not confirmed yet, an e-mail has been sent to it.` } };
  },
});
