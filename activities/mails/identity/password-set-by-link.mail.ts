import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const passwordSetByLinkMail = defineMail('password-set-by-link', {
  listener: 'mail-password-changed',
  follows: [on(user, 'password_changed')],
  condition: ({ event }) => event.payload.isReset,
  audience: personOfRecord,
  text: {
    subject: 'Your password was changed',
    paragraphs: [
      'A new password was set for your account with a link that was e-mailed to you. All devices are signed out.',
      'Passkeys, linked identities and personal tokens of the account were removed, because somebody else may have added them. Sign in, then set up again those that you use. Your second factor has not changed.',
      'If this was not you, set a new password immediately with “Forgot password”, and check who can read your e-mail.',
    ],
  },
});
