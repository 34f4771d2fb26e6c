import { session } from '#entities/identity/session.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const sessionCopiedMail = defineMail('session-copied', {
  listener: 'mail-copied-session',
  follows: [on(session, 'refresh_token_reused')],
  audience: personOfPayload,
  text: {
    subject: 'One of your sessions was ended',
    paragraphs: [
      'A token of one of your sessions was used twice, so it may have been copied. The device of the session is signed out. Sign in there again.',
      'If you did not expect this, change your password, and check on which devices you are signed in.',
    ],
  },
});
