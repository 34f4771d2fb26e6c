import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const accountReactivatedMail = defineMail('account-reactivated', {
  follows: [on(user, 'reactivated')],
  audience: personOfRecord,
  text: {
    subject: 'Your account is active again',
    paragraphs: [
      'Your account was reactivated with the link that we sent you. If this was not you, set a new password immediately with “Forgot password”.',
    ],
  },
});
