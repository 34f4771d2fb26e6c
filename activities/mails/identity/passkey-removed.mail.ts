import { passkey } from '#entities/identity/passkey.ts';
import { on } from '#entities/kit/model/events.ts';
import { actor } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

/**
 * The server also removes passkeys: those of a deleted account, which gets no mail, and those of an account whose password was set with a
 * mailed link, which gets one mail about everything.
 */
export const passkeyRemovedMail = defineMail('passkey-removed', {
  follows: [on(passkey, 'deleted')],
  audience: actor,
  text: {
    subject: 'A passkey was removed from your account',
    paragraphs: [
      'The removed passkey can no longer be used to sign in to your account.',
      'If this was not you, sign out all devices and change your password.',
    ],
  },
});
