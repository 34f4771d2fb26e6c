import { localInstant } from '#entities/kit/base/localized.ts';
import { organization } from '#entities/organizations/organization.ts';
import { peopleOfPayload } from '../audience.ts';
import { defineNotification } from '../define-notification.ts';

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
  values:
    ({ record, event: { payload } }) =>
    (locale) => ({ name: record.displayName ?? record.name, day: localInstant(new Date(payload.notBefore), locale) }),
  sample: { name: 'Example Compliance', day: 'June 1, 2026 at 12:00 PM UTC' },
  link: () => '/',
  unsubscribesFrom: 'organizations that will be deleted soon',
  channels: [],
});
