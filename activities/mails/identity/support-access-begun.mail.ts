import { delegation } from '#entities/identity/delegation.ts';
import { on } from '#entities/kit/model/events.ts';
import { peopleInCharge } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { delegationPeriod } from '../delegation-period.ts';

/** Notifies the owners of support access, without the reason: who acts chooses its text. */
export const supportAccessBegunMail = defineMail('support-access-begun', {
  listener: 'mail-delegation',
  follows: [on(delegation, 'begun')],
  condition: ({ event }) => event.payload.type === 'support',
  audience: peopleInCharge,
  about: delegation,
  values: async ({ record, instant }) => ({
    actor: record.actorEmail,
    period: await delegationPeriod(record, 'in your organization', instant),
  }),
  text: ({ actor, period }) => ({
    subject: 'Support has access to your organization',
    paragraphs: [
      `${actor} of our support ${period}. Your organization has given its consent.`,
      'The reason is in the list of delegations. To end the access immediately, delete the consent to support access.',
    ],
  }),
  sample: { actor: sample.person, period: `acts in your organization until ${sample.until} at the latest` },
});
