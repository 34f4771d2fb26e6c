import { externalIdentity } from '#entities/identity/external-identity.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const identityLinkedMail = defineMail('identity-linked', {
  follows: [on(externalIdentity, 'linked')],
  audience: personOfPayload,
  text: {
    subject: 'An identity was linked to your account',
    paragraphs: [
      'Signing in with this identity at its provider now signs in to your account.',
      'If this was not you, sign in, unlink the identity, sign out all other devices, and change your password.',
    ],
  },
});
