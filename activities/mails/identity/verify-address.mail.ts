import { emailVerification } from '#entities/identity/email-verification.ts';
import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/**
 * The link of a sign-up, to an address without an account. The request does not decide whether it is sent, so that its duration does not
 * reveal who has an account.
 */
export const verifyAddressMail = defineMail('verify-address', {
  listener: 'mail-verification',
  follows: [on(emailVerification, 'requested')],
  audience: async ({ event, unit }) => {
    const { id, email, sentAt } = await unit.data.get(emailVerification, event.entityId);
    const account = await unit.data.findOne(user, { email: { eq: email } });
    if (sentAt === null || account?.emailConfirmedAt || account?.status === 'deactivated') return [];
    return [{ about: { id, round: event.payload.round } }];
  },
  about: emailVerification,
  to: ({ email }) => email,
  // The address was confirmed meanwhile: this link would not work.
  values: ({ record: { usedAt, round }, link }) =>
    usedAt ? undefined : { url: link('/v1/verify', 'email-verification', round) },
  text: ({ url }) => ({
    subject: 'Confirm your e-mail address',
    paragraphs: [
      'Somebody signed up with this address. If this was not you, ignore this e-mail.',
      'To confirm, enter the password of that sign-up, or set a new one. If you received several of these e-mails, each belongs to a separate sign-up.',
      'The link works for seven days.',
    ],
    action: { text: 'Confirm the address', url },
  }),
  sample: { url: sample.url },
});
