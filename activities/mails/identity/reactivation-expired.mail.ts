import { user } from '#entities/identity/user.ts';
import { defineMail } from '../define-mail.ts';

/** Without a link: none works any more. */
export const reactivationExpiredMail = defineMail('reactivation-expired', {
  about: user,
  values: ({ record, input }) =>
    record.status === 'deactivated' && record.recordVersion === input.about?.round ? {} : undefined,
  text: {
    subject: 'Your account is deactivated',
    paragraphs: [
      'Somebody tried to sign in, to sign up or to set a new password with this address. If this was not you, ignore this e-mail.',
      'The account with this address was deactivated more than 90 days ago, so a link can no longer reactivate it. Nothing is deleted. To use the account again, contact our support.',
    ],
  },
});
