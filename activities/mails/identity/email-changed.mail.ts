import { emailChange } from '#entities/identity/email-change.ts';
import { on } from '#entities/kit/model/events.ts';
import { addressOfRecord } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';

/** It goes to the former address. */
export const emailChangedMail = defineMail('email-changed', {
  follows: [on(emailChange, 'confirmed')],
  audience: addressOfRecord,
  about: emailChange,
  to: ({ email }) => email,
  values: ({ record: { newEmail } }) => ({ newEmail: newEmail ?? '' }),
  text: ({ newEmail }) => ({
    subject: 'The e-mail address of your account was changed',
    paragraphs: [
      `Your account now has the address ${newEmail}; sign in with it. Links that were sent to this address no longer work.`,
      'If this was not you, contact our support immediately.',
    ],
  }),
  sample: { newEmail: sample.person },
});
