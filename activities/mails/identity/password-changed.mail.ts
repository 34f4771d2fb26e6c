import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const passwordChangedMail = defineMail('password-changed', {
  follows: [on(user, 'password_changed')],
  condition: ({ event }) => !event.payload.isReset,
  audience: personOfRecord,
  text: {
    subject: 'Your password was changed',
    paragraphs: [
      'The password of your account was changed. If this was not you, set a new password immediately with “Forgot password”, and check who can read your e-mail.',
    ],
  },
});
