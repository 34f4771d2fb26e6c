import { on } from '#entities/kit/model/events.ts';
import { supportConsent } from '#entities/organizations/support-consent.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';

/** Notifies the owners that one of them has opened the organization to support; nobody once that was taken back. */
export const supportConsentGivenMail = defineMail('support-consent-given', {
  listener: 'mail-support-consent',
  follows: [on(supportConsent, 'created')],
  audience: peopleInCharge,
  about: supportConsent,
  values: async ({ record, instant }) => ({ until: await instant(record.expiresAt) }),
  text: ({ until }) => ({
    subject: 'Your organization is open to support',
    paragraphs: [
      `An owner has allowed our support to access your organization until ${until}. Each access is announced, and recorded with its reason.`,
      'If you did not expect this, delete the consent. This ends all access immediately.',
    ],
  }),
  sample: { until: sample.until },
});
