import { delegation } from '#entities/identity/delegation.ts';
import { on } from '#entities/kit/model/events.ts';
import { aboutRecord } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { delegationPeriod } from '../delegation-period.ts';

/** Notifies the member as whom somebody acts, without the reason: who acts chooses its text. */
export const impersonationBegunMail = defineMail('impersonation-begun', {
  listener: 'mail-delegation',
  follows: [on(delegation, 'begun')],
  condition: ({ event }) => event.payload.type !== 'support',
  audience: (occasion) => [aboutRecord(occasion, occasion.event.payload.subjectId)],
  about: delegation,
  values: async ({ record, instant }) => ({
    actor: record.actorEmail,
    period: await delegationPeriod(record, 'there as you', instant),
  }),
  text: ({ actor, period }) => ({
    subject: 'Somebody acts as you',
    paragraphs: [
      `${actor}, who manages an organization of which you are a member, ${period}.`,
      'They can access neither your account nor other organizations, and the history of each change names them. If you did not expect this, contact an owner of the organization.',
    ],
  }),
  sample: { actor: sample.person, period: `acts there as you until ${sample.until} at the latest` },
});
