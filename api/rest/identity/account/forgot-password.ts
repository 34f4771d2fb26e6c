import { Type } from 'typebox';
import { passwordReset } from '#entities/identity/password-reset.ts';
import { emailForm } from '#entities/kit/base/email-address.ts';
import { lockEmail } from '#entities/kit/access/email-lock.ts';
import { customEvent } from '#entities/kit/write/custom-events.ts';
import { EmailSchema, MessageSchema } from '../../../http/request-schemas.ts';
import { defineRoute } from '../../../http/route.ts';
import { countMailRequest, minIntervalMs } from './mail-limits.ts';

/** Lifetime of a link, in milliseconds. */
const linkLifetimeMs = 15 * 60_000;

/** Does the same work for every address: a record is made even if there is nothing to send. */
export const forgotPassword = defineRoute({
  method: 'POST',
  url: '/v1/forgot-password',
  operationId: 'requestPasswordReset',
  tag: 'Account',
  summary: 'Ask for a link to set a new password',
  description:
    'Sends a link by e-mail if the address has a confirmed account, at most once a minute. The link works for 15 minutes. The address of a deactivated account gets the link that reactivates it instead. The response is always the same.',
  access: 'public',
  limitClass: 'mail',
  body: Type.Object({ email: EmailSchema }, { additionalProperties: false }),
  answers: { 202: MessageSchema },
  errors: ['invalid_input', 'too_many_requests'],
  handle: async (call) => {
    const { body, unit, services } = call;
    const email = emailForm(body.email);
    const now = services.clock.now();
    await countMailRequest(call, 'forgot-password');
    await lockEmail(unit, email);
    const data = unit.data.privileged('forgot password');
    const [last] = await data.find(passwordReset, {
      where: { email: { eq: email }, sentAt: { gt: new Date(now.getTime() - minIntervalMs) } },
      limit: 1,
    });
    const reset = await data.create(passwordReset, {
      email,
      sentAt: last ? null : now,
      expiresAt: new Date(now.getTime() + linkLifetimeMs),
    });
    unit.emit(customEvent(passwordReset, 'requested', reset, {}));
    return {
      status: 202,
      body: { message: `If ${email} has an account, an e-mail with a link has been sent to it.` },
    };
  },
});
