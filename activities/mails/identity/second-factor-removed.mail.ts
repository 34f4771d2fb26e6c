import { secondFactor } from '#entities/identity/second-factor.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const secondFactorRemovedMail = defineMail('second-factor-removed', {
  listener: 'mail-second-factor',
  follows: [on(secondFactor, 'removed')],
  audience: personOfPayload,
  text: {
    subject: 'The second factor of your account was removed',
    paragraphs: [
      'The authenticator app was removed from your account. Sign-ins no longer ask for a code.',
      'If this was not you, change your password immediately, and set up an authenticator app again.',
    ],
  },
});
