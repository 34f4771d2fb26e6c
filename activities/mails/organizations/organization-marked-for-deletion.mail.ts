import { organization } from '#entities/organizations/organization.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';
import { sampleWithDay, withDay } from './deletion-notice.ts';

/** The list in the app; `organization-deletion-notice` is the mail. */
export const organizationMarkedForDeletion = defineNotification(organization, 'marked_for_deletion', {
  listener: 'notify-marked-organization',
  description: 'the people who manage an organization, and owners of those below it: it was marked for deletion',
  audience: peopleOfPayload,
  tellsActor: true,
  text: {
    title: 'An organization will be deleted',
    body: ['{{name}} will be deleted on {{day}} or later.'],
    many: '{{count}} organizations will be deleted',
  },
  values: withDay,
  sample: sampleWithDay,
  link: () => '/',
  unsubscribesFrom: 'organizations that will be deleted',
  channels: [],
});
