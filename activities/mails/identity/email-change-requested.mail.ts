import { emailChange } from '#entities/identity/email-change.ts';
import { on } from '#entities/kit/model/events.ts';
import { defineMail, sample } from '../define-mail.ts';

/** Notifies the present address, whether or not the other one gets a link. */
export const emailChangeRequestedMail = defineMail('email-change-requested', {
  listener: 'mail-email-change',
  follows: [on(emailChange, 'requested')],
  audience: async ({ event, unit, key }) => {
    const { id, newEmail, sentAt } = await unit.data.get(emailChange, event.entityId);
    return sentAt === null || newEmail === null ? [] : [{ key: `${key}/notice`, about: { id, round: 1 } }];
  },
  about: emailChange,
  to: ({ email }) => email,
  values: ({ record }) => ({ newEmail: record.newEmail ?? '' }),
  text: ({ newEmail }) => ({
    subject: 'A new e-mail address was requested for your account',
    paragraphs: [
      `Somebody who knows your password asked to change the e-mail address of your account to ${newEmail}. The address changes when the link that was sent there is confirmed.`,
      'If this was not you, change your password immediately. This signs out all other devices.',
    ],
  }),
  sample: { newEmail: sample.person },
});
