import { passwordReset } from '#entities/identity/password-reset.ts';
import { user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/**
 * The link to set a new password, to the owner of an account. The request does not decide whether it is sent, so that its duration does not
 * reveal who has an account.
 */
export const resetPasswordMail = defineMail('reset-password', {
  listener: 'mail-password-reset',
  follows: [on(passwordReset, 'requested')],
  audience: async ({ event, unit }) => {
    const { id, email, sentAt } = await unit.data.get(passwordReset, event.entityId);
    const account = await unit.data.findOne(user, { email: { eq: email } });
    if (sentAt === null || !account?.emailConfirmedAt || account.status !== 'active') return [];
    return [{ userId: account.id, about: { id, round: 1 } }];
  },
  about: passwordReset,
  values: async ({ record: { usedAt, expiresAt, email }, person, unit, link, instant }) => {
    if (usedAt || expiresAt <= unit.clock.now()) return undefined;
    // Meanwhile a password was set or the account changed: this link would not work.
    if (!person?.emailConfirmedAt || person.status !== 'active' || person.email !== email) return undefined;
    return { url: link('/v1/password-reset', 'password-reset'), until: await instant(expiresAt) };
  },
  text: ({ url, until }) => ({
    subject: 'Set a new password',
    paragraphs: [
      'Somebody requested a link to set a new password for your account. If this was not you, ignore this e-mail: your password does not change.',
      `The link works once, until ${until}. A new password signs out all devices.`,
    ],
    action: { text: 'Set a new password', url },
  }),
  sample: { url: sample.url, until: sample.until },
});
