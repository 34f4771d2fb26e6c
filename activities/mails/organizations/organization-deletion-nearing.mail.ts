import { organization } from '#entities/organizations/organization.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { sampleWithDay, withDay } from './deletion-notice.ts';

/** The list in the app; `organization-deletion-notice` is the mail. */
export const organizationDeletionNearing = defineNotification(organization, 'deletion_nearing', {
  listener: 'notify-nearing-deletion',
  description: 'the same people, three days and one day before the deletion',
  audience: peopleOfPayload,
  tellsActor: true,
  text: {
    title: 'An organization will be deleted soon',
    body: ['{{name}} will be deleted on {{day}} or later.'],
    many: '{{count}} organizations will be deleted soon',
  },
  values: withDay,
  sample: sampleWithDay,
  link: () => '/',
  unsubscribesFrom: 'organizations that will be deleted soon',
  channels: [],
});
