import { reactivationEnd, user } from '#entities/identity/user.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/** The version of the user record at the deactivation is the round of the link. Attempts to use the account send it again. */
export const accountDeactivatedMail = defineMail('account-deactivated', {
  follows: [on(user, 'deactivated')],
  audience: ({ event: { entityId: id, recordVersion: round } }) => [{ userId: id, about: { id, round } }],
  about: user,
  values: async ({ record, input, unit, link, instant }) => {
    // Changed since: this link would not work.
    if (record.status !== 'deactivated' || record.recordVersion !== input.about?.round) return undefined;
    const until = reactivationEnd(record);
    if (until <= unit.clock.now()) return undefined;
    return { url: link('/v1/account/reactivate', 'reactivation'), until: await instant(until) };
  },
  text: ({ url, until }) => ({
    subject: 'Your account is deactivated',
    paragraphs: [
      'Your account is deactivated, and all devices are signed out. Nothing is deleted.',
      `To use it again, open the link before ${until} and enter your password.`,
    ],
    action: { text: 'Reactivate the account', url },
  }),
  sample: { url: sample.url, until: sample.until },
});
