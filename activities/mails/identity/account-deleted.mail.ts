import { emailChange } from '#entities/identity/email-change.ts';
import { on } from '#entities/kit/model/events.ts';
import { addressOfRecord } from '../audience.ts';
import { defineMail } from '../define-mail.ts';

/** The account is gone; the record of the change has its address. */
export const accountDeletedMail = defineMail('account-deleted', {
  follows: [on(emailChange, 'account_deleted')],
  audience: addressOfRecord,
  about: emailChange,
  to: ({ email }) => email,
  text: {
    subject: 'Your account was deleted',
    paragraphs: [
      'Your account was deleted, together with the organizations of which you were the only member. All devices are signed out.',
      'You can sign up again with this address. If this was not you, contact our support immediately.',
    ],
  },
});
