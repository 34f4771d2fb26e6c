import { externalIdentity } from '#entities/identity/external-identity.ts';
import { on } from '#entities/kit/model/events.ts';
import { personOfPayload } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

export const identityUnlinkedMail = defineMail('identity-unlinked', {
  follows: [on(externalIdentity, 'unlinked')],
  audience: personOfPayload,
  text: {
    subject: 'An identity was unlinked from your account',
    paragraphs: [
      'The identity can no longer be used to sign in to your account.',
      'If this was not you, sign out all devices and change your password.',
    ],
  },
});
