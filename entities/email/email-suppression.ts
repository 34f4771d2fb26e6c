import { defineEntityModule } from '../kit/model/define.ts';
import { payload } from '../kit/model/events.ts';
import { text } from '../kit/model/fields.ts';
import { managedRecord } from '../presets/managed-record.ts';
import { everyTopic, suppressedEmailOf, suppressionFields } from './suppression-fields.ts';

/** Checked at each attempt to send (activities/email/begin-attempt.ts). It ends with a stated reason (api/actions/email/release-suppression.ts). */
export const emailSuppression = defineEntityModule({
  kind: 'emailSuppression',
  table: 'email_suppressions',
  description:
    'Address to which no e-mails of the organization are sent. Managers see why, enter addresses, and release them with a reason.',
  fields: {
    ...suppressionFields({ isShown: true }),
    topic: text('E-mails that are not sent: one sort, for example invite, or * for all of the organization.', {
      max: 64,
      // A sort of e-mails, or the topic of a notification.
      pattern: /^(\*|[a-z][a-z-]*|[a-z_]+\.[a-z_]+)$/,
      default: everyTopic,
      immutable: true,
      exposed: 'read',
      lists: ['filter'],
    }),
  },
  unique: [
    {
      fields: ['organizationId', 'suppressedEmail', 'topic'],
      names: 'email',
      message: 'This address gets no e-mails already.',
    },
  ],
  tenancy: 'organization',
  policy: managedRecord(),
  mutate: ['create'],
  events: ['created'],
  customEvents: {
    released: { description: 'A suppressed address was released.', payload: payload({}) },
  },
  hooks: { derivedValues: suppressedEmailOf },
});
