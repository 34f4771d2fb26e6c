import { on } from '#entities/kit/model/events.ts';
import { organizationRemoval } from '#entities/organizations/organization-removal.ts';
import { aboutRecord } from '../audience.ts';
import { defineMail, sample } from '../define-mail.ts';
import { shownName } from '../shown-name.ts';

/** To the person who has deleted an organization, when its contents are removed. */
export const contentsRemovedMail = defineMail('contents-removed', {
  follows: [on(organizationRemoval, 'completed')],
  audience: async (occasion) => {
    const { event, unit } = occasion;
    const removal = await unit.data.findOne(organizationRemoval, { id: { eq: event.entityId } });
    return removal?.requesterId ? [aboutRecord(occasion, removal.requesterId)] : [];
  },
  priority: 3,
  about: organizationRemoval,
  values: ({ record }) => ({
    name: shownName(record.organizationName) ?? 'your organization',
    records: record.removedRecords,
  }),
  text: ({ name, records }) => ({
    subject: 'The contents of an organization are removed',
    paragraphs: [
      `You have deleted ${name}. Its contents are removed now: ${records} records, with their files, memberships and credentials.`,
      'If this is a mistake, reply to our support within a week of the deletion.',
    ],
  }),
  sample: { name: sample.organization, records: 1_204 },
});
