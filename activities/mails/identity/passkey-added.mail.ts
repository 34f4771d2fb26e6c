import { passkey } from '#entities/identity/passkey.ts';
import { on } from '#entities/kit/model/events.ts';
import { actor } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const passkeyAddedMail = defineMail('passkey-added', {
  follows: [on(passkey, 'created')],
  audience: actor,
  text: {
    subject: 'A passkey was added to your account',
    paragraphs: [
      'The new passkey can now be used to sign in to your account.',
      'If this was not you, sign in, delete the passkey, sign out all other devices, and change your password.',
    ],
  },
});
