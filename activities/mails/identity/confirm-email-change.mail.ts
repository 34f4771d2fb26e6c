import { emailChange } from '#entities/identity/email-change.ts';
import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/**
 * The link to an address that somebody wants, unless an account has it. The request does not decide whether it is sent, so that its
 * duration does not reveal who has an account.
 */
export const confirmEmailChangeMail = defineMail('confirm-email-change', {
  listener: 'mail-email-change',
  follows: [on(emailChange, 'requested')],
  audience: async ({ event, unit }) => {
    const { id, newEmail, sentAt } = await unit.data.get(emailChange, event.entityId);
    if (sentAt === null || newEmail === null) return [];
    const taken = await unit.data.findOne(user, { email: { eq: newEmail } });
    return taken ? [] : [{ about: { id, round: 1 } }];
  },
  about: emailChange,
  to: ({ newEmail }) => newEmail,
  values: async ({ record: { usedAt, expiresAt, userId }, unit, link, instant }) =>
    usedAt || expiresAt <= unit.clock.now()
      ? undefined
      : { url: link('/v1/account/email/confirm', 'email-change'), until: await instant(expiresAt, { userId }) },
  text: ({ url, until }) => ({
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Somebody wants to use this address for an account. If this was not you, ignore this e-mail.',
      `To confirm, enter the password of the account. The link works once, until ${until}. Confirming signs out all other devices.`,
    ],
    action: { text: 'Confirm the address', url },
  }),
  sample: { url: sample.url, until: sample.until },
});
